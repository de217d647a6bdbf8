/* SPDX-License-Identifier: Apache-2.0 */
/* corral.yml: what a whole file means, and every mistake answered with its line and what was expected. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session/config.h"

static struct config *parse(const char *path, const char *text, struct diag *d)
{
    return config_parse(path, text, strlen(text), d);
}

/* ---- what is right ---- */

static void test_a_whole_file(void **state)
{
    (void)state;
    char made[] = "corral-config-XXXXXX";
    int fd = mkstemp(made);
    assert_true(fd >= 0);
    char *elf = realpath(made, NULL); /* absolute: must be left as it is */
    assert_non_null(elf);
    char text[2048];
    snprintf(text, sizeof(text),
             "# comment\n"
             "link: sim:fw/a.elf,/abs/b.elf\n"
             "clock: 4000000\n"
             "sync: true\n"
             "channels: {halt: 2, restart: 3}\n"
             "logs:\n" /* before the cores it names: order does not matter */
             "  - {core: m4, symbol: tlog_buffer, staging: 512, timestamp_hz: 1000}\n"
             "  - {core: \"m7\", address: 0x20040000, size: 0x1000}\n"
             "cores:\n"
             "  - name: m7\n"
             "    ap: 0\n"
             "    elf: %s\n"
             "    hz: 100000000\n"
             "    cti: {address: 0xE0042000, restart_output: 7}\n"
             "  - name: m4\n"
             "    ap: 0x1\n"
             "profile:\n"
             "  listen: 127.0.0.1:51080\n"
             "  sources:\n"
             "    - {address: 10.0.0.2, core: m7}\n"
             "    - {address: 10.0.0.2:7000, core: m4}\n",
             elf);
    struct diag d = DIAG_INIT;
    struct config *c = parse("boards/corral.yml", text, &d);
    assert_string_equal(d.message, "");
    assert_non_null(c);
    assert_string_equal(c->link, "sim:boards/fw/a.elf,/abs/b.elf");
    assert_int_equal(c->clock_hz, 4000000);
    assert_true(c->sync_set && c->sync);
    assert_int_equal(c->halt_channel, 2);
    assert_int_equal(c->restart_channel, 3);
    assert_int_equal(c->core_count, 2);
    assert_string_equal(c->cores[0].name, "m7");
    assert_true(c->cores[0].ap_set && c->cores[0].cti_set);
    assert_string_equal(c->cores[0].elf, elf);
    assert_int_equal(c->cores[0].hz, 100000000);
    assert_int_equal(c->cores[0].cti_address, 0xE0042000);
    assert_int_equal(c->cores[0].cti_restart_output, 7);
    assert_int_equal(c->cores[1].ap, 1);
    assert_null(c->cores[1].elf);
    assert_int_equal(c->cores[1].cti_restart_output, -1);
    assert_int_equal(c->log_count, 2);
    assert_int_equal(c->logs[0].core, 1);
    assert_string_equal(c->logs[0].symbol, "tlog_buffer");
    assert_int_equal(c->logs[0].staging, 512);
    assert_int_equal(c->logs[1].core, 0);
    assert_null(c->logs[1].symbol);
    assert_int_equal(c->logs[1].address, 0x20040000);
    assert_int_equal(c->logs[1].size, 0x1000);
    assert_true(c->profile_set);
    assert_string_equal(c->listen, "127.0.0.1");
    assert_int_equal(c->listen_port, 51080);
    assert_int_equal(c->source_count, 2);
    assert_int_equal(c->sources[0].port, -1);
    assert_int_equal(c->sources[1].port, 7000);
    assert_int_equal(c->sources[1].core, 1);
    config_free(c);
    close(fd);
    unlink(elf);
    free(elf);
}

static void test_a_description_of_the_device(void **state)
{
    (void)state;
    struct diag d = DIAG_INIT;
    struct config *c = parse("corral.yml", "pack: /dev/null\ndevice: PART-1\n", &d);
    if (!c)
        fail_msg("%s", d.message);
    assert_string_equal(c->pack, "/dev/null");
    assert_string_equal(c->device, "PART-1");
    assert_null(c->cbuild_run);
    config_free(c);
    c = parse("corral.yml", "cbuild-run: /dev/null\n", &d);
    if (!c)
        fail_msg("%s", d.message);
    assert_string_equal(c->cbuild_run, "/dev/null");
    assert_null(c->pack);
    config_free(c);
}

