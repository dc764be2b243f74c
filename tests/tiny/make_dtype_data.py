#!/usr/bin/env python3
"""Writes testdata/gguf/dtypes.json: blocks of random bytes in every weight format and their values.

    pip install numpy gguf
    python make_dtype_data.py ../../testdata/gguf/dtypes.json

The values are gguf.quants.dequantize's. Every bit of a block is random but those of its half-precision
scales, which are kept finite. Values are given as the hexadecimal bits of their floats, so that equality
can be exact. A quantised format gets so many blocks that each of its bit fields takes most of its values.
"""
import json
import sys

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Q
from gguf.quants import dequantize

# format: bytes at which a half-precision scale begins
SCALES = {
    Q.F32: [], Q.F16: [], Q.BF16: [], Q.Q8_0: [0], Q.Q4_0: [0], Q.Q4_1: [0, 2], Q.Q5_0: [0], Q.Q5_1: [0, 2],
    Q.Q4_K: [0, 2], Q.Q5_K: [0, 2], Q.Q6_K: [208], Q.IQ4_NL: [0], Q.IQ4_XS: [0],
}
PLAIN = {Q.F32: np.float32, Q.F16: np.float16, Q.BF16: None}


def hex_floats(values):
    return values.astype("<f4").tobytes().hex()


def random_blocks(kind, random):
    block_values, block_bytes = gguf.GGML_QUANT_SIZES[kind]
    count = max(2, 128 // block_values)
    blocks = random.integers(0, 256, (count, block_bytes), dtype=np.uint8)
    for place in SCALES[kind]:
        half = blocks[:, place:place + 2].copy().view("<u2")
        half = np.where(half & 0x7C00 == 0x7C00, half ^ 0x4000, half)     # infinity and NaN become ordinary
        blocks[:, place:place + 2] = half.astype("<u2").view(np.uint8)
    return blocks


def plain_blocks(kind, random):
    """Ordinary numbers, and the edges of the format."""
    edges = np.array([0.0, -0.0, 1.0, -1.0, 2.0**-24, 2.0**-14, 65504.0, np.inf, -np.inf], dtype=np.float32)
    values = np.concatenate([edges, random.standard_normal(23).astype(np.float32)])
    if kind == Q.BF16:
        return (values.view("<u4") >> 16).astype("<u2").view(np.uint8).reshape(-1, 2)
    return values.astype(PLAIN[kind]).view(np.uint8).reshape(len(values), -1)


def main():
    random = np.random.default_rng(20)
    formats = {}
    for kind in SCALES:
        blocks = plain_blocks(kind, random) if kind in PLAIN else random_blocks(kind, random)
        values = dequantize(blocks, kind)
        assert not np.isnan(values).any()
        formats[kind.name] = {"blocks": blocks.tobytes().hex(), "values": hex_floats(values)}
    provenance = f"tests/tiny/make_dtype_data.py; values by gguf.quants.dequantize, gguf {version()}, numpy {np.__version__}"
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        json.dump({"provenance": provenance, "formats": formats}, out, indent=1)
        out.write("\n")


def version():
    from importlib.metadata import version as of
    return of("gguf")


if __name__ == "__main__":
    main()
