#!/usr/bin/env python3
"""Refuses what a unit of an instruction-set level must not share with the rest of the program.

    isa_symbols.py OBJECT...      (the objects of src/kernel/<level>/, however they were built)

A weak symbol is the danger: the linker keeps one copy of an inline function for the whole program,
and if that copy was compiled for AVX-512, it ends the program on a machine without. A level
therefore exports `probe` and `improve` and nothing else (docs/adding-an-isa.md).
"""
import re
import subprocess
import sys

ALLOWED = re.compile(r"adjudge::kernel::\w+::(probe\(\)|improve\(adjudge::kernel::Table&\))$")


def faults_of(listing):
    """Faults in the output of `nm --defined-only --demangle`: lines of address, kind and name."""
    faults = []
    for line in listing.splitlines():
        fields = line.split(maxsplit=2)
        if len(fields) != 3:
            continue
        kind, name = fields[1], fields[2]
        if kind in "wWvVuU":
            faults.append(f"weak symbol {name}")
        elif kind.isupper() and not ALLOWED.match(name):
            faults.append(f"exported symbol {name}")
    return faults


def main(objects):
    if not objects:
        print("no objects to check", file=sys.stderr)
        return 1
    failed = False
    for path in objects:
        command = ["nm", "--defined-only", "--demangle", path]
        listing = subprocess.run(command, check=True, capture_output=True, text=True)
        for fault in faults_of(listing.stdout):
            print(f"{path}: {fault}", file=sys.stderr)
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