static void test_what_discovery_is_told(void **state)
{
    (void)state;
    char made[] = "corral-config-XXXXXX", text[1024];
    int fd = mkstemp(made);
    assert_true(fd >= 0);
    snprintf(text, sizeof(text),
             "sdf: %s\n"
             "aps: [0, 3, 0x2000, {ap: 256, parent: 0x2000, address: 0x480000000}]\n"
             "patches:\n"
             "  - {ap: 0, register: 0xF8, value: 0xE00FF003}\n"
             "  - {ap: 256, address: 0xE00FF008, value: 2, mask: 0x3}\n"
             "cores:\n"
             "  - {name: a, ap: 0x2000, cti: {address: 0xF0002000, ap: 3}}\n"
             "  - {name: b, ap: 256, cti: {restart_output: 1}}\n",
             made);
    struct diag d = DIAG_INIT;
    struct config *c = parse("corral.yml", text, &d);
    close(fd);
    unlink(made);
    if (!c)
        fail_msg("%s", d.message);
    assert_string_equal(c->sdf, made);
    assert_int_equal(c->ap_count, 4);
    assert_int_equal(c->aps[1].ap, 3);
    assert_false(c->aps[2].nested);
    assert_int_equal(c->aps[2].ap, 0x2000);
    assert_true(c->aps[3].nested);
    assert_int_equal(c->aps[3].ap, 256);
    assert_int_equal(c->aps[3].parent, 0x2000);
    assert_true(c->aps[3].address == UINT64_C(0x480000000));
    assert_int_equal(c->patch_count, 2);
    assert_true(c->patches[0].ap_register);
    assert_int_equal(c->patches[0].address, 0xF8);
    assert_int_equal(c->patches[0].value, 0xE00FF003);
    assert_int_equal(c->patches[0].mask, 0xFFFFFFFF);
    assert_false(c->patches[1].ap_register);
    assert_int_equal(c->patches[1].ap, 256);
    assert_int_equal(c->patches[1].mask, 3);
    assert_int_equal(c->cores[0].ap, 0x2000);
    assert_true(c->cores[0].cti_set && c->cores[0].cti_ap_set);
    assert_int_equal(c->cores[0].cti_ap, 3);
    assert_int_equal(c->cores[0].cti_restart_output, -1);
    assert_false(c->cores[1].cti_set);
    assert_int_equal(c->cores[1].cti_restart_output, 1);
    config_free(c);
}

static void test_what_is_left_out_is_marked(void **state)
{
    (void)state;
    struct diag d = DIAG_INIT;
    struct config *c = parse("corral.yml", "link: dry:@words.json\n", &d);
    assert_non_null(c);
    assert_string_equal(c->link, "dry:@words.json"); /* beside a file named without a directory */
    assert_int_equal(c->clock_hz, 0);
    assert_false(c->sync_set);
    assert_false(c->profile_set);
    assert_int_equal(c->listen_port, -1);
    assert_int_equal(c->halt_channel, -1);
    assert_int_equal(c->restart_channel, -1);
    assert_int_equal(c->core_count, 0);
    config_free(c);
    config_free(NULL);
}

static void test_the_boards_switches(void **state)
{
    (void)state;
    static const char *const files[] = {"board: --level-halted --no-cti core1\n",
                                        "board:\n  - --level-halted\n  - --no-cti core1\n",
                                        "board: [\"--level-halted\", \"--no-cti\", core1]\n"};
    for (size_t i = 0; i < 3; i++) {
        struct diag d = DIAG_INIT;
        struct config *c = parse("corral.yml", files[i], &d);
        assert_string_equal(d.message, "");
        assert_non_null(c);
        assert_string_equal(c->board, "--level-halted --no-cti core1 ");
        config_free(c);
    }
}

