#!/usr/bin/env python3
"""Races adjudge against its peers: the same file, the same requests, in turn, in the same minute.

    race.py requests --adjudge build/adjudge --llama BIN [--ik BIN] --model MODEL.gguf [--case NAME ...]
    race.py prompt   ... [--length 265]       prompt processing alone, against the peers' llama-bench
    race.py lengths  ...                      time per token at 1,000 and at 8,000 tokens
    race.py busy     ...                      the same with a busy process on every core, against idle
    race.py start    ...                      from process start to the first answer, without its evaluation

BIN is a folder that holds a peer's llama-server and llama-bench (llama.cpp, ik_llama.cpp). Decision files are asked over
POST /v1/systemone. Where a peer does not answer that (a chat model; ik_llama.cpp), it gets the very token ids of our
prompts at /completion, with one token to predict. Every round asks every side once, in another order each round, about
a state not seen before, or, in a follow-up case, one seen just before with other questions. Printed: each side's median,
its ratio to ours, processor time, and the largest difference of a probability to ours.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

from peers import Model, Server, adjudge_command, make_sides, own_rate, peer_command, peer_rate

WORDS = ("order refund invoice parcel card payment address customer delivery window camera screen update account password "
         "contract offer meeting weather garden teacher bridge market engine winter silver paper orange").split()


# Asked of ours before the rounds: room for kept states is found bit by bit, until it is full. The peers take theirs when
# they start.
WARM_REQUESTS = 32
# Between two asks: the workers of whoever answered last may spin for a while.
REST_SECONDS = 0.2


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


def one(seed):
    return {"team": choice(4, seed)}


def three(seed):
    return {"team": choice(4, seed), "refund": noul(seed),
            "urgency": {"type": "score", "instructions": f"How urgent is matter {seed}?",
                        "criteria": ["can wait", "this week", "today"]}}


def eight(seed):
    return {f"q{i}": (choice(4, seed + i) if i % 2 else noul(seed + i)) for i in range(8)}


# name: (words of the state, questions, asked before about the same state)
CASES = {
    "short": (15, one, None),
    "one": (200, one, None),
    "three": (190, three, None),
    "eight": (350, eight, None),
    "follow-up": (190, lambda seed: three(seed + 1000), three),
    "sixty-options": (190, lambda seed: {"topic": choice(60, seed)}, None),
    "fifty-options": (190, lambda seed: {"topic": choice(50, seed)}, None),  # of families with letters
}


def default_cases(model):
    if model.is_chat:
        return ["one"]
    if not model.causal:
        return ["short", "three"]
    return ["three", "eight", "follow-up", "fifty-options" if model.family == "openjev" else "sixty-options"]


def request(name, seed):
    """(the request, what is asked before it or None). No two cases share a state."""
    word_count, questions, before = CASES[name]
    seed += 100_003 * list(CASES).index(name)
    body = {"state": state_of(word_count, seed), "questions": questions(seed)}
    return body, before and {"state": body["state"], "questions": before(seed)}


def rotated(items, turn):
    turn %= len(items)
    return items[turn:] + items[:turn]


def median_ms(seconds):
    return statistics.median(seconds) * 1e3


class Times:
    """What one side took in one case."""

    def __init__(self):
        self.seconds, self.processor_seconds, self.difference = [], [], None


def ask_all(sides, body, times, keep, turn):
    """One round; returns every side's answer."""
    answers = {}
    for side in rotated(sides, turn):
        time.sleep(REST_SECONDS)
        before = side.server.processor_seconds()
        seconds, answers[side.name] = side.answer(body)
        if keep:
            times[side.name].seconds.append(seconds)
            times[side.name].processor_seconds.append(side.server.processor_seconds() - before)
    return answers


def warm_up(side, seed):
    for turn in range(WARM_REQUESTS):
        side.answer({"state": state_of(190, seed + 1_000_003 * (turn + 1)), "questions": one(seed)})


def note_differences(sides, body, answers, times):
    ours = sides[0].probabilities(body, answers[sides[0].name])
    for side in sides[1:]:
        theirs = side.probabilities(body, answers[side.name])
        if len(theirs) == len(ours):
            largest = max(abs(a - b) for a, b in zip(ours, theirs))
            times[side.name].difference = max(largest, times[side.name].difference or 0)


