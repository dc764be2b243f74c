"""The vocabulary of mmBERT, cut: what the tiny julia model and the comparison with PyPI `tokenizers` share."""
import json
from pathlib import Path

NORMAL, CONTROL, USER_DEFINED = 1, 3, 4      # tokenizer.ggml.token_type
HERE = Path(__file__).resolve().parent


def mmbert_vocab():
    """Metaspace BPE with byte fallback, laid out like mmBERT's: special tokens, runs of line feeds as user-defined
    tokens, runs of spaces as the converter writes them (normal, with visible spaces), bytes, then the pieces."""
    cut = json.loads((HERE / "vocab" / "mmbert.json").read_text(encoding="utf-8"))
    tokens = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>"]
    types = [CONTROL] * len(tokens)
    groups = [(["\n" * n for n in range(1, 5)], USER_DEFINED), (["\u2581" * n for n in range(2, 9)], NORMAL),
              ([f"<0x{byte:02X}>" for byte in range(256)], NORMAL), (cut["pieces"], NORMAL)]
    for texts, kind in groups:
        texts = [text for text in texts if text not in tokens]
        tokens += texts
        types += [kind] * len(texts)
    while len(tokens) % 64:
        tokens.append(f"<unused{len(tokens)}>")
        types.append(CONTROL)
    kv = {"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "mmbert"}
    ids = {"bos": 2, "eos": 1, "unknown": 3, "seperator": 1, "padding": 0, "cls": 2, "mask": 4}
    return dict(tokens=tokens, types=types, merges=cut["merges"], kv=kv, ids=ids,
                flags={"add_bos_token": True, "add_eos_token": True, "add_sep_token": True})