static void test_paths_in_links_start_from_the_file(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"sim", "sim"},
        {"sim:a,b", "sim:d/e/a,d/e/b"},
        {"sim:/a,b", "sim:/a,d/e/b"},
        {"shm:mem@0x1000", "shm:d/e/mem@0x1000"},
        {"shm:/dev/shm/x", "shm:/dev/shm/x"},
        {"dry:@w.json", "dry:@d/e/w.json"},
        {"dry:0x10=1", "dry:0x10=1"},
        {"openocd:spawn:b.cfg", "openocd:spawn:d/e/b.cfg"},
        {"openocd:host:6666", "openocd:host:6666"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[64];
        struct diag d = DIAG_INIT;
        snprintf(text, sizeof(text), "link: %s\n", cases[i][0]);
        struct config *c = parse("d/e/corral.yml", text, &d);
        assert_non_null(c);
        assert_string_equal(c->link, cases[i][1]);
        config_free(c);
    }
}

/* ---- what is wrong ---- */

struct wrong {
    const char *text;
    unsigned line;
    const char *what;     /* in the message */
    const char *expected; /* in the message, after "expected" */
};

#define CORES "cores: [{name: a}, {name: b}]\n"

static const struct wrong mistakes[] = {
    /* the file's shape */
    {"", 1, "empty", "key: value"},
    {"# only a comment\n", 1, "empty", "key: value"},
    {"- a\n- b\n", 1, "not a mapping", "key: value"},
    {"just words\n", 1, "not a mapping", "key: value"},
    {"link: sim\nclock: [1, 2\n", 3, "not YAML", "key: value"},
    {"link: sim\ncores:\n\t- name: a\n", 3, "tab", "spaces"},
    {"link: sim\ncores:\n  - name: a\n\t  ap: 0\n", 4, "tab", "spaces"},
    {"link: &x sim\n", 1, "anchor", "the value itself"},
    {"cores: &x\n  - name: a\n", 1, "anchor", "the value itself"},
    {"link: sim\nclock: *x\n", 2, "alias", "the value itself"},
    {"link: !!str sim\n", 1, "tag", "the value itself"},
    {"link: sim\n---\nlink: dry\n", 2, "second document", "one"},
    {"link: sim\nclock: 1\nlink: dry\n", 3, "'link' is here twice (first in line 1)", "once"},
    {"cores:\n  - name: a\n    ap: 0\n    ap: 1\n", 4, "'ap' is here twice", "once"},
    {"? [a, b]\n: c\n", 1, "key that is not text", "key: value"},
    {"link: [[[[[[[[[[1]]]]]]]]]]\n", 1, "too deep", "at most 8"},
    {"link: \"a\\x07b\"\n", 1, "control character", "printable"},
    {"link: a\xFF\n", 1, "UTF-8", "UTF-8"},
    /* keys and types */
    {"link: sim\nspeed: 4\n", 2, "unknown key 'speed'",
     "one of link, board, clock, protocol, connect, sync, channels, cores, sdf, pack, device, cbuild-run, "
     "aps, patches, logs, profile"},
    {"link:\n", 1, "link is ''", "a link"},
    {"link: ~\n", 1, "link is '~'", "a link"},
    {"link: [sim]\n", 1, "link is a list", "a link"},
    {"board: {a: b}\n", 1, "board is a mapping", "switches"},
    {"board: []\nboard: x\n", 2, "twice", "once"},
    {"board: --level\n", 1, "no switch '--level'", "corral sim"},
    {"link: sim\nboard:\n  - --identity m7,m8\n", 3, "there is no 'm8'", "switches of corral sim"},
    {"board:\n  - [--adiv6]\n", 2, "list", "a switch"},
    {"clock: fast\n", 1, "clock is 'fast'", "whole number from 1 to 1000000000"},
    {"clock: 0\n", 1, "clock is '0'", "whole number from 1"},
    {"clock: -5\n", 1, "clock is '-5'", "whole number"},
    {"clock: 1.5\n", 1, "clock is '1.5'", "whole number"},
    {"clock: 4 MHz\n", 1, "clock is '4 MHz'", "whole number"},
    {"clock: 99999999999999999999999\n", 1, "clock is '9999", "whole number"},
    {"clock: 0x\n", 1, "clock is '0x'", "whole number"},
    {"clock: '4000'\n", 1, "clock is '4000'", "whole number"},
    {"sync: maybe\n", 1, "sync is 'maybe'", "true or false"},
    {"sync: 'true'\n", 1, "sync is 'true'", "true or false"},
    {"channels: 3\n", 1, "channels is '3'", "a mapping"},
    {"channels: {halt: 32}\n", 1, "halt is '32'", "0 to 31"},
    {"channels:\n  halt: 1\n  restart: 1\n", 3, "restart is '1'", "another channel"},
    {"channels: {stop: 1}\n", 1, "unknown key 'stop'", "one of halt, restart"},
    /* cores */
    {"cores: a\n", 1, "cores is 'a'", "a list"},
    {"cores:\n  - a\n", 2, "an entry is 'a'", "a mapping"},
    {"cores:\n  - ap: 0\n", 2, "lacks", "name:"},
    {"cores:\n  - name: a b\n", 2, "name is 'a b'", "letters, digits"},
    {"cores:\n  - name: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n", 2, "name is 'aaaa", "1 to 31"},
    {"cores:\n  - name: a\n  - name: a\n", 3, "name is 'a'", "no other core has"},
    {"cores:\n  - name: a\n    hz: 0\n", 3, "hz is '0'", "1 to"},
    {"cores:\n  - name: a\n    elf: nowhere/there.elf\n", 3, "elf 'dir/nowhere/there.elf' cannot be read",
     "an ELF file"},
    {"cores:\n  - name: a\n    elf: {}\n", 3, "elf is a mapping", "the path"},
    {"cores:\n  - name: a\n    cti: {}\n", 3, "lacks", "address: of the CTI, or restart_output:"},
    {"cores:\n  - name: a\n    cti: {ap: 1, restart_output: 7}\n", 3, "lacks", "address:"},
    {"cores:\n  - name: a\n    cti: {ap: 256}\n", 3, "lacks", "address:"},
    {"cores:\n  - name: a\n    cti: {address: 0, ap: 512}\n", 3, "ap is '512'", "multiple of 4096"},
    {"cores:\n  - name: a\n    ap: 0x2004\n", 3, "ap is '0x2004'", "multiple of 4096"},
    {"cores:\n  - name: a\n    ap: 0x80000000\n", 3, "ap is '0x80000000'", "0 to 2147483647"},
    {"cores:\n  - name: a\n    cti:\n      address: 0xE0042004\n", 4, "address is '0xE0042004'", "4 KiB"},
    {"cores:\n  - name: a\n    cti: {address: 0, restart_output: 32}\n", 3, "restart_output is '32'",
     "0 to 31"},
    {"sdf: nowhere/part.sdf\n", 1, "sdf 'dir/nowhere/part.sdf' cannot be read", "a system description file"},
    {"sdf: {}\n", 1, "sdf is a mapping", "the path"},
    {"pack: nowhere/part.pdsc\n", 1, "pack 'dir/nowhere/part.pdsc' cannot be read", "a .pdsc or .pack"},
    {"pack: ''\n", 1, "pack is ''", "the path"},
    {"link: sim\ncbuild-run: nowhere.yml\n", 2, "cbuild-run 'dir/nowhere.yml' cannot be read",
     ".cbuild-run.yml"},
    {"link: sim\ndevice: PART\n", 2, "a device of no pack", "the key pack"},
    {"cbuild-run: /dev/null\npack: /dev/null\n", 1, "there is a pack, too", "one of pack and cbuild-run"},
    {"pack: /dev/null\ndevice: [A, B]\n", 2, "device is a list", "the name of a device"},
    {"aps: 3\n", 1, "aps is '3'", "a list"},
    {"aps: [0,\n  0x1001]\n", 2, "an entry is '0x1001'", "a number from 0 to 255 (ADIv5)"},
    {"aps: [256]\n", 1, "an entry is '256'", "for an AP behind another"},
    {"aps: [1, 2, 1]\n", 1, "twice (first in line 1)", "once"},
    {"aps:\n  - {ap: 256, parent: 0}\n", 2, "lacks", "address:"},
    {"aps:\n  - {ap: 1, parent: 0, address: 0}\n", 2, "ap is '1'", "256 to 511"},
    {"aps:\n  - {ap: 256, parent: 0, address: 4}\n", 2, "address is '4'", "4 KiB"},
    {"aps:\n  - {ap: 256, parent: 0, address: 0, dp: 1}\n", 2, "unknown key 'dp'",
     "one of ap, parent, address"},
    {"patches:\n  - {ap: 0, value: 1}\n", 2, "lacks", "either address:"},
    {"patches:\n  - {ap: 0, value: 1, address: 4, register: 4}\n", 2, "lacks", "either address:"},
    {"patches:\n  - {value: 1, address: 4}\n", 2, "lacks", "ap:"},
    {"patches:\n  - {ap: 0, value: 1, address: 2}\n", 2, "address is '2'", "the address of a word"},
    {"patches:\n  - {ap: 0, value: 1, register: 2}\n", 2, "register is '2'", "a register of the AP"},
    {"patches:\n  - {ap: 0, value: 1, register: 0x1000}\n", 2, "register is '0x1000'", "0 to 4092"},
    {"patches:\n  - {ap: 0, value: 0x100000000, address: 4}\n", 2, "value is '0x100000000'",
     "0 to 4294967295"},
    {"cores:\n  - name: a\n    color: red\n", 3, "unknown key 'color'", "one of name, ap, elf, hz, cti"},
    /* logs */
    {CORES "logs: {core: a}\n", 2, "logs is a mapping", "a list"},
    {CORES "logs:\n  - {core: c, symbol: x}\n", 3, "core is 'c'", "a core under cores"},
    {CORES "logs:\n  - {symbol: x}\n", 3, "lacks", "core:"},
    {CORES "logs:\n  - {core: a}\n", 3, "lacks", "symbol:, or address: and size:"},
    {CORES "logs:\n  - {core: a, address: 4}\n", 3, "lacks", "address: and size:"},
    {CORES "logs:\n  - {core: a, size: 4096}\n", 3, "lacks", "address: and size:"},
    {CORES "logs:\n  - {core: a, symbol: x, address: 4, size: 64}\n", 3, "lacks", "either symbol:"},
    {CORES "logs:\n  - core: a\n    address: 4\n    size: 28\n", 5, "size is '28'", "29 to 1048576"},
    {CORES "logs:\n  - core: a\n    symbol: x\n    staging: 12\n", 5, "staging is '12'", "13 to 1048576"},
    {CORES "logs:\n  - core: a\n    symbol: x\n    timestamp_hz: 0\n", 5, "timestamp_hz is '0'", "1 to"},
    {CORES "logs:\n  - core: a\n    symbol:\n", 4, "symbol is ''", "a variable"},
    /* profile */
    {"profile: 51080\n", 1, "profile is '51080'", "a mapping"},
    {"profile:\n  listen: 51080\n", 2, "listen is '51080'", "ADDR:PORT"},
    {"profile:\n  listen: 127.0.0.1\n", 2, "listen is '127.0.0.1'", "ADDR:PORT"},
    {"profile:\n  listen: 127.0.0.1:65536\n", 2, "listen is '127.0.0.1:65536'", "ADDR:PORT"},
    {"profile:\n  listen: 300.0.0.1:1\n", 2, "listen is '300.0.0.1:1'", "ADDR:PORT"},
    {CORES "profile:\n  sources:\n    - {address: 10.0.0.2}\n", 4, "lacks", "core:"},
    {CORES "profile:\n  sources:\n    - {address: x, core: a}\n", 4, "address is 'x'", "IPv4"},
    {CORES "profile:\n  sources:\n    - {address: 10.0.0.2, core: z}\n", 4, "core is 'z'", "under cores"},
    {CORES "profile:\n  sources:\n    - {address: 10.0.0.2, core: a}\n    - {address: 10.0.0.2, core: b}\n",
     5, "address is '10.0.0.2'", "no other source has"},
};

