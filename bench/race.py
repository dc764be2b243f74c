#!/usr/bin/env python3
"""Races adjudge against llama-server: the same file, the same requests, in turn, in the same minute.

    race.py --adjudge build/adjudge --llama-server llama-server --model MODEL.gguf [--case NAME ...] [--rounds 5]
            [--slots 4] [--isa LEVEL] [--precision MODE] [--threads 2] [--json FILE]

Decision files are asked over POST /v1/systemone on both sides. A chat model, which llama-server does not answer there, is
asked one question on our side and, on theirs, gets the very token ids of our prompt at /completion with one token to predict.
Every round asks both sides once, each time about a state not seen before (or, in a follow-up case, one seen just before with
other questions). Printed: the median of each side, their ratio, and the largest difference of an answer's probabilities.
"""
import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.request

WORDS = ("order refund invoice parcel card payment address customer delivery window camera screen update account password "
         "contract offer meeting weather garden teacher bridge market engine winter silver paper orange").split()


def state_of(word_count, seed):
    """A text nobody has seen: words in an order the seed decides."""
    words, value = [], seed * 2654435761 + 12345
    for _ in range(word_count):
        value = (value * 6364136223846793005 + 1442695040888963407) % 2**64
        words.append(WORDS[(value >> 40) % len(WORDS)])
    return " ".join(words).capitalize() + "."


def choice(count, seed=0):
    return {"type": "choice", "instructions": f"Which topic number {seed} fits best?",
            "criteria": {f"{WORDS[i % len(WORDS)]}{i}": None for i in range(count)}}


def noul(seed):
    return {"type": "noul", "instructions": f"Is statement number {seed} about money true?"}


def three(seed):
    return {"team": choice(4, seed), "refund": noul(seed),
            "urgency": {"type": "score", "instructions": f"How urgent is matter {seed}?",
                        "criteria": ["can wait", "this week", "today"]}}


def eight(seed):
    return {f"q{i}": (choice(4, seed + i) if i % 2 else noul(seed + i)) for i in range(8)}


# name: (words of the state, questions, asked before about the same state)
CASES = {
    "three": (150, three, None),
    "eight": (290, eight, None),
    "follow-up": (150, lambda seed: three(seed + 1000), three),
    "sixty-options": (150, lambda seed: {"topic": choice(60, seed)}, None),
    "one": (200, lambda seed: {"team": choice(4, seed)}, None),
}


class Server:
    def __init__(self, command, log):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.process = subprocess.Popen(command(self.port), stdout=log, stderr=log)
        for _ in range(1200):
            try:
                self.get("/health")
                return
            except (OSError, urllib.error.HTTPError):
                if self.process.poll() is not None:
                    raise SystemExit("a server ended before it was ready: " + " ".join(command(self.port)))
                time.sleep(0.25)
        raise SystemExit("a server did not become ready")

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=5) as answer:
            return answer.read()

    def post(self, path, body):
        """(seconds, decoded answer)"""
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", json.dumps(body).encode(),
                                         {"Content-Type": "application/json"})
        begin = time.perf_counter()
        with urllib.request.urlopen(request, timeout=600) as answer:
            content = answer.read()
        return time.perf_counter() - begin, json.loads(content)

    def close(self):
        self.process.terminate()
        self.process.wait()


def numbers_of(answers):
    for answer in answers.values():
        yield from answer.get("probabilities", {}).values()
        if "noul" in answer:
            yield answer["noul"]


def difference(ours, theirs):
    return max(abs(a - b) for a, b in zip(numbers_of(ours["answers"]), numbers_of(theirs["answers"])))


def is_decision_file(flags):
    described = subprocess.run([flags.adjudge, "inspect", flags.model], capture_output=True, text=True, check=True).stdout
    return json.loads(described)["family"]["name"] != "chat"


def prompt_ids(flags, body):
    explained = subprocess.run([flags.adjudge, "explain", "--model", flags.model, "-"], input=json.dumps(body),
                               capture_output=True, text=True, check=True).stdout
    return [prompt["ids"] for prompt in json.loads(explained)["prompts"]]


def race(flags, name, adjudge, llama, decision_file):
    word_count, questions, before = CASES[name]
    ours, theirs, worst = [], [], 0.0
    for round_index in range(flags.rounds + 1):  # the first warms both up
        seed = round_index * 7 + flags.seed
        body = {"state": state_of(word_count, seed), "questions": questions(seed)}
        if before:
            earlier = {"state": body["state"], "questions": before(seed)}
            adjudge.post("/v1/systemone", earlier)
            if decision_file:
                llama.post("/v1/systemone", earlier)
        our_seconds, our_answer = adjudge.post("/v1/systemone", body)
        if decision_file:
            their_seconds, their_answer = llama.post("/v1/systemone", body)
            agreement = difference(our_answer, their_answer)
        else:
            their_seconds = sum(llama.post("/completion", {"prompt": ids, "n_predict": 1, "cache_prompt": False})[0]
                                for ids in prompt_ids(flags, body))
            agreement = float("nan")
        if round_index:
            ours.append(our_seconds)
            theirs.append(their_seconds)
            worst = max(worst, agreement) if agreement == agreement else agreement
    tokens = our_answer["usage"]["input_tokens"]
    result = {"case": name, "tokens": tokens, "adjudge_ms": statistics.median(ours) * 1e3,
              "llama_ms": statistics.median(theirs) * 1e3, "difference": worst}
    result["ratio"] = result["llama_ms"] / result["adjudge_ms"]
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--adjudge", required=True)
    parser.add_argument("--llama-server", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--case", action="append", choices=CASES)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--slots", type=int, default=4)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--precision", default="auto")
    parser.add_argument("--isa", default="")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json")
    flags = parser.parse_args()
    decision_file = is_decision_file(flags)
    names = flags.case or (list(CASES)[:4] if decision_file else ["one"])

    log = open(os.devnull, "w")
    adjudge = Server(lambda port: [flags.adjudge, "serve", "--model", flags.model, "--port", str(port), "--threads",
                                   str(flags.threads), "--precision", flags.precision]
                     + (["--isa", flags.isa] if flags.isa else []), log)
    try:
        llama = Server(lambda port: [flags.llama_server, "-m", flags.model, "--host", "127.0.0.1", "--port", str(port),
                                     "-t", str(flags.threads), "-c", "32768", "-b", "2048", "-ub", "2048", "-np",
                                     str(flags.slots)], log)
        try:
            results = []
            print(f"{'case':14} {'tokens':>6} {'adjudge ms':>11} {'llama ms':>9} {'ratio':>6}  difference")
            for name in names:
                result = race(flags, name, adjudge, llama, decision_file)
                results.append(result)
                print(f"{name:14} {result['tokens']:6} {result['adjudge_ms']:11.1f} {result['llama_ms']:9.1f} "
                      f"{result['ratio']:6.2f}  {result['difference']:.4f}", flush=True)
        finally:
            llama.close()
    finally:
        adjudge.close()
    if flags.json:
        with open(flags.json, "w", encoding="utf-8") as file:
            json.dump({"model": os.path.basename(flags.model), "precision": flags.precision, "slots": flags.slots,
                       "rounds": flags.rounds, "results": results}, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
