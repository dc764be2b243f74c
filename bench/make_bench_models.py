#!/usr/bin/env python3
"""Writes decision models of real sizes with random weights, to measure speed on: their answers mean nothing.

    pip install -r tests/tiny/requirements.txt
    bench/make_bench_models.py --vocabulary FILE.gguf --out FOLDER --model openjev-0.8b --type q8_0
    bench/make_bench_models.py --trunk kev-0.8b-q8_0.gguf --out FOLDER --model openjev-0.8b --type q8_0

kev-0.8b      qwen35, 18 gated delta nets and 6 full attentions of width 1024, pointer head
openjev-0.8b  the same trunk, read at its letters, so that nobody's head counts in a race
laya-144m     modern-bert, 22 layers of width 384 and 2 head blocks, 256,000 rows

The vocabulary is taken from any GGUF file that has Qwen's, such as the default model. With --trunk the weights are
those of a kev file that is there already (name its --type too): only its head is left out.
"""
import argparse
import sys
import zlib
from pathlib import Path

import gguf
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "tiny"))
import make_models as tiny  # noqa: E402

TRUNK = dict(n_embd=1024, layers="RRRF" * 6, interval=4, S=128, kh=16, vh=16, heads=8, kv=2, hd=256, ff=3584, tied=True,
             logit=1.1, mix=0.3, sharp=1.0)
ENCODER = dict(n_embd=384, heads=6, enc=22, dec=2, ff=1152, ff_head=1536, mix=0.3, sharp=1.0)
ENCODER_ROWS = 256000
# What the prompts of the families hold beside text. Files that lack one lend the place of a padding token.
SPECIAL = ("<|im_start|>", "<|im_end|>", "<think>", "</think>", "<|box_start|>", "<|box_end|>", "<|fim_prefix|>",
           "<|fim_middle|>", "<|fim_suffix|>")
PART = 1 << 24  # weights that are drawn and quantised at a time, to bound memory


class BigModel(tiny.Model):
    """Draws quickly, and quantises big matrices part by part."""

    def rnd(self, name, shape, std, mean=0.0):
        source = np.random.Generator(np.random.PCG64(zlib.crc32(f"{self.seed}/{name}".encode())))
        values = source.standard_normal(int(np.prod(shape)), dtype=np.float32)
        return (values * np.float32(std) + np.float32(mean)).reshape(shape)

    def put(self, name, data):
        kind = self.qtype(name, data.shape)
        encode = {tiny.Q.Q4_K: tiny.quantize_q4_k, tiny.Q.Q6_K: tiny.quantize_q6_k}.get(
            kind, lambda part: tiny.gguf_quantize(part, kind))
        if data.size <= PART or kind in (tiny.Q.F32, tiny.Q.F16):
            super().put(name, data)
            return
        parts = np.array_split(data, -(-data.size // PART))
        self.w.add_tensor(name, np.concatenate([encode(part) for part in parts]), raw_dtype=kind)
        self.n_params += data.size


def texts_of(reader, key):
    field = reader.fields[key]
    return [bytes(field.parts[index]).decode() for index in field.data]


def qwen_vocabulary(path):
    reader = gguf.GGUFReader(path)
    tokens = texts_of(reader, "tokenizer.ggml.tokens")
    kinds = reader.fields["tokenizer.ggml.token_type"]
    types = [int(kinds.parts[index][0]) for index in kinds.data]
    padding = [i for i, token in enumerate(tokens) if token.startswith("[PAD") or types[i] == tiny.UNUSED]
    for text in SPECIAL:
        if text not in tokens:
            place = padding.pop(0)
            tokens[place], types[place] = text, tiny.CONTROL
    return {"tokens": tokens, "types": types, "merges": texts_of(reader, "tokenizer.ggml.merges"),
            "kv": {"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "qwen35"},
            "ids": {"eos": tokens.index("<|im_end|>"), "padding": tokens.index("<|endoftext|>")},
            "flags": {"add_bos_token": False}}


def encoder_vocabulary():
    vocabulary = tiny.modern_bert_vocab()
    missing = ENCODER_ROWS - len(vocabulary["tokens"])
    vocabulary["tokens"] += [f"[filler{i}]" for i in range(missing)]
    vocabulary["types"] += [tiny.UNUSED] * missing
    return vocabulary


def make(flags, path):
    encoder = flags.model == "laya-144m"
    model = BigModel(path, "modern-bert" if encoder else "qwen35", flags.model, flags.model, flags.type)
    if encoder:
        tiny.make_laya(model, ENCODER, vocab=encoder_vocabulary())
    else:
        tiny.qwen_vocab = lambda _: qwen_vocabulary(flags.vocabulary)
        {"kev-0.8b": tiny.make_kev, "openjev-0.8b": tiny.make_openjev}[flags.model](model, TRUNK)
    model.save()


def with_letters(trunk, path, name):
    """A label model of the weights of a pointer model."""
    reader = gguf.GGUFReader(trunk)
    architecture = reader.fields["general.architecture"].contents()
    writer = gguf.GGUFWriter(str(path), architecture)
    own = ("GGUF.", "general.architecture", "general.name", "tokenizer.chat_template", f"{architecture}.decision.",
           f"{architecture}.embedding_length_out")
    for key, field in reader.fields.items():
        if key.startswith(own):
            continue
        inner = field.types[1] if field.types[0] == gguf.GGUFValueType.ARRAY else None
        writer.add_key_value(key, field.contents(), field.types[0], inner)
    writer.add_string("general.name", name)
    template = tiny.HERE / "templates" / "openjev.jinja"
    writer.add_string("tokenizer.chat_template.systemone", template.read_bytes().decode())
    writer.add_array("tokenizer.chat_templates", ["systemone"])
    writer.add_string(f"{architecture}.decision.type", "openjev")
    for kind in ("choice", "score", "noul"):
        writer.add_float32(f"{architecture}.decision.temperature.{kind}", 1.0)
    for tensor in reader.tensors:
        if not tensor.name.startswith("cls."):
            writer.add_tensor(tensor.name, tensor.data, raw_dtype=tensor.tensor_type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--model", required=True, choices=["kev-0.8b", "openjev-0.8b", "laya-144m"])
    parser.add_argument("--type", default="q8_0", choices=["f32", "f16", "bf16", "q8_0", "q4_K"])
    parser.add_argument("--vocabulary", help="a GGUF file with Qwen's vocabulary")
    parser.add_argument("--trunk", help="a kev file, for openjev-0.8b")
    flags = parser.parse_args()
    if flags.model != "laya-144m" and not (flags.vocabulary or flags.trunk):
        parser.error("a Qwen shape needs --vocabulary or --trunk")
    flags.out.mkdir(parents=True, exist_ok=True)
    path = flags.out / f"{flags.model}-{flags.type}.gguf"
    if flags.trunk:
        with_letters(flags.trunk, path, flags.model)
    else:
        make(flags, path)
    print(f"{path}  {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