static void test_every_mistake_names_line_and_expectation(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
        const struct wrong *m = &mistakes[i];
        struct diag d = DIAG_INIT;
        struct config *c = parse("dir/corral.yml", m->text, &d);
        char place[64];
        snprintf(place, sizeof(place), "dir/corral.yml:%u", m->line);
        const char *expected = strstr(d.message, "expected ");
        if (c || d.code != CORRAL_ERR_CONFIG || strcmp(d.object, place) != 0 ||
            strncmp(d.message, place, strlen(place)) != 0 || d.message[strlen(place)] != ':' ||
            !strstr(d.message, m->what) || !expected || !strstr(expected, m->expected))
            fail_msg("case %zu (%s): got '%s', object '%s', wanted line %u, '%s', '%s'", i, m->text,
                     d.message, d.object, m->line, m->what, m->expected);
        assert_null(strchr(d.message, '\n'));
    }
}

static void test_control_characters_do_not_reach_the_message(void **state)
{
    (void)state;
    struct diag d = DIAG_INIT;
    assert_null(parse("dir/corral.yml", "\"a\\e[31m\": 1\n", &d));
    assert_int_equal(d.code, CORRAL_ERR_CONFIG);
    assert_null(strchr(d.message, 0x1B));
    assert_null(parse("bad\x1Bname.yml", "zzz: 1\n", &d));
    assert_null(strchr(d.message, 0x1B));
    assert_null(strchr(d.object, 0x1B));
}

