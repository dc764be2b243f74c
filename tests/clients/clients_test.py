"""Third-party clients and suites, unpatched, against the real program on every family's tiny model.

Skipped (77) where build/venv-clients is not there; scripts/test makes it.
"""
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import unittest
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "wire"))
from served import Served, arguments  # noqa: E402

SKIPPED = 77
OPTIONS = None
KEY = "key-of-the-client-tests"
# These families show a question its company, as they were trained.
SHOW_ALL = ("nimble", "clef")
LONG_TEXT = "The parcel came late and the box was open. " * 100  # over 1,024 bytes: packed


def models():
    return sorted(Path(OPTIONS.model).parent.glob("tiny-*-f32.gguf"))


def flags_of(model):
    return ["--questions", "alone"] if any(name in model.stem for name in SHOW_ALL) else []


def tool(name):
    return str(Path(sys.executable).parent / name)


class Clients(unittest.TestCase):
    def served(self, *flags, model=None):
        server = Served(OPTIONS.program, str(model or OPTIONS.model), *flags)
        self.addCleanup(server.end)
        return f"http://127.0.0.1:{server.port}"

    def conforms(self, url, should_count, *flags):
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            run = subprocess.run([tool("jevcompat"), "test", url, "--json", file.name, *flags],
                                 capture_output=True, text=True, timeout=300)
            self.assertEqual(run.returncode, 0, run.stdout[-3000:])
            self.assertIn(f"MUST 32/32, SHOULD {should_count}/{should_count}", run.stdout)

    def test_jevcompat_finds_nothing_on_any_family(self):
        for model in models():
            with self.subTest(model.stem):
                self.conforms(self.served(*flags_of(model), model=model), 13)

    def test_jevcompat_finds_nothing_with_a_key(self):
        self.conforms(self.served("--api-key", KEY), 15, "--key", KEY)

    def test_jevbench_sees_no_question_change_in_company(self):
        for model in models():
            with self.subTest(model.stem), tempfile.TemporaryDirectory() as folder:
                url = self.served(*flags_of(model), model=model)
                report = Path(folder) / "report.json"
                run = subprocess.run(
                    [tool("jevbench"), "eval", "--url", url + "/v1/systemone", "--model",
                     model.stem, "--suite", "examples", "--out", str(report)],
                    cwd=folder, capture_output=True, text=True, timeout=300)
                self.assertEqual(run.returncode, 0, run.stdout[-2000:] + run.stderr[-2000:])
                scores = json.loads(report.read_text())["scores"]
                self.assertEqual(scores["pillars"]["BAT"], 1.0)

    def test_schemathesis_finds_the_server_as_its_document_says(self):
        url = self.served()
        with urllib.request.urlopen(url + "/openapi.json", timeout=60) as answer:
            document = json.load(answer)
        for operations in document["paths"].values():
            for operation in operations.values():
                operation.pop("parameters", None)  # a deadline is met or not, as it comes
        for name in ("Request", "Batch", "OpenAIDecisions", "SGLangDecisions"):
            document["components"]["schemas"][name]["properties"]["model"]["enum"] = ["jev-latest"]
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "openapi.json").write_text(json.dumps(document))
            run = subprocess.run(
                [tool("schemathesis"), "--config-file", str(Path(__file__).parent / "schemathesis.toml"),
                 "run", "openapi.json", "--url", url, "--checks", "all", "--max-examples", "20",
                 "--seed", "1", "--no-color"],
                cwd=folder, capture_output=True, text=True, timeout=300)
        self.assertEqual(run.returncode, 0, run.stdout[-5000:] + run.stderr[-2000:])

    def test_the_typesafe_sdk_reads_every_answer(self):
        import typesafe_sdk as sdk
        url = self.served("--api-key", KEY)
        with sdk.TypeSafeClient(api_key=KEY, base_url=url, compression="zstd") as client:
            for text in ("late", LONG_TEXT):
                self.check_typesafe(client.system_one(text, typesafe_questions(sdk)))
            names = [model.name for model in client.models.list().models]
        self.assertIn("jev-latest", names)

    def test_the_typesafe_sdk_reads_every_answer_asynchronously(self):
        import typesafe_sdk as sdk
        url = self.served("--api-key", KEY)

        async def ask():
            client = sdk.AsyncTypeSafeClient(api_key=KEY, base_url=url, compression="zstd")
            response = await client.system_one(LONG_TEXT, typesafe_questions(sdk))
            await client.aclose()
            return response

        self.check_typesafe(asyncio.run(ask()))

    def check_typesafe(self, response):
        self.assertEqual(set(response.answers), {"team", "urgency", "refund"})
        self.assertTrue(response.request_id.startswith("req_"))
        self.assertEqual(response.usage.output_tokens, 0)

    def test_the_typesafe_sdk_names_every_fault(self):
        import typesafe_sdk as sdk
        once = sdk.RetryPolicy(max_retries=0)
        url = self.served("--api-key", KEY, "--model", str(models()[0]))

        def ask(key=KEY, state="s", **others):
            with sdk.TypeSafeClient(api_key=key, base_url=url, retry=once) as client:
                client.system_one(state, typesafe_questions(sdk), **others)

        with self.assertRaises(sdk.TypeSafeAuthenticationError):
            ask(key="wrong")
        with self.assertRaises(sdk.TypeSafeBadRequestError):
            ask(model="no-such-model")
        with self.assertRaises(sdk.TypeSafeUnprocessableEntityError):
            ask(extra_body={"x_orders": 0})

    def test_openais_client_reads_every_answer_strictly(self):
        import openai
        url = self.served("--api-key", KEY)
        with openai.OpenAI(api_key=KEY, base_url=url + "/v1",
                           _strict_response_validation=True) as client:
            decision = client.decisions.create(model="gpt-6-luna", input="It came late.", questions=[
                {"type": "predicate", "name": "late", "instructions": "It is late."},
                {"type": "choice", "instructions": "Which?",
                 "choices": [{"value": "a"}, {"value": True, "description": "b"}]},
                {"type": "score", "instructions": "How late?",
                 "levels": [{"label": "not"}, {"label": "very"}]}])
            self.assertEqual([answer.type for answer in decision.answers],
                             ["predicate", "choice", "score"])
            self.assertEqual(decision.answers[0].name, "late")
            self.assertEqual(decision.usage.total_tokens, decision.usage.input_tokens)
            self.assertEqual([model.id for model in client.models.list()], [OPTIONS.model_name])
            with self.assertRaises(openai.BadRequestError) as refused:
                client.decisions.create(model="m", input="x", questions=[
                    {"type": "choice", "instructions": "?", "choices": [{"value": "a"}]}])
            self.assertEqual(refused.exception.param, "questions[0].choices")
        with openai.OpenAI(api_key="wrong", base_url=url + "/v1") as client:
            with self.assertRaises(openai.AuthenticationError):
                client.models.list()


def typesafe_questions(sdk):
    return {"team": sdk.Choice(instructions="Which team?", criteria={"a": "A", "b": None}),
            "urgency": sdk.Score(instructions="How urgent?", criteria=["low", "high"]),
            "refund": sdk.Noul(instructions="A refund?")}


def run_in_venv():
    """Starts over under the Python that has the clients, or leaves as skipped."""
    build = Path(OPTIONS.program).parent
    python = build / "venv-clients" / "bin" / "python"
    if not python.exists():
        print(f"skipped: {python} is not there")
        sys.exit(SKIPPED)
    os.execv(python, [str(python), "-B", *sys.argv])


if __name__ == "__main__":
    OPTIONS = arguments()
    OPTIONS.model_name = Path(OPTIONS.model).stem
    try:
        import jevcompat  # noqa: F401
    except ImportError:
        run_in_venv()
    unittest.main(argv=[sys.argv[0]])
