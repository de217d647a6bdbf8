/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers for addresses on standard input (one "0x..." a line) what llvm-symbolizer would: for each frame its
 * name and FILE:LINE, innermost first, then an empty line. For tests/peers/symbols.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "symbol/symbol.h"

#define FRAMES 64

int main(int argc, char **argv)
{
    struct diag d = DIAG_INIT;
    char text[64];
    struct symbol_index *s = argc == 2 ? symbol_open(argv[1], &d) : NULL;
    if (!s) {
        fprintf(stderr, "%s\n", argc == 2 ? d.message : "usage: symbols_answers FILE < ADDRESSES");
        return 1;
    }
    if (symbol_note(s))
        fprintf(stderr, "%s\n", symbol_note(s));
    while (fgets(text, sizeof(text), stdin)) {
        struct symbol_frame frames[FRAMES];
        size_t n = symbol_frames(s, strtoull(text, NULL, 16), frames, FRAMES);
        const char *file = "??";
        uint32_t line = 0;
        if (n == 0) {
            symbol_line_at(s, strtoull(text, NULL, 16), &file, &line); /* padding has a line, but no name */
            printf("??\n%s:%" PRIu32 "\n", file, line);
        }
        for (size_t i = 0; i < n && i < FRAMES; i++)
            printf("%s\n%s:%" PRIu32 "\n", frames[i].name, frames[i].file ? frames[i].file : "??",
                   frames[i].line);
        putchar('\n');
    }
    symbol_close(s);
    return 0;
}