static void test_a_nul_byte_is_refused(void **state)
{
    (void)state;
    static const char text[] = "link: s\0m\n";
    struct diag d = DIAG_INIT;
    assert_null(config_parse("corral.yml", text, sizeof(text) - 1, &d));
    assert_int_equal(d.code, CORRAL_ERR_CONFIG);
    assert_non_null(strstr(d.message, "corral.yml:1: "));
}

static void test_too_large_and_too_many(void **state)
{
    (void)state;
    struct diag d = DIAG_INIT;
    size_t size = 1024 * 1024 + 1;
    char *big = malloc(size);
    assert_non_null(big);
    memset(big, '#', size);
    assert_null(config_parse("corral.yml", big, size, &d));
    assert_string_equal(d.message, "corral.yml:1: the file is too large; expected at most 1048576 bytes");
    /* Within the size: one more core, and one more entry of any kind, than are taken. */
    size_t used = (size_t)sprintf(big, "cores:\n");
    for (int i = 0; i <= CONFIG_MAX_CORES; i++)
        used += (size_t)sprintf(big + used, "  - name: c%d\n", i);
    assert_null(config_parse("corral.yml", big, used, &d));
    assert_string_equal(d.message, "corral.yml:18: too many entries under cores; expected at most 16");
    used = (size_t)sprintf(big, "link: [");
    for (int i = 0; i < 100000; i++)
        used += (size_t)sprintf(big + used, "1, ");
    used += (size_t)sprintf(big + used, "1]\n");
    assert_null(config_parse("corral.yml", big, used, &d));
    assert_non_null(strstr(d.message, "too many entries; expected"));
    /* A megabyte of opening brackets ends at the depth, not in the stack. */
    memset(big, '[', size - 1);
    assert_null(config_parse("corral.yml", big, size - 1, &d));
    assert_int_equal(d.code, CORRAL_ERR_CONFIG);
    free(big);
}

