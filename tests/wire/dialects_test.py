"""What families and dialects say differently. Over the real program."""
import json
import sys
import unittest
from pathlib import Path

from served import Served, arguments, request

OPTIONS = None
CHOICE = {"type": "choice", "instructions": "Which?", "criteria": {"a": None, "b": None}}
NOUL = {"type": "noul", "instructions": "Late?"}


class Dialects(unittest.TestCase):
    def served(self, model, *flags):
        server = Served(OPTIONS.program, str(Path(OPTIONS.model).parent / f"{model}.gguf"), *flags)
        self.addCleanup(lambda: server.process.poll() is None and server.end())
        return server

    def ask(self, server, body, path="/v1/systemone"):
        with server.connect() as peer:
            return peer.ask(request("POST", path, json.dumps(body)))

    def test_the_label_mass_is_the_mean_of_a_questions_readings(self):
        server = self.served("tiny-lev-f32")  # a choice is read in two orders
        body = {"state": "s", "x_label_mass": True, "questions": {"c": CHOICE, "n": NOUL}}
        together = self.ask(server, body).json()["answers"]
        swapped = {**CHOICE, "criteria": {"b": None, "a": None}}
        alone = self.ask(server, {**body, "questions": {"c": swapped}}).json()["answers"]
        for answer in together.values():
            self.assertTrue(0 < answer["x_label_mass"] < 1, answer)
        self.assertEqual(together["c"]["x_label_mass"], alone["c"]["x_label_mass"])

    def test_a_family_without_label_tokens_refuses_to_weigh_them(self):
        server = self.served("tiny-kev-f32")
        answer = self.ask(server, {"state": "s", "x_label_mass": True, "questions": {"n": NOUL}})
        self.assertEqual(answer.status, 422)
        self.assertEqual(answer.json()["detail"][0]["loc"], ["body", "x_label_mass"])
        self.assertEqual(answer.json()["detail"][0]["type"], "not_supported")

    def test_a_model_without_temperatures_is_told_to_be_uncalibrated(self):
        note = "no temperature is stored with this model; 1 is used"
        for model, calibrated in [("tiny-nimble-f32", False), ("tiny-lev-f32", True)]:
            server = self.served(model)
            for _ in range(2):
                with server.connect() as peer:
                    meta = peer.ask(request("GET", "/v1/models")).json()["data"][0]["meta"]
                self.assertIs(meta["calibrated"], calibrated)
                self.assertEqual(bool(meta["temperatures"]), calibrated)
                self.assertEqual(meta["notes"], [] if calibrated else [note])
                answer = self.ask(server, {"state": "s", "questions": {"n": NOUL}})
                self.assertEqual(answer.status, 200)
            self.assertEqual(server.end(), 0)
            warned = [line for line in server.logged.splitlines() if " warning " in line]
            self.assertEqual([line.partition(" warning ")[2] for line in warned],
                             [] if calibrated else [f"{model}: {note}"])

    def test_sglangs_answers_carry_a_label_mass_only_where_there_is_one(self):
        body = {"input": "s", "questions": [{"id": "y", "type": "yes_no", "question": "?"}]}
        for model, carried in [("tiny-kev-f32", False), ("tiny-openjev-qwen3-f32", True)]:
            answer = self.ask(self.served(model), body, "/v1/decisions")
            self.assertEqual(answer.status, 200)
            self.assertEqual("label_mass" in answer.json()["answers"]["y"], carried)

    # From here on: what llama.cpp's own tests of this wire found or hold, on a text model.

    def llama_status(self, server, body):
        answer = self.ask(server, body)
        self.assertEqual(list(answer.json()), ["error"])
        self.assertEqual(answer.json()["error"]["code"], answer.status)
        return answer.status

    def test_llama_server_blames_its_model_only_for_media_in_order(self):
        server = self.served("tiny-openjev-qwen3-f32", "--compat", "llama")
        picture = "data:image/png;base64,AA=="
        body = {"state": "s", "questions": {"n": NOUL}}
        part = {"type": "image_url", "image_url": {"url": picture}}
        messages = [{"role": "user", "content": [part, {"type": "text", "text": "s"}]}]
        for status, change in [
                (501, {"images": [picture]}), (501, {"files": [picture] * 8}),
                (501, {"state": messages}), (501, {"state": {"messages": messages}}),
                (400, {"images": [picture] * 9}), (400, {"images": ["https://example.com/a.png"]}),
                (400, {"images": {"a": picture}}), (400, {"videos": [picture]}),
                (400, {"images": [picture], "questions": {"n": {"type": "unknown"}}})]:
            with self.subTest(change):
                self.assertEqual(self.llama_status(server, {**body, **change}), status)
        for change in [{"images": []}, {"videos": None}, {"images": None, "files": []}]:
            self.assertEqual(self.ask(server, {**body, **change}).status, 200)

    def test_metrics_of_llama_servers_names(self):
        server = self.served("tiny-openjev-qwen3-f32")
        for _ in range(3):
            self.ask(server, {"state": "s", "questions": {"n": NOUL}})
        with server.connect() as peer:
            lines = peer.ask(request("GET", "/metrics")).body.decode().splitlines()
        metrics = dict(line.split() for line in lines if line.startswith("llamacpp:"))
        self.assertEqual(float(metrics["llamacpp:n_busy_slots_per_decode"]), 1)
        self.assertEqual(metrics["llamacpp:n_decode_total"], "3")
        self.assertEqual(metrics["llamacpp:requests_processing"], "0")
        self.assertEqual(metrics["llamacpp:requests_deferred"], "0")
        self.assertGreater(float(metrics["llamacpp:prompt_tokens_seconds"]), 0)

    def test_llama_server_counts_an_object_state_like_its_json_text(self):
        server = self.served("tiny-laya-f32", "--compat", "llama")
        noul = {**NOUL, "criteria": {"false": "no refund", "true": "a refund"}}
        answers = [self.ask(server, {"state": state, "questions": {"n": noul}}).json()
                   for state in ({"ticket": "late", "plan": "pro"},
                                 '{"ticket": "late", "plan": "pro"}')]
        self.assertEqual(answers[0], answers[1])


if __name__ == "__main__":
    OPTIONS = arguments()
    unittest.main(argv=[sys.argv[0]])
