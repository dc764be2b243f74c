#!/usr/bin/env python3
"""Checks the metaspace tokenizer against PyPI `tokenizers`, on a vocabulary cut here.

    compare_metaspace.py cut                                    writes tests/tiny/vocab/mmbert.json
    compare_metaspace.py record                                 writes testdata/tokenizer/mmbert.jsonl
    compare_metaspace.py compare --adjudge build/adjudge --model build/models/tiny-julia-f32.gguf [--count N]

The vocabulary is trained on this repository's documents. The tokenizer is put together as that of mmBERT is:
byte fallback, words that begin with U+2581, runs of line feeds as added tokens. Needs the tokenizers package.
"""
import argparse
import json
import pathlib
import random
import re
import subprocess
import sys

from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers, trainers

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tiny"))
VOCABULARY = ROOT / "tests" / "tiny" / "vocab" / "mmbert.json"
RECORDED = ROOT / "testdata" / "tokenizer" / "mmbert.jsonl"
SPACE = "\u2581"
SPECIAL = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>"]
TRICKY = [
    "a", " ", "  ", " a", "a ", "a  b", "a   b  ", "\n", "\n\n", "\na", " \n ", "a\nb", "a\n\n\n\n\nb", "\n a", "a \n",
    SPACE, SPACE + "a", "a" + SPACE, " " + SPACE + " a", "<mask>", "a <mask> b", " \t<mask>", "<bos>a<eos>", "<0x41>",
    "<unk>", "\t", "\r\n", "\u00e9", "e\u0301", "\u4f60\u597d", "\U0001f642 ok", "\u00a0x", "x\u2028y", "\x00\x7f",
    "The model reads a prompt.", "1234.50", "{\"key\": [1, null]}", "abc" * 40, "\u65e5\u672c\u8a9e" * 20,
]


def cut():
    texts = [path.read_text() for path in sorted(ROOT.glob("docs/*.md")) + [ROOT / "CONTRIBUTING.md"]]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement=SPACE, prepend_scheme="always", split=True)
    lines = [line for text in texts for line in text.split("\n")]
    tokenizer.train_from_iterator(lines, trainers.BpeTrainer(vocab_size=900, show_progress=False))
    model = json.loads(tokenizer.to_str())["model"]
    pieces = sorted(model["vocab"], key=model["vocab"].get)
    merges = [" ".join(pair) if isinstance(pair, list) else pair for pair in model["merges"]]
    content = json.dumps({"pieces": pieces, "merges": merges}, ensure_ascii=False, separators=(",", ":"))
    VOCABULARY.write_text(content + "\n", encoding="utf-8")


def reference(parses_special=True):
    import mmbert_vocab  # made by `cut`

    vocabulary = mmbert_vocab.mmbert_vocab()
    ids = {text: index for index, text in enumerate(vocabulary["tokens"])}
    merges = [tuple(pair.split(" ")) for pair in vocabulary["merges"]]
    tokenizer = Tokenizer(models.BPE(vocab=ids, merges=merges, byte_fallback=True, fuse_unk=True, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement=SPACE, prepend_scheme="always", split=True)
    kinds = dict(zip(vocabulary["tokens"], vocabulary["types"]))
    runs = [text for text, kind in kinds.items() if kind == mmbert_vocab.USER_DEFINED]
    tokenizer.add_tokens([AddedToken(text, normalized=False) for text in runs])
    if parses_special:
        tokenizer.add_special_tokens([AddedToken(text, lstrip=text == "<mask>", normalized=False) for text in SPECIAL])
    return tokenizer


def random_text(rng):
    parts = [" ", "  ", "\n", "\n\n", "a", "the", "model", " of", SPACE, "é", "\u4f60", "\U0001f642", ".", "1", "<mask>",
             "<eos>", "\t", "\u0301", "-", "answer", "\u00a0", "\r"]
    text = "".join(rng.choice(parts) for _ in range(rng.randrange(1, 30)))
    # llama.cpp, which we follow, strips ASCII blanks before a mask, line feeds included; tokenizers any but those.
    return re.sub(r"\s+<mask>", "<mask>", text)


def plain(tokenizer, text):
    return tokenizer.encode(text, add_special_tokens=False).ids


def record():
    tokenizer, without, rng = reference(), reference(False), random.Random(1)
    texts = TRICKY + [random_text(rng) for _ in range(60)]
    with open(RECORDED, "w") as out:
        for text in texts:
            ids, ids_plain = plain(tokenizer, text), plain(without, text)
            line = {"text": text, "ids": ids} | ({"ids_plain": ids_plain} if ids_plain != ids else {})
            out.write(json.dumps(line, separators=(",", ":")) + "\n")


def compare(options):
    tokenizer, rng = reference(), random.Random(options.seed)
    texts = TRICKY + [random_text(rng) for _ in range(options.count)]
    texts += [before + chr(code) + after for code in range(1, 0x3000) for before, after in (("", ""), ("a", "b"))]
    command = [options.adjudge, "tokenize", "--model", options.model, "--special"]
    lines = "".join(json.dumps(text) + "\n" for text in texts)
    found = subprocess.run(command, input=lines, capture_output=True, text=True, check=True).stdout.split("\n")
    wrong = 0
    for text, line in zip(texts, found, strict=False):
        ours = json.loads(line)
        ours = ours["ids"] if isinstance(ours, dict) else ours
        if ours != plain(tokenizer, text):
            wrong += 1
            if wrong <= 10:
                print(json.dumps(text), "ours", ours, "theirs", plain(tokenizer, text))
    print(f"{len(texts)} texts, {wrong} differ")
    sys.exit(1 if wrong else 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["cut", "record", "compare"])
    parser.add_argument("--adjudge")
    parser.add_argument("--model")
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    {"cut": cut, "record": record, "compare": lambda: compare(options)}[options.what]()


main()