def rows_of(case, tokens, sides, times):
    ours = median_ms(times[sides[0].name].seconds)
    for side in sides:
        own = times[side.name]
        yield {"case": case, "side": side.name, "tokens": tokens, "median_ms": median_ms(own.seconds),
               "processor_ms": median_ms(own.processor_seconds), "ratio": median_ms(own.seconds) / ours,
               "difference": own.difference}


def race_requests(flags):
    model = Model(flags.adjudge, flags.model)
    sides = make_sides(flags, model)
    try:
        warm_up(sides[0], flags.seed)
        for name in flags.case or default_cases(model):
            times = {side.name: Times() for side in sides}
            for turn in range(flags.rounds + 1):  # the first warms everybody up
                body, before = request(name, flags.seed + 7 * turn)
                if before:
                    ask_all(sides, before, times, False, turn)
                answers = ask_all(sides, body, times, turn > 0, turn)
                note_differences(sides, body, answers, times)
            tokens = answers[sides[0].name]["usage"]["input_tokens"]
            yield from rows_of(name, tokens, sides, times)
    finally:
        for side in sides:
            side.close()


def race_busy(flags):
    """Idle and busy rounds in turn; the ratio is each side's own, busy to idle."""
    sides = make_sides(flags, Model(flags.adjudge, flags.model))
    try:
        times = {kind: {side.name: Times() for side in sides} for kind in ("idle", "busy")}
        for turn in range(flags.rounds + 1):
            for kind in ("idle", "busy"):
                loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"])
                         for _ in range(flags.threads if kind == "busy" else 0)]
                time.sleep(0.3)
                try:
                    body, _ = request("three", flags.seed + 1000 * (kind == "busy") + 7 * turn)
                    ask_all(sides, body, times[kind], turn > 0, turn)
                finally:
                    for loop in loops:
                        loop.kill()
                        loop.wait()
    finally:
        for side in sides:
            side.close()
    for side in sides:
        idle, busy = (median_ms(times[kind][side.name].seconds) for kind in ("idle", "busy"))
        yield {"case": "busy", "side": side.name, "idle_ms": idle, "median_ms": busy, "ratio": busy / idle}


def bench_programs(flags, precisions):
    """(name, function of a length that returns tokens per second or None)"""
    for precision in precisions:
        yield f"adjudge {precision}", lambda length, p=precision: own_rate(flags, length, p)
    if flags.llama:
        program = os.path.join(flags.llama, "llama-bench")
        yield "llama", lambda length: peer_rate(program, flags, length)
    if flags.ik:
        own = os.path.join(flags.ik, "llama-bench")
        yield "ik", lambda length: peer_rate(own, flags, length)
        yield "ik -rtr", lambda length: peer_rate(own, flags, length, "-rtr", "1")


def measure_rates(programs, length, rounds):
    """{name: median tokens per second} of those that open the file."""
    rates = {name: [] for name, _ in programs}
    for turn in range(rounds):
        for name, rate_of in rotated(programs, turn):
            rates[name].append(rate_of(length))
    return {name: statistics.median(found) for name, found in rates.items() if None not in found}


def race_prompt(flags):
    programs = list(bench_programs(flags, flags.precisions))
    rates = measure_rates(programs, flags.length, flags.rounds)
    ours = rates[programs[0][0]]
    for name, _ in programs:
        row = {"case": f"prompt-{flags.length}", "side": name}
        if name in rates:
            row |= {"tokens_per_second": rates[name], "median_ms": flags.length * 1e3 / rates[name],
                    "ratio": ours / rates[name]}
        else:
            row["refused"] = "does not open the file"
        yield row


def race_lengths(flags):
    """The ratio is each side's own: time per token, long to short."""
    short, long = 1000, 8000
    programs = list(bench_programs(flags, [flags.precision]))
    rates = {length: measure_rates(programs, length, flags.rounds) for length in (short, long)}
    for name, _ in programs:
        if name in rates[short] and name in rates[long]:
            yield {"case": f"{short} to {long}", "side": name, "short_tokens_per_second": rates[short][name],
                   "tokens_per_second": rates[long][name], "ratio": rates[short][name] / rates[long][name]}


