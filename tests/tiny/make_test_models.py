#!/usr/bin/env python3
"""Makes those tiny models that the tests use and that are not there yet, and checks every one.

    python make_test_models.py FOLDER

A model is right when its CRC-32 and size are those of checksums.txt: the recorded answers belong to
exactly these bytes.
"""
import contextlib
import io
import sys
import zlib
from pathlib import Path

HERE = Path(__file__).resolve().parent
DECISION_FAMILIES = ["openjev", "openjev-moe", "openjev-qwen3", "lev", "nimble", "nimble-qwen3",
                     "kev", "clef", "laya"]
# (weight type, wide, families)
WANTED = [("f32", False, DECISION_FAMILIES + ["julia"])] + [
    (weight_type, True, DECISION_FAMILIES) for weight_type in ("f16", "bf16", "q8_0", "q4_K")
]


def read_checksums():
    lines = (HERE / "checksums.txt").read_text().split("\n")
    return {name: (crc, int(size)) for crc, size, name in map(str.split, filter(None, lines))}


def is_right(path, expected):
    if not path.exists() or path.stat().st_size != expected[1]:
        return False
    return f"{zlib.crc32(path.read_bytes()):08x}" == expected[0]


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    checksums = read_checksums()
    made = 0
    wrong = []
    for weight_type, wide, families in WANTED:
        for family in families:
            name = f"tiny-{family}{'-wide' if wide else ''}-{weight_type}.gguf"
            if is_right(folder / name, checksums[name]):
                continue
            from make_models import build  # imports numpy, which nobody waits for in vain

            print(f"    {name}", flush=True)
            with contextlib.redirect_stdout(io.StringIO()):
                build(family, str(folder), weight_type, wide, False)
            made += 1
            if not is_right(folder / name, checksums[name]):
                wrong.append(name)
    print(f"    {made} made, {sum(len(w[2]) for w in WANTED) - made} were there")
    if wrong:
        sys.exit(f"not the bytes that checksums.txt names: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
