#!/usr/bin/env python3
"""What rounding does to answers: every precision against f32, on one model and published requests.

    accuracy.py --adjudge build/adjudge --model MODEL.gguf [--requests bench/accuracy_requests.jsonl]
                [--precisions bf16 int8 auto] [--json FILE]

A request's difference is the largest of a probability of its answers. Printed, as a table for docs/performance.md: the
median, the 95th percentile and the maximum of the differences, and how many best options changed where the two most
probable ones were more than 0.1 apart in f32; first, how many top probabilities lay between 0.3 and 0.8 in f32.
"""
import argparse
import json
import math
import statistics
import subprocess
from pathlib import Path

REQUESTS = Path(__file__).resolve().parent / "accuracy_requests.jsonl"
MARGIN = 0.1  # below it, another best option is a coin's matter
UNDECIDED = (0.3, 0.8)


def answer_all(flags, precision):
    """Per request, the probabilities of every answer."""
    isa = ["--isa", flags.isa] if flags.isa else []
    done = subprocess.run([flags.adjudge, "decide", "--model", flags.model, "--precision", precision, "--threads",
                           str(flags.threads), "--lines", *isa, str(flags.requests)], capture_output=True, text=True, check=True)
    return [[probabilities_of(answer) for answer in json.loads(line)["answers"].values()] for line in done.stdout.splitlines()]


def probabilities_of(answer):
    if "noul" in answer:
        return [answer["noul"], 1 - answer["noul"]]
    return list(answer["probabilities"].values())


def is_undecided(answers):
    return any(UNDECIDED[0] <= max(answer) <= UNDECIDED[1] for answer in answers)


def difference(exact, rounded):
    return max(abs(a - b) for one, other in zip(exact, rounded) for a, b in zip(one, other))


def changed_count(exact, rounded):
    """Answers whose best option was clear and is another one now."""
    count = 0
    for one, other in zip(exact, rounded):
        second, first = sorted(one)[-2:] if len(one) > 1 else (0, one[0])
        count += first - second > MARGIN and one.index(max(one)) != other.index(max(other))
    return count


def percentile(values, share):
    """The smallest value that at least this share of the values does not exceed."""
    return sorted(values)[math.ceil(share * len(values)) - 1]


def compare(exact, rounded, precision):
    differences = [difference(one, other) for one, other in zip(exact, rounded)]
    return {"precision": precision, "median": statistics.median(differences), "p95": percentile(differences, 0.95),
            "maximum": max(differences), "worst_request": differences.index(max(differences)) + 1,
            "clear_changes": sum(map(changed_count, exact, rounded))}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--adjudge", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--requests", type=Path, default=REQUESTS)
    parser.add_argument("--precisions", nargs="+", default=["bf16", "int8", "auto"])
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--isa", default="")
    parser.add_argument("--json", metavar="FILE")
    flags = parser.parse_args()
    exact = answer_all(flags, "f32")
    undecided = sum(map(is_undecided, exact))
    print(f"{len(exact)} requests, {undecided} with a top probability between {UNDECIDED[0]} and {UNDECIDED[1]} in f32\n")
    print("| against f32 | median | 95th percentile | maximum | clear best options changed |")
    print("|---|---:|---:|---:|---:|")
    rows = []
    for precision in flags.precisions:
        row = compare(exact, answer_all(flags, precision), precision)
        rows.append(row)
        print(f"| {precision} | {row['median']:.4f} | {row['p95']:.4f} | {row['maximum']:.4f} | {row['clear_changes']} |", flush=True)
    if flags.json:
        report = {"model": Path(flags.model).name, "requests": len(exact), "undecided": undecided, "rows": rows}
        Path(flags.json).write_text(json.dumps(report, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