def start_once(command, ask):
    """Seconds from process start to the first answer, beyond what the same takes once everything runs."""
    begin = time.perf_counter()
    server = Server(command)
    try:
        path, bodies = ask
        server.wait_until_ready(path, bodies[0])
        first = time.perf_counter() - begin
        return first, statistics.median(server.ask(path, body)[0] for body in bodies[1:])
    finally:
        server.close()


def decide_once(flags, body):
    begin = time.perf_counter()
    subprocess.run([flags.adjudge, "decide", "--model", flags.model, "--threads", str(flags.threads), "--precision",
                    flags.precision, "-"], input=json.dumps(body), text=True, capture_output=True, check=True)
    return time.perf_counter() - begin


def race_start(flags):
    model = Model(flags.adjudge, flags.model)
    name = default_cases(model)[0]
    beyond, evaluation = {}, {}

    def note(side, first, evaluated):
        beyond.setdefault(side, []).append(first - evaluated)
        evaluation.setdefault(side, []).append(evaluated)

    for turn in range(flags.rounds):
        bodies = [request(name, flags.seed + 100 * turn + i)[0] for i in range(4)]
        first, evaluated = start_once(adjudge_command(flags), ("/v1/systemone", bodies))
        note("adjudge serve", first, evaluated)
        note("adjudge decide", decide_once(flags, bodies[0]), evaluated)
        if flags.llama:
            path = "/v1/systemone"
            if model.is_chat:
                path = "/completion"
                bodies = [{"prompt": model.explain(body)["prompts"][0]["ids"], "n_predict": 1, "cache_prompt": False}
                          for body in bodies]
            command = peer_command(os.path.join(flags.llama, "llama-server"), flags, 1, 2048 if model.causal else 4096)
            note("llama", *start_once(command, (path, bodies)))
    for side, seconds in beyond.items():
        yield {"case": "start", "side": side, "evaluation_ms": median_ms(evaluation[side]), "median_ms": median_ms(seconds),
               "ratio": statistics.median(seconds) / statistics.median(beyond["adjudge decide"])}


RACES = {"requests": race_requests, "prompt": race_prompt, "lengths": race_lengths, "busy": race_busy, "start": race_start}


def show(row):
    """One line: what every race has first, then what only some have."""
    head = f"{row['case']:14} {row['side']:16}"
    if "refused" in row:
        return f"{head} {row['refused']}"
    parts = [f"{head} ratio {row['ratio']:6.2f}"]
    for key, value in row.items():
        if key not in ("case", "side", "ratio") and value is not None:
            parts.append(f"{key} {value:.4f}" if key == "difference" else f"{key} {value:.1f}" if isinstance(value, float)
                         else f"{key} {value}")
    return "  ".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("race", choices=RACES)
    parser.add_argument("--adjudge", required=True, help="the built program")
    parser.add_argument("--model", required=True)
    parser.add_argument("--llama", metavar="BIN", help="folder of llama.cpp's programs")
    parser.add_argument("--ik", metavar="BIN", help="folder of ik_llama.cpp's programs")
    parser.add_argument("--case", action="append", choices=CASES, help="of the race requests (repeatable)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--slots", type=int, nargs="+", default=[4, 8], help="llama-server -np: one side each")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--precision", default="auto")
    parser.add_argument("--precisions", nargs="+", default=["auto"], help="ours, of the race prompt")
    parser.add_argument("--length", type=int, default=265, help="of the race prompt")
    parser.add_argument("--isa", default="")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", metavar="FILE")
    flags = parser.parse_args()
    rows = []
    for row in RACES[flags.race](flags):
        rows.append(row)
        print(show(row), flush=True)
    if flags.json:
        with open(flags.json, "w", encoding="utf-8") as file:
            json.dump({"race": flags.race, "model": os.path.basename(flags.model), "precision": flags.precision,
                       "rounds": flags.rounds, "rows": rows}, file, indent=1)


if __name__ == "__main__":
    main()
