#!/usr/bin/env python3
"""Compares the answers of a chat model with llama-server on the same weights.

    compare_chat.py ADJUDGE MODEL LLAMA_SERVER MODEL_F32 [--requests FILE] [--limit 0.005]

MODEL is any chat model; MODEL_F32 the same weights decoded to f32 (llama-quantize --allow-requantize MODEL OUT F32), so
that both sides compute in f32. adjudge's own prompt ids (from `adjudge explain --faithful`) are posted to llama-server's /completion, and
the probabilities of every surface form of a label are summed there. Prints the largest difference, how many
answers agree, and, where the requests carry `expected` answers, how many of adjudge's are right.
Exit status 1 when a difference is over the limit or the best answers differ where the margin is over 0.02.
"""
import argparse
import json
import pathlib
import socket
import subprocess
import sys
import time
import urllib.request

MARGIN = 0.02
TOP_COUNT = 4000  # next-token probabilities asked for; labels beyond them count as zero
YES = ["Yes", "yes", " Yes", " yes", "YES"]
NO = ["No", "no", " No", " no", "NO"]


def post(port, path, body):
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}", json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=600) as answer:
        return json.loads(answer.read())


class Peer:
    def __init__(self, server, model):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.process = subprocess.Popen(
            [server, "-m", model, "--host", "127.0.0.1", "--port", str(self.port), "-c", "2048", "-np", "1",
             "-ctk", "f32", "-ctv", "f32", "-fa", "off", "--no-warmup"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(600):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health", timeout=2):
                    return
            except OSError:
                if self.process.poll() is not None:
                    raise SystemExit("llama-server ended before it was ready")
                time.sleep(0.5)
        raise SystemExit("llama-server did not become ready")

    def close(self):
        self.process.terminate()
        self.process.wait()

    def single_token(self, text):
        ids = post(self.port, "/tokenize", {"content": text, "add_special": False, "parse_special": False})["tokens"]
        return ids[0] if len(ids) == 1 else None

    def next_token(self, ids):
        answer = post(self.port, "/completion", {
            "prompt": ids, "n_predict": 1, "n_probs": TOP_COUNT, "temperature": 0, "cache_prompt": False})
        entries = answer["completion_probabilities"][0]["top_logprobs"]
        return {entry["id"]: 2.718281828459045 ** entry["logprob"] for entry in entries}


def label_groups(peer, question, option_count):
    if question["type"] == "noul":
        surfaces = [NO, YES]
    else:
        letters = [chr(ord("A") + i) for i in range(option_count)]
        surfaces = [[letter, " " + letter] for letter in letters]
    return [{token for text in group if (token := peer.single_token(text)) is not None} for group in surfaces]


def ours(answer):
    if answer["type"] == "noul":
        return [1 - answer["noul"], answer["noul"]]
    return list(answer["probabilities"].values())


def is_right(answer, expected):
    if answer["type"] == "noul":
        return (answer["noul"] >= 0.5) == expected
    if answer["type"] == "choice":
        return answer["choice"] == expected
    return round(answer["score"]) == expected


def run(program, *arguments, text):
    return json.loads(subprocess.run([program, *arguments], input=text, capture_output=True, text=True, check=True).stdout)


def main():
    here = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser()
    for name in ("adjudge", "model", "llama_server", "model_f32"):
        parser.add_argument(name)
    parser.add_argument("--requests", default=here / "testdata/requests/labelled.jsonl")
    parser.add_argument("--limit", type=float, default=0.005)
    flags = parser.parse_args()
    lines = [json.loads(line) for line in open(flags.requests, encoding="utf-8")]

    peer = Peer(flags.llama_server, flags.model_f32)
    worst, flips, right, asked = 0.0, 0, {}, {}
    try:
        for line in lines:
            body = json.loads(line["body"])
            explained = run(flags.adjudge, "explain", "--model", flags.model, "-", text=line["body"])
            decided = run(flags.adjudge, "decide", "--model", flags.model, "--precision", "f32", "-", text=line["body"])
            for prompt in explained["prompts"]:
                question = body["questions"][prompt["question"]]
                answer = decided["answers"][prompt["question"]]
                mine = ours(answer)
                mass = peer.next_token(prompt["ids"])
                theirs = [sum(mass.get(token, 0.0) for token in group)
                          for group in label_groups(peer, question, len(mine))]
                total = sum(theirs)
                theirs = [p / total for p in theirs]
                difference = max(abs(a - b) for a, b in zip(mine, theirs))
                worst = max(worst, difference)
                best, second = sorted(theirs, reverse=True)[:2]
                if mine.index(max(mine)) != theirs.index(best) and best - second > MARGIN:
                    flips += 1
                kind = question["type"]
                expected = line.get("expected", {}).get(prompt["question"])
                if expected is not None:
                    asked[kind] = asked.get(kind, 0) + 1
                    right[kind] = right.get(kind, 0) + is_right(answer, expected)
                print(f"{difference:.2e}  {line['id']}.{prompt['question']}  label mass {total:.3f}", flush=True)
    finally:
        peer.close()
    for kind in asked:
        print(f"{kind}: {right[kind]} of {asked[kind]} as expected")
    print(f"{len(lines)} requests, largest difference {worst:.2e} (limit {flags.limit}), {flips} best answers differ")
    return 1 if worst > flags.limit or flips else 0


if __name__ == "__main__":
    sys.exit(main())
