"""What the Python client makes of situations: reads them as JSON from standard input, one in a line, and prints results."""

import json
import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone

from control_enforcement import (
    Cancellation,
    CancelledError,
    Client,
    ServiceError,
    Step,
    StepDataError,
    StepError,
    guard_text_stream,
)


class Instance:
    def __init__(self):
        self.hidden = 1


def made(kind):
    """A value that JSON does not have, or as it would be in another language."""
    if kind == "deep":
        value = 1
        for _ in range(250):
            value = [value]
        return value
    if kind == "circular":
        value = {}
        value["self"] = value
        return value
    return {
        "bytes": b"\1\2",
        "function": lambda: 1,
        "stream": iter(()),
        "big integer": {"n": 2**70},
        "surrogate": {"text": "\ud800"},
        "large": {"text": "x" * (9 * 1024 * 1024)},
        "instance": Instance(),
        "date": datetime.fromtimestamp(0, timezone.utc),
    }[kind]


def camel(code):
    return "".join(part.capitalize() for part in code.name.split("_"))


def seconds(milliseconds):
    return None if milliseconds is None else milliseconds / 1000


class Run:
    def __init__(self, situation, url, agent, received):
        self.situation = situation
        self.received = received
        settings = situation.get("client", {})
        self.keys = settings.get("apiKey", "agent-key")
        self.client = Client(
            url,
            agent,
            self.keys if isinstance(self.keys, str) else self.next_key,
            timeout=settings.get("timeoutMs", 60_000) / 1000,
            on_unavailable=settings.get("onUnavailable", "deny"),
        )
        self.step = situation.get("step", "send_mail")
        self.tool = situation.get("tool")
        kind = situation.get("inputMade")
        self.input = situation.get("input", {}) if kind is None else made(kind)
        self.cancellation = Cancellation()
        self.ran = False

    def next_key(self):
        return self.keys.pop(0) if len(self.keys) > 1 else self.keys[0]

    def result(self):
        if self.situation.get("cancel") == "before":
            self.cancellation.cancel()
        try:
            if "stream" in self.situation:
                return self.streamed(**self.situation["stream"])
            for _ in range(self.situation.get("times", 1)):
                result = self.evaluated() if self.tool is None else self.guarded()
            return result
        except Exception as error:
            result = result_of(error)
            return result if self.tool is None else {**result, "ran": self.ran}
        finally:
            self.client.close()

    def evaluated(self):
        situation = self.situation
        step = Step(self.step, self.input, situation.get("output"), has_output="output" in situation)
        if situation.get("cancel") == "after":
            threading.Thread(target=lambda: (self.received(), self.cancellation.cancel())).start()
        evaluation = self.client.evaluate(
            situation.get("stage", "pre"),
            step,
            accepts=situation.get("accepts"),
            min_revision=situation.get("minRevision", 0),
            traceparent=situation.get("traceparent"),
            cancellation=self.cancellation,
        )
        if evaluation.evaluated:
            return {"outcome": evaluation.outcome}
        return {
            "outcome": "unchecked" if evaluation.is_safe else "not evaluated",
            "error": camel(evaluation.error.code),
        }

    def streamed(self, parts, maxChars, overlapChars):
        sizes = {"max_chars": maxChars, "overlap_chars": overlapChars, "max_delay": 60}
        text = ""
        try:
            for one in guard_text_stream(self.client, parts, step=self.step, **sizes):
                text += one
            return {"outcome": "passed", "result": text}
        except Exception as error:
            return {**result_of(error), "result": text}

    def guarded(self):
        given = self.tool

        def run(**members):
            self.ran = True
            if "throws" in given:
                raise RuntimeError(given["throws"])
            if "returnsMade" in given:
                return made(given["returnsMade"])
            returns = given.get("returns", {"text": "done"})
            return members if returns == "input" else returns

        tool = self.client.guard(
            run,
            step=self.step,
            stages=given.get("stages", ["pre", "post"]),
            on_refused=str if given.get("onRefused") else None,
            on_ask=given.get("onAsk", "throw"),
            max_wait=seconds(given.get("maxWaitMs")),
        )
        result = tool(**self.input)
        return {"outcome": "passed", "result": str(result) if isinstance(result, datetime) else result, "ran": self.ran}


def result_of(error):
    name = type(error).__name__
    if isinstance(error, (StepError, StepDataError)):
        return {"outcome": "refused", "error": name, "message": str(error)}
    if isinstance(error, ServiceError):
        return {"outcome": "error", "error": camel(error.code), "message": error.message}
    if isinstance(error, CancelledError):
        return {"outcome": "error", "error": "cancelled"}
    if isinstance(error, (TypeError, ValueError)):
        return {"outcome": "error", "error": "usage"}
    return {"outcome": "error", "error": "tool", "message": str(error)}


def main():
    runs = [json.loads(line) for line in sys.stdin]
    printing = threading.Lock()

    def work(index, run):
        def received():
            while not os.path.exists(run["received"]):
                time.sleep(0.01)

        result = Run(run["situation"], run["url"], run["agent"], received).result()
        with printing:
            print(json.dumps({"index": index, "result": result}), flush=True)

    with ThreadPoolExecutor(int(sys.argv[1])) as pool:
        for done in [pool.submit(work, index, run) for index, run in enumerate(runs)]:
            done.result()


if __name__ == "__main__":
    main()
