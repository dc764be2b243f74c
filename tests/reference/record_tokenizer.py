#!/usr/bin/env python3
"""Writes testdata/tokenizer/<split>.jsonl: what llama.cpp makes of tricky texts, on the tiny vocabularies.

    record_tokenizer.py --models build/models --llama-source llama.cpp --llama-build llama.cpp/build/bin

A line holds the text, its ids with special tokens parsed and, where they differ, ids_plain without.
The splits that have no tiny model of their own are recorded on a copy of one with another
tokenizer.ggml.pre. Needs the gguf package.
"""
import argparse
import json
import pathlib
import random
import tempfile

import gguf

from compare_tokenizer import SCRAPS, llama_driver, llama_ids, random_text, special_texts

SPLITS = {"qwen2": "tiny-openjev-f32", "qwen35": "tiny-openjev-f32", "llama-bpe": "tiny-openjev-f32",
          "gpt-2": "tiny-openjev-f32", "modern-bert": "tiny-laya-f32"}
OUT = pathlib.Path(__file__).resolve().parents[2] / "testdata" / "tokenizer"
RANDOM_COUNT = 120
TRICKY = [
    "", " ", "  ", "   ", "\n", "\r\n", " \n", "\n ", " \n ", "  \n\n  x", "\t\tx", "\tx", " \tx", "x ", "x  ", "x \n",
    "a b", "a  b", "a   b", "a\u00a0b", "a\u00a0\u00a0b", "\u3000x", "\u2028x\u2029", "\u0085\u0085x", "\u200bx",
    "'s", "'S", "it's IT'S It'Ll we'RE they've I'd 'tis", "'", "''s", "'ſ", "'\u212a", "x'", "'r", "'l", "'v", "'re'", "'\n",
    "1", "12", "123", "1234", "1234567", " 1", " 12", "a1b22c333", "½²Ⅳ", "٣٤٥٦", "1,234.56", "3x", "x3", "²x", "x²",
    "e\u0301", "\u0301", " \u0301", "\u0301a", "a\u0301\u0308b", "1\u0301", "!\u0301", "\n\u0301", "हिन्दी", "ไทย", "עִברית",
    "!a", "!!a", " !a", " !!", "!\n", "! \n", "!\r\n\r\nx", "(a)", " (a)", "_a_b", "$5", "a.b", "http://x.y/z?q=1&r=%20",
    "{\"key\": [1, -2.5e10, null], \"x\": \"\\u00e9\\n\"}", "def f(x):\n    return x\n\n\n", "日本語と中文 混在", "🙂👨‍👩‍👧", "\x00\x01",
    "<|im_start|>user\nHi<|im_end|>\n", "<|im_start|", "<|im_end|><|im_end|>", "a<think>b</think>c", " <think> ",
    "<<think>>", "<tool_call>{}</tool_call>", "<|endoftext|>", "[MASK]", " [MASK] x", "[CLS]a[SEP]b[PAD]", "[unused0]",
    "|||IP_ADDRESS|||", "|||EMAIL_ADDRESS|||PHONE_NUMBER|||", "||||IP_ADDRESS|||||", " " * 23 + "x", " " * 24, " " * 25 + "x",
    " " * 60, "x" * 100, "=" * 70, "\n" * 30, "ab" * 40 + " " + "é" * 20,
]


def with_split(model, split, path):
    """A copy of the metadata of `model` with another tokenizer.ggml.pre, and no tensors."""
    fields = gguf.GGUFReader(model).fields
    writer = gguf.GGUFWriter(path, fields["general.architecture"].contents())
    for key, field in fields.items():
        if key.startswith("tokenizer.ggml.") and key != "tokenizer.ggml.pre":
            is_array = field.types[0] == gguf.GGUFValueType.ARRAY
            writer.add_key_value(key, field.contents(), field.types[0], field.types[1] if is_array else None)
    writer.add_string("tokenizer.ggml.pre", split)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", required=True, help="where make_models.py wrote the tiny models")
    parser.add_argument("--llama-source", required=True)
    parser.add_argument("--llama-build", required=True, help="where libllama.so lies")
    options = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        driver = llama_driver(options.llama_source, options.llama_build, folder)
        for split, name in SPLITS.items():
            model = with_split(f"{options.models}/{name}.gguf", split, f"{folder}/{split}.gguf")
            rng = random.Random(split)
            specials = special_texts(model)
            texts = TRICKY + SCRAPS + [random_text(rng, specials) for _ in range(RANDOM_COUNT)]
            with open(OUT / f"{split}.jsonl", "w") as out:
                answers = zip(texts, *(llama_ids(driver, model, special, texts) for special in (True, False)))
                for text, ids, plain in answers:
                    line = {"text": text, "ids": ids} | ({"ids_plain": plain} if plain != ids else {})
                    out.write(json.dumps(line, separators=(",", ":")) + "\n")


main()
