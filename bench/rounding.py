#!/usr/bin/env python3
"""How far rounding moves answers of quantised files, ours beside the reference's own.

    rounding.py --adjudge build/adjudge [--models build/models] [--precision auto] [--json FILE]

testdata/golden holds, for tiny quantised models, what llama-server answers on the file (`response`) and on the same weights
decoded to f32 (`response_dequantised`). Per file and over all: the median distance of both to the latter, where a
request's distance is its largest difference of a probability, a noul or a score.
"""
import argparse
import json
import statistics
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXCEPTED = ("special_", "state_float", "state_numbers", "score_odd_levels")  # may differ on purpose: other prompts


def lines_by_model():
    models = {}
    for path in sorted((ROOT / "testdata" / "golden").glob("*.quant.jsonl")):
        for line in map(json.loads, path.read_text().splitlines()):
            if line["status"] == 200 and not line["id"].startswith(EXCEPTED):
                models.setdefault(line["model"], []).append(line)
    return models


def answer_all(flags, model, lines):
    bodies = "".join(json.dumps(json.loads(line["body"])) + "\n" for line in lines)
    done = subprocess.run([flags.adjudge, "decide", "--model", str(flags.models / f"{model}.gguf"), "--precision", flags.precision,
                           "--faithful", "--lines", "-"], input=bodies, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def numbers_of(response):
    for answer in response["answers"].values():
        yield from (value for _, value in sorted(answer.get("probabilities", {}).items()))  # some sort, some do not
        yield from (answer[key] for key in ("noul", "score") if key in answer)


def distance(response, exact):
    return max(abs(a - b) for a, b in zip(numbers_of(response), numbers_of(exact), strict=True))


def compare(name, ours, theirs):
    row = {"file": name, "requests": len(ours), "ours": statistics.median(ours), "reference": statistics.median(theirs)}
    row["ratio"] = row["ours"] / row["reference"]
    print(f"| {name} | {row['ours']:.4f} | {row['reference']:.4f} | {row['ratio']:.2f} |", flush=True)
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--adjudge", required=True)
    parser.add_argument("--models", type=Path, default=ROOT / "build" / "models")
    parser.add_argument("--precision", default="auto")
    parser.add_argument("--json", metavar="FILE")
    flags = parser.parse_args()
    print("| file | ours | reference | ratio |\n|---|---:|---:|---:|")
    rows, all_of_type = [], {}
    for model, lines in lines_by_model().items():
        exact = [line["response_dequantised"] for line in lines]
        ours = list(map(distance, answer_all(flags, model, lines), exact))
        theirs = list(map(distance, (line["response"] for line in lines), exact))
        rows.append(compare(model, ours, theirs))
        together = all_of_type.setdefault(model.rsplit("-", 1)[1], ([], []))
        together[0].extend(ours)
        together[1].extend(theirs)
    rows += [compare(f"all {kind}", *both) for kind, both in all_of_type.items()]
    if flags.json:
        Path(flags.json).write_text(json.dumps({"precision": flags.precision, "rows": rows}, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
