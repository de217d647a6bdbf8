// SPDX-License-Identifier: GPL-2.0-only
/*
 * Firmware text for the kernel log: no terminal sequences, no control character,
 * no byte above 0x7e as it came. Which sequences there are and where they end is
 * as for the host tool (firmware-log sheet, section 8, inputs 14 to 19); here
 * all that is not ASCII is escaped, for the log's readers agree on nothing else.
 */
#include <linux/kernel.h>
#include <linux/string.h>

#include "tlog_core.h"

#define ESC 0x1b
#define CSI 0x9b

/* Up to the first NUL, which hostile firmware need not send. */
size_t tlog_text_size(const u8 *text, size_t size)
{
	const u8 *end = memchr(text, 0, size);

	return end ? end - text : size;
}

/* Bytes of the UTF-8 character at text, 0 if there is none. */
static size_t utf8_size(const u8 *text, size_t left)
{
	static const u32 least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n, i;
	u32 value;

	if (text[0] >= 0xc2 && text[0] <= 0xdf)
		n = 2;
	else if ((text[0] & 0xf0) == 0xe0)
		n = 3;
	else if (text[0] >= 0xf0 && text[0] <= 0xf4)
		n = 4;
	else
		return 0;
	if (n > left)
		return 0;
	value = text[0] & (0x7f >> n);
	for (i = 1; i < n; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (text[i] & 0x3f);
	}
	if (value < least[n] || value > 0x10ffff ||
	    (value >= 0xd800 && value <= 0xdfff))
		return 0;
	return n;
}

/* Past a CSI whose introducer ends before i: ends before a byte that cannot belong to it. */
static size_t skip_csi(const u8 *text, size_t i, size_t size)
{
	while (i < size && text[i] >= 0x20 && text[i] <= 0x3f)
		i++;
	if (i < size && text[i] >= 0x40 && text[i] <= 0x7e)
		i++;
	return i;
}

/* Past an OSC, DCS, SOS, PM or APC string. */
static size_t skip_string(const u8 *text, size_t i, size_t size)
{
	for (; i < size; i++) {
		if (text[i] == 0x07)
			return i + 1;
		if (text[i] == ESC && i + 1 < size && text[i + 1] == '\\')
			return i + 2;
	}
	return size;
}

/* Past the sequence whose ESC is at i; i when there is none. A lone final ESC is one. */
static size_t skip_escape(const u8 *text, size_t i, size_t size)
{
	size_t at = i + 1;

	if (at == size)
		return size;
	switch (text[at]) {
	case '[':
		return skip_csi(text, at + 1, size);
	case ']':
	case 'P':
	case 'X':
	case '^':
	case '_':
		return skip_string(text, at + 1, size);
	}
	while (at < size && text[at] >= 0x20 && text[at] <= 0x2f)
		at++;
	return at < size && text[at] >= 0x30 && text[at] <= 0x7e ? at + 1 : i;
}

/* Past all sequences at i, where a character begins. */
static size_t skip_sequences(const u8 *text, size_t i, size_t size)
{
	size_t end;

	for (; i < size; i = end) {
		if (text[i] == ESC)
			end = skip_escape(text, i, size);
		else if (text[i] == CSI)
			end = skip_csi(text, i + 1, size);
		else
			break;
		if (end == i)
			break;
	}
	return i;
}

/* Nothing but this CR LF is left, sequences in it and behind it apart. */
static bool is_final_line_end(const u8 *text, size_t i, size_t size)
{
	if (text[i] != '\r')
		return false;
	i = skip_sequences(text, i + 1, size);
	return i < size && text[i] == '\n' &&
	       skip_sequences(text, i + 1, size) == size;
}

static size_t put(char *out, size_t room, size_t at, u8 byte)
{
	static const char digits[] = "0123456789abcdef";
	char text[4] = { '\\', 'x', digits[byte >> 4], digits[byte & 15] };
	size_t n = 4;

	if ((byte >= 0x20 && byte <= 0x7e) || byte == '\t') {
		text[0] = byte;
		n = 1;
	} else if (byte == '\r' || byte == '\n') {
		text[1] = byte == '\r' ? 'r' : 'n';
		n = 2;
	}
	if (n >= room - at)
		return room;
	memcpy(out + at, text, n);
	return at + n;
}

/*
 * text[0..size) to a NUL-terminated line of at most room - 1 characters; cut at
 * a whole character. Returns its length.
 */
size_t tlog_text_clean(char *out, size_t room, const u8 *text, size_t size)
{
	size_t i = skip_sequences(text, 0, size), at = 0;

	while (i < size && !is_final_line_end(text, i, size)) {
		size_t n = utf8_size(text + i, size - i);

		for (n = n ? n : 1; n; n--, i++) {
			size_t to = put(out, room, at, text[i]);

			if (to == room)
				goto done;
			at = to;
		}
		i = skip_sequences(text, i, size);
	}
done:
	out[at] = '\0';
	return at;
}

const char *tlog_source_text(u8 source, char *room, size_t size)
{
	if (source == 0)
		return "SMC";
	if (source == 1)
		return "DMC";
	scnprintf(room, size, "src%u", source);
	return room;
}
