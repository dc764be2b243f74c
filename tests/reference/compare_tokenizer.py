#!/usr/bin/env python3
"""Compares `adjudge tokenize` with llama.cpp on whole vocabularies. Opt-in: needs a llama.cpp.

    compare_tokenizer.py --adjudge build/adjudge --llama-source llama.cpp --llama-build llama.cpp/build/bin \\
        llama.cpp/models/ggml-vocab-qwen2.gguf ...

For every vocabulary: its own test texts (FILE.inp beside it), every code point alone and between
letters, and random strings, each with special tokens parsed and not. Needs the gguf package.
"""
import argparse
import json
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

import gguf

HERE = pathlib.Path(__file__).resolve().parent
BATCH = 100_000
SPECIAL_TYPES = (gguf.TokenType.UNKNOWN, gguf.TokenType.CONTROL, gguf.TokenType.USER_DEFINED)
LETTERS = "abcdefghij ABC стуё αβγ éüß 日本語中文 한국 عربي עברית हिन्दी ไทย"
SCRAPS = [" ", "  ", "\t", "\n", "\r\n", "\n\n", " \n ", "\u00a0", "\u3000", "\u2028", "\u0085", "'s", "'S", "'T",
          "'re", "'LL", "'Ve", "'d", "'m", "'", "''", "'\u017f", "'\u212a", "\u0301", "\u0308", "\u0e31", "\u200d",
          "0", "12", "345", "67890", "½", "²", "Ⅳ", "٣", "🙂", "👨‍👩‍👧", "<", "<|", "|>", "{", "}", "\"", "\":", "\\n",
          "://", "---", "=====", "...", "!?", "$", "€", "™", "_", "\x00", "\x1c", "\x7f", "\u200b", "\ufeff", "\ufffd"]


def llama_driver(source, build, folder):
    program = pathlib.Path(folder) / "llama_tokenize_lines"
    subprocess.run(["cc", "-O1", f"-I{source}/include", f"-I{source}/ggml/include", HERE / "llama_tokenize_lines.c",
                    f"-L{build}", "-lllama", "-lggml-base", f"-Wl,-rpath,{build}", "-o", program], check=True)
    return program


def llama_ids(program, model, special, texts):
    raw = [text.encode() for text in texts]
    given = b"".join(struct.pack("<I", len(text)) + text for text in raw)
    answer = subprocess.run([program, model, "01"[special]], input=given, capture_output=True, check=True)
    return [[int(word) for word in line.split()] for line in answer.stdout.decode().splitlines()]


def our_ids(program, model, special, texts):
    command = [program, "tokenize", "--model", model] + ["--special"] * special
    given = "".join(json.dumps(text) + "\n" for text in texts)
    answer = subprocess.run(command, input=given.encode(), capture_output=True, check=True)
    return [json.loads(line) for line in answer.stdout.decode().splitlines()]


def special_texts(model):
    fields = gguf.GGUFReader(model).fields
    tokens, types = (fields[f"tokenizer.ggml.{key}"].contents() for key in ("tokens", "token_type"))
    return [text for text, kind in zip(tokens, types) if text and kind in SPECIAL_TYPES]


def random_code_point(rng):
    while True:
        code = rng.choice((rng.randrange(0x300, 0x3000), rng.randrange(0x110000)))
        if not 0xD800 <= code < 0xE000:
            return chr(code)


def random_text(rng, specials):
    def part():
        roll = rng.random()
        if roll < 0.35:
            return "".join(rng.choice(LETTERS) for _ in range(rng.randrange(1, 9)))
        if roll < 0.75:
            return rng.choice(SCRAPS) * rng.choice((1, 1, 1, 2, 5))
        if roll < 0.85:
            return random_code_point(rng)
        if roll < 0.90:
            return " " * rng.randrange(40)
        text = rng.choice(specials)
        return text if roll < 0.97 else text[:rng.randrange(len(text)) + 1]
    return "".join(part() for _ in range(rng.randrange(1, 30)))


def code_points():
    for code in range(0x110000):
        if not 0xD800 <= code < 0xE000:
            yield chr(code)
            yield f"a{chr(code)}b"


def texts_for(model, options):
    own = pathlib.Path(f"{model}.inp")
    if own.exists():
        yield from own.read_text().split("\n__ggml_vocab_test__\n")
    rng = random.Random(options.seed)
    specials = special_texts(model)
    for _ in range(options.strings):
        yield random_text(rng, specials)
    if not options.skip_code_points:
        yield from code_points()


def batches(texts):
    batch = []
    for text in texts:
        batch.append(text)
        if len(batch) == BATCH:
            yield batch
            batch = []
    yield batch


def compare(model, special, driver, options):
    total = wrong = 0
    for batch in batches(texts_for(model, options)):
        ours = our_ids(options.adjudge, model, special, batch)
        theirs = llama_ids(driver, model, special, batch)
        if not len(ours) == len(theirs) == len(batch):
            sys.exit(f"{model}: {len(batch)} texts, {len(ours)} answers, {len(theirs)} from llama.cpp")
        for text, mine, other in zip(batch, ours, theirs):
            if mine != other:
                wrong += 1
                if wrong <= 5:
                    print(f"  {text!r}\n    ours      {mine}\n    llama.cpp {other}")
        total += len(batch)
    print(f"{pathlib.Path(model).name}, special tokens {'parsed' if special else 'not parsed'}: "
          f"{total} texts, {wrong} differ", flush=True)
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--adjudge", required=True)
    parser.add_argument("--llama-source", required=True)
    parser.add_argument("--llama-build", required=True, help="where libllama.so lies")
    parser.add_argument("--strings", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--skip-code-points", action="store_true")
    parser.add_argument("models", nargs="+")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        driver = llama_driver(options.llama_source, options.llama_build, folder)
        wrong = sum(compare(model, special, driver, options) for model in options.models for special in (True, False))
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