static void test_a_file_that_cannot_be_read(void **state)
{
    (void)state;
    struct diag d = DIAG_INIT;
    assert_null(config_load("nowhere/corral.yml", &d));
    assert_int_equal(d.code, CORRAL_ERR_CONFIG);
    assert_string_equal(
        d.message, "nowhere/corral.yml:1: No such file or directory; expected a readable configuration file");
    assert_null(config_load("/", &d)); /* a directory opens and cannot be read */
    assert_int_equal(d.code, CORRAL_ERR_CONFIG);
    assert_non_null(strstr(d.message, "expected a readable configuration file"));
}

static void test_a_file_is_loaded(void **state)
{
    (void)state;
    char path[] = "corral-config-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    static const char text[] = "link: sim\r\nsync: false\r\n";
    assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
    close(fd);
    struct diag d = DIAG_INIT;
    struct config *c = config_load(path, &d);
    assert_non_null(c);
    assert_string_equal(c->file, path);
    assert_string_equal(c->link, "sim");
    assert_true(c->sync_set && !c->sync);
    config_free(c);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_whole_file),
        cmocka_unit_test(test_a_description_of_the_device),
        cmocka_unit_test(test_what_discovery_is_told),
        cmocka_unit_test(test_what_is_left_out_is_marked),
        cmocka_unit_test(test_the_boards_switches),
        cmocka_unit_test(test_paths_in_links_start_from_the_file),
        cmocka_unit_test(test_every_mistake_names_line_and_expectation),
        cmocka_unit_test(test_control_characters_do_not_reach_the_message),
        cmocka_unit_test(test_a_nul_byte_is_refused),
        cmocka_unit_test(test_too_large_and_too_many),
        cmocka_unit_test(test_a_file_that_cannot_be_read),
        cmocka_unit_test(test_a_file_is_loaded),
    };
    return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
