#!/usr/bin/env python3
"""Writes src/text/unicode_table.inc: the ranges of letters, marks, numbers and white space.

The reference's tables are those of Unicode 15.1 (compared code point by code point), so this needs a
unicodedata of exactly that version: Python 3.13's own, or unicodedata2 15.1.0 from PyPI.

    python3.13 tools/make_unicode_table.py > src/text/unicode_table.inc
"""
import sys

try:
    import unicodedata2 as unicodedata
except ImportError:
    import unicodedata

VERSION = "15.1.0"
CODE_POINTS = 0x110000
KIND_OF_CATEGORY = {"L": "letter", "M": "mark", "N": "number"}
# The property White_Space; the general categories alone lack U+0009..U+000D and U+0085.
WHITE_SPACE = {*range(0x09, 0x0E), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B),
               0x2028, 0x2029, 0x202F, 0x205F, 0x3000}


def kind(code):
    if code in WHITE_SPACE:
        return "space"
    return KIND_OF_CATEGORY.get(unicodedata.category(chr(code))[0], "other")


def main():
    if unicodedata.unidata_version != VERSION:
        sys.exit(f"this unicodedata is {unicodedata.unidata_version}, and the table is that of {VERSION}")
    starts = [(code, kind(code)) for code in range(CODE_POINTS)
              if code == 0 or kind(code) != kind(code - 1)]
    print(f"// Made by tools/make_unicode_table.py from Unicode {VERSION}: each range up to the next.")
    line = ""
    for code, name in starts:
        entry = f"{{0x{code:X}, {name}}},"
        if len(line) + 1 + len(entry) > 100:
            print(line)
            line = ""
        line += (" " if line else "") + entry
    print(line)


main()
