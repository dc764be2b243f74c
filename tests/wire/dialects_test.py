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
        self.addCleanup(server.end)
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

    def test_sglangs_answers_carry_a_label_mass_only_where_there_is_one(self):
        body = {"input": "s", "questions": [{"id": "y", "type": "yes_no", "question": "?"}]}
        for model, carried in [("tiny-kev-f32", False), ("tiny-openjev-qwen3-f32", True)]:
            answer = self.ask(self.served(model), body, "/v1/decisions")
            self.assertEqual(answer.status, 200)
            self.assertEqual("label_mass" in answer.json()["answers"]["y"], carried)


if __name__ == "__main__":
    OPTIONS = arguments()
    unittest.main(argv=[sys.argv[0]])
