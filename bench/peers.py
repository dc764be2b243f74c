"""Servers and measuring programs that are raced: how each is started, asked and timed. Knows no case."""
import json
import math
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request

START_SECONDS_MAX = 300
TICKS = os.sysconf("SC_CLK_TCK")


class Server:
    """A server on a free port of this machine; `command` makes its command line from the port."""

    def __init__(self, command):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.command = command(self.port)
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def wait_until_ready(self, path="/health", body=None):
        """Asks until the answer is one; returns it."""
        end = time.monotonic() + START_SECONDS_MAX
        while time.monotonic() < end:
            try:
                return self.ask(path, body)[1]
            except (OSError, urllib.error.HTTPError):
                if self.process.poll() is not None:
                    break
                time.sleep(0.005)
        self.close()
        raise SystemExit("a server did not become ready: " + " ".join(self.command))

    def ask(self, path, body=None):
        """(seconds, decoded answer)"""
        content = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", content,
                                         {"Content-Type": "application/json"})
        begin = time.perf_counter()
        with urllib.request.urlopen(request, timeout=600) as answer:
            text = answer.read()
        return time.perf_counter() - begin, json.loads(text or "null")

    def processor_seconds(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="utf-8") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def close(self):
        self.process.terminate()
        self.process.wait()


class Model:
    """What `adjudge inspect` and `explain` say of a file."""

    def __init__(self, adjudge, path):
        self.adjudge, self.path = adjudge, path
        described = self.run("inspect", path)
        self.family = described["family"]["name"]
        self.readout = described["family"]["readout"]
        self.causal = described["backbone"]["causal"]
        self.name = os.path.basename(path)

    def run(self, *arguments, text=None):
        done = subprocess.run([self.adjudge, *arguments], input=text, capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    @property
    def is_chat(self):
        return self.family == "chat"

    def explain(self, body):
        return self.run("explain", "--model", self.path, "-", text=json.dumps(body))


class DecisionSide:
    """Answers the request itself."""

    def __init__(self, name, command, ready_path="/health"):
        self.name = name
        self.server = Server(command)
        self.server.wait_until_ready(ready_path)

    def answer(self, body):
        return self.server.ask("/v1/systemone", body)

    def probabilities(self, body, answer):
        del body
        return list(numbers_of(answer["answers"]))

    def close(self):
        self.server.close()


class CompletionSide:
    """Gets the very token ids of our prompts, one question after the other, and predicts one token."""

    def __init__(self, name, command, model, keeps_prompts):
        self.name, self.model, self.keeps_prompts = name, model, keeps_prompts
        self.server = Server(command)
        self.server.wait_until_ready()

    def complete(self, ids, **more):
        return self.server.ask("/completion", {"prompt": ids, "n_predict": 1, "temperature": 0,
                                               "cache_prompt": self.keeps_prompts, **more})

    def answer(self, body):
        explained = self.model.explain(body)
        return sum(self.complete(prompt["ids"])[0] for prompt in explained["prompts"]), explained

    def probabilities(self, body, answer):
        """Of the labels, from the most probable tokens; nothing if one is not among them."""
        found = []
        for reading, question in zip(answer["readings"], body["questions"].values()):
            ids = answer["prompts"][reading["prompt"]]["ids"]
            logits = label_logits(self.complete(ids, n_probs=500)[1], len(reading["option_of"]))
            if logits is None:
                return []
            by_option = dict(zip(reading["option_of"], softmax(logits, reading["temperature"])))
            in_order = [by_option[option] for option in sorted(by_option)]
            found += in_order if question["type"] != "noul" else [in_order[1]]
        return found

    def close(self):
        self.server.close()


def softmax(logits, temperature):
    powers = [math.exp((logit - max(logits)) / temperature) for logit in logits]
    return [power / sum(powers) for power in powers]


def label_logits(completion, count):
    """Logarithms of the probabilities of the tokens A, B, C ..., or None."""
    first = completion.get("completion_probabilities", [{}])[0]
    logits = {}
    for token in first.get("top_logprobs", []):
        logits.setdefault(token["token"], token["logprob"])
    for token in first.get("probs", []):  # as older servers say it
        logits.setdefault(token["tok_str"], math.log(max(token["prob"], 1e-30)))
    labels = [chr(ord("A") + i) for i in range(count)]
    return [logits[label] for label in labels] if all(label in logits for label in labels) else None


def numbers_of(answers):
    for answer in answers.values():
        yield from answer.get("probabilities", {}).values()
        if "noul" in answer:
            yield answer["noul"]


def adjudge_command(flags):
    isa = ["--isa", flags.isa] if flags.isa else []
    return lambda port: [flags.adjudge, "serve", "--model", flags.model, "--port", str(port), "--threads",
                         str(flags.threads), "--precision", flags.precision, *isa]


def peer_command(program, flags, slots, batch, *more):
    return lambda port: [program, "-m", flags.model, "--host", "127.0.0.1", "--port", str(port), "-t",
                         str(flags.threads), "-c", "32768", "-b", str(batch), "-ub", str(batch), "-np", str(slots), *more]


def make_sides(flags, model):
    """Ours first, then every peer that can answer the file."""
    batch = 2048 if model.causal else 4096
    sides = [DecisionSide("adjudge", adjudge_command(flags), "/ready")]
    if flags.llama:
        program = os.path.join(flags.llama, "llama-server")
        for slots in [1] if model.is_chat else flags.slots:
            command = peer_command(program, flags, slots, batch)
            name = f"llama -np {slots}"
            sides.append(CompletionSide(name, command, model, False) if model.is_chat else DecisionSide(name, command))
    if flags.ik and model.causal and model.readout == "label":
        program = os.path.join(flags.ik, "llama-server")
        for name, more in (("ik", []), ("ik -rtr", ["-rtr"])):
            sides.append(CompletionSide(name, peer_command(program, flags, 1, batch, *more), model, not model.is_chat))
    return sides


# Prompt processing: programs that load a file, evaluate so many tokens some times, and end.

def own_rate(flags, length, precision):
    """Tokens per second."""
    isa = ["--isa", flags.isa] if flags.isa else []
    done = subprocess.run([flags.adjudge, "bench", "--model", flags.model, "--threads", str(flags.threads), "--precision",
                           precision, "--case", "prefill", "--lengths", str(length), "--rounds", "3", "--json", *isa],
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["cases"][0]["tokens_per_second"]


def peer_rate(program, flags, length, *more):
    """Tokens per second, or None when the program does not open the file."""
    done = subprocess.run([program, "-m", flags.model, "-t", str(flags.threads), "-p", str(length), "-n", "0", "-r", "3", "-o",
                           "json", *more], capture_output=True, text=True, check=False)
    try:
        rates = json.loads(done.stdout[done.stdout.index("[\n"):])[0]["samples_ts"]
    except (ValueError, IndexError, KeyError):
        return None
    return sorted(rates)[len(rates) // 2]
