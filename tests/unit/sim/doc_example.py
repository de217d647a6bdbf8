# SPDX-License-Identifier: Apache-2.0
"""Take the example of docs/board.md out of the page, so that the test builds what a reader would build.

usage: doc_example.py board.md OUT_C OUT_LD0 OUT_LD1
"""
import re
import sys


def block(page, language):
    found = re.findall(r"^```" + language + r"\n(.*?)^```$", page, re.M | re.S)
    if len(found) != 1:
        sys.exit(f"{len(found)} {language} blocks in the page, 1 wanted")
    return found[0]


def main():
    page_path, out_c, out_ld0, out_ld1 = sys.argv[1:]
    with open(page_path, encoding="utf-8") as f:
        page = f.read()
    script = block(page, "ld")
    edits = re.findall(r"^sed.* -e 's/(0x\w+)/(0x\w+)/' -e 's/(0x\w+)/(0x\w+)/' board.ld", page, re.M)
    edits = [(e[0], e[1]) for e in edits] + [(e[2], e[3]) for e in edits]
    if len(edits) != 2:
        sys.exit("the page's sed line for core 1 is not as expected")
    other = script
    for old, new in edits:
        other = other.replace(old, new)
    for path, text in ((out_c, block(page, "c")), (out_ld0, script), (out_ld1, other)):
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)


main()
