"""What steps hold, what verdicts allow, and what settings are refused: without a service."""

import dataclasses
import enum
import json
import unittest
from datetime import date
from decimal import Decimal
from uuid import UUID

from control_enforcement import AsyncClient, Client, Step, StepDataError, is_safe, outcome_of, v1
from control_enforcement._failures import pause_seconds
from control_enforcement._guarded_data import Parameters, error_text, thrown_data
from control_enforcement._step_json import json_form, json_text, parse_json, step_json
from control_enforcement._verdict import changed_by, evaluated_by
from control_enforcement.types import PatchOperation


class Color(enum.Enum):
    RED = "red"


class Tone(str, enum.Enum):
    HARSH = "harsh"


class Masked(str):
    def __str__(self):
        return "***"


@dataclasses.dataclass
class Point:
    x: int
    color: Color = Color.RED


class Model:
    def model_dump(self, mode):
        return {"mode": mode}


class Lying:
    def __init__(self, **shown):
        self.text = "bad"
        self._shown = shown

    def model_dump(self, mode):
        return self._shown


class Twofold(dict):
    def __getitem__(self, key):
        return "bad"


class Steps(unittest.TestCase):
    def test_exact_numbers(self):
        value = {"n": 2**80, "d": Decimal("0.10000000000000000000000001"), "f": 0.1, "i": 1.0}
        text = json_text(json_form(value, "input"))
        self.assertEqual(text, '{"n":1208925819614629174706176,"d":0.10000000000000000000000001,"f":0.1,"i":1.0}')
        self.assertEqual(parse_json(text), value)
        self.assertIsInstance(parse_json("0.10000000000000000000000001"), Decimal)
        self.assertIsInstance(parse_json("1e999"), Decimal)

    def test_numbers_that_json_does_not_have(self):
        for number in (float("nan"), float("inf"), Decimal("NaN")):
            with self.assertRaisesRegex(TypeError, r"input\.n\[0\] is .*, a number that JSON does not have"):
                json_form({"n": [number]}, "input")
        for text in ("NaN", "Infinity"):
            with self.assertRaises(ValueError):
                parse_json(text)

    def test_forms(self):
        value = {"p": Point(1), "m": Model(), 7: (1, 2), "day": date(2026, 1, 2), "id": UUID(int=1), Color.RED: None}
        self.assertEqual(
            json_form(value, "input"),
            {
                "p": {"x": 1, "color": "red"},
                "m": {"mode": "json"},
                "7": [1, 2],
                "day": "2026-01-02",
                "id": "00000000-0000-0000-0000-000000000001",
                "red": None,
            },
        )

    def test_texts_of_other_classes_are_what_they_hold(self):
        # A tool gets them as texts: controls must not see the name of a member, or what a class shows instead.
        value = {"tone": Tone.HARSH, "list": [Masked("bad")], Masked("key"): 1, Tone.HARSH: 2}
        self.assertEqual(json_form(value, "input"), {"tone": "harsh", "list": ["bad"], "key": 1, "harsh": 2})

    def test_numbers_beyond_the_range_of_the_service(self):
        for number in (10**5_000, -(2**1_025), Decimal("1E+400"), Decimal("1E+999999")):
            with self.assertRaisesRegex(TypeError, r"input\.n is a number beyond the range"):
                json_form({"n": number}, "input")
        self.assertEqual(json_form(2**1_023, "input"), 2**1_023)

    def test_what_would_hide_its_content(self):
        circular = []
        circular.append(circular)
        for value in (b"x", {1, 2}, iter([1]), (one for one in [1]), object(), circular, {"1": 1, 1: 2}, {b"x": 1}, len):
            with self.assertRaises(TypeError, msg=repr(value)):
                json_form({"value": value}, "input")

    def test_texts(self):
        data = json.loads(step_json(Step("x", {"t": "\ud800 ä 😀"})))
        self.assertEqual(data, {"type": "tool", "name": "x", "input": {"t": "\ud800 ä 😀"}})
        self.assertNotIn("output", data)
        self.assertIsNone(json.loads(step_json(Step("x", {}, None, has_output=True)))["output"])

    def test_changes(self):
        kept = object()
        value = {"a": [1, {"b": "x"}], "kept": kept}
        with self.assertRaises(TypeError):
            # What is kept is no JSON: a step never proceeds with what controls could not look at.
            changed_by((PatchOperation("replace", "/input/a/1/b", "y"),), "input", value)
        value["kept"] = 2**70
        changed = changed_by((PatchOperation("replace", "/input/a/1/b", "y"),), "input", value)
        self.assertEqual(changed, {"a": [1, {"b": "y"}], "kept": 2**70})
        self.assertEqual(value["a"][1], {"b": "x"})
        self.assertEqual(changed_by((PatchOperation("remove", "/input/a"),), "input", value), {"kept": 2**70})
        self.assertEqual(changed_by((PatchOperation("replace", "/input", 1),), "input", value), 1)
        for path in ("/output/a", "/input/x", "/input/a/01", "/input/a/9", "/input/a/-", "/input/kept/x"):
            with self.assertRaises(TypeError, msg=path):
                changed_by((PatchOperation("replace", path, 0),), "input", value)
        with self.assertRaises(TypeError):
            changed_by((PatchOperation("remove", "/input/a/0"),), "input", value)

    def test_arguments(self):
        class Tools:
            def tool(self, a, *rest, b=2, **more):
                return a

        parameters = Parameters(Tools.tool, "tool", None)
        members = parameters.input_of((None, 1, 5), {"c": 3})
        self.assertEqual(members, {"a": 1, "rest": (5,), "b": 2, "c": 3})
        args, kwargs = parameters.changed({"a": 9, "rest": [7, 8], "b": 4, "d": 5}, (None, 1, 5), {"c": 3})
        self.assertEqual((args, kwargs), ((None, 9, 7, 8), {"b": 4, "d": 5}))
        with self.assertRaises(StepDataError):
            parameters.changed({"b": 4}, (None, 1), {})
        with self.assertRaises(StepDataError):
            Parameters(lambda a: a, "tool", ()).changed({"a": 1, "z": 2}, (1,), {})

    def test_a_function_has_no_receiver(self):
        def tool(self, text):
            return text

        self.assertEqual(Parameters(tool, "tool", None).input_of(("a", "b"), {}), {"self": "a", "text": "b"})

    def test_copies(self):
        def tool(mail, *rest, **more):
            return mail

        parameters = Parameters(tool, "tool", None)
        mail = Twofold(text="hello", list=[{"a": 1}])
        (args, kwargs), is_whole = parameters.copied((mail, [2], Masked("x")), {"more": {"b": (1,)}})
        self.assertTrue(is_whole)
        self.assertEqual((args, kwargs), (({"text": "hello", "list": [{"a": 1}]}, [2], "x"), {"more": {"b": (1,)}}))
        self.assertEqual([type(one) for one in args], [dict, list, str])
        dict.__getitem__(mail, "list")[0]["a"] = 2
        self.assertEqual(args[0]["list"], [{"a": 1}])
        _, is_whole = parameters.copied((Point(1),), {})
        self.assertFalse(is_whole)

    def test_models_hide_nothing(self):
        self.assertEqual(json_form(Lying(text="bad", more=1), "input"), {"text": "bad", "more": 1})
        for shown in ({}, {"text": "hello"}, {"text": ["bad"]}):
            with self.assertRaisesRegex(TypeError, "input.text is not what model_dump shows"):
                json_form(Lying(**shown), "input")

    def test_no_argument_is_left_out(self):
        def tool(text, cls, /, **more):
            return text

        parameters = Parameters(tool, "tool", None)
        self.assertEqual(parameters.input_of(("a", "b"), {"self": 1}), {"text": "a", "cls": "b", "self": 1})
        with self.assertRaisesRegex(StepDataError, "the argument text twice"):
            parameters.input_of(("a", "b"), {"text": "c"})

    def test_errors_of_tools(self):
        try:
            try:
                raise KeyError("inner")
            except KeyError as inner:
                raise ValueError("outer", {"n": 1}) from inner
        except ValueError as error:
            shown = thrown_data(error, "x")["error"]
        self.assertEqual((shown["name"], shown["args"], shown["cause"]["name"]), ("ValueError", ["outer", {"n": 1}], "KeyError"))

        class Mute(Exception):
            def __str__(self):
                raise RuntimeError("no text")

        self.assertEqual(thrown_data(Mute(), "x")["error"]["message"], "its text cannot be shown")
        self.assertEqual(error_text(Mute()), "Mute: its text cannot be shown")
        self.assertEqual(len(error_text(ValueError("😀" * 5_000)).encode("utf-16-le")) // 2, 4_096)


class Verdicts(unittest.TestCase):
    def test_unknown_values_are_never_safe(self):
        for members in (
            {},
            {"is_safe": True, "outcome": 99},
            {"is_safe": True, "outcome": 1, "matches": [v1.ControlResult(action=77)]},
            {"is_safe": True, "outcome": 1, "errors": [v1.ControlResult(action=0)]},
        ):
            verdict = v1.EvaluateResponse(**members)
            self.assertFalse(is_safe(verdict))
            self.assertEqual(outcome_of(verdict), "deny")
            self.assertFalse(evaluated_by(verdict).is_safe)
        self.assertTrue(is_safe(v1.EvaluateResponse(is_safe=True, outcome=1)))

    def test_a_later_service_may_add_members(self):
        # Member 1000 with the text "x".
        bytes_ = v1.EvaluateResponse(is_safe=True).SerializeToString() + b"\xc2\x3e\x01x"
        self.assertTrue(is_safe(v1.EvaluateResponse.FromString(bytes_)))

    def test_numbers_of_modifications(self):
        verdict = v1.EvaluateResponse(outcome=5)
        verdict.modification.step_json = '{"name":"x","input":{"n":123456789012345678901234567890,"d":0.1000000000000000000001}}'
        for name in ("n", "d"):
            verdict.modification.patch.add(op="replace", path=f"/input/{name}")
        values = [one.value for one in evaluated_by(verdict).modification.patch]
        self.assertEqual(values, [123456789012345678901234567890, Decimal("0.1000000000000000000001")])
        verdict.modification.step_json = '{"name":"x","input":{"n":NaN,"d":1}}'
        self.assertEqual(evaluated_by(verdict).outcome, "deny")


class Settings(unittest.TestCase):
    def test_mistakes_are_told_at_once(self):
        for made in (
            lambda: Client("localhost:8000"),
            lambda: Client("http://"),
            lambda: Client("http://localhost:8000/api"),
            lambda: Client("http://user:secret@localhost:8000"),
            lambda: Client("http://localhost:99999"),
            lambda: Client("http://localhost", timeout=0),
            lambda: Client("http://localhost", on_unavailable="maybe"),
            lambda: Client("http://localhost", api_key="with blank"),
            lambda: Client("http://localhost", api_key=""),
            lambda: Client("http://localhost", cert="x"),
            lambda: Client("http://localhost", max_batch=0),
            lambda: AsyncClient("http://localhost", max_batch=1001),
            lambda: Client("http://localhost").session(""),
        ):
            with self.assertRaises(ValueError) as caught:
                made()
            self.assertNotIn("secret", str(caught.exception))
        with self.assertRaises(TypeError):
            Client("http://localhost", time_out=3)

    def test_mistakes_of_guards(self):
        client = Client("http://localhost", "some-bot-01")
        for given in (
            lambda: client.guard(lambda x: x),
            lambda: client.guard(lambda x: x, step=""),
            lambda: client.guard(lambda x: x, step="x", stages=["before"]),
            lambda: client.guard(lambda x: x, step="x", on_ask="maybe"),
            lambda: client.guard(lambda x: x, step="x", on_denied=print),
            lambda: client.guard(3, step="x"),
            lambda: client.session().guard(lambda x: x, step="x", agent="other-bot-01"),
        ):
            with self.assertRaises((TypeError, ValueError)):
                given()

        def numbers():
            yield 1

        with self.assertRaisesRegex(TypeError, "generator"):
            client.guard(numbers)
        self.assertTrue(callable(client.guard(numbers, stages=["pre"])))

    def test_pauses(self):
        self.assertEqual(pause_seconds(0, uniform=lambda: 1.0), 0.025)
        self.assertEqual(pause_seconds(3, uniform=lambda: 1.0), 0.2)
        self.assertEqual(pause_seconds(50, uniform=lambda: 1.0), 2.0)
        self.assertEqual(pause_seconds(0, 60.0, uniform=lambda: 0.0), 2.0)


if __name__ == "__main__":
    unittest.main()
