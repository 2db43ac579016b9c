"""The clients against a service."""

import asyncio
import os
import subprocess
import sys
import textwrap
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

import grpc

from control_enforcement import _batcher
from control_enforcement import (
    ApprovalDeniedError,
    ApprovalRequiredError,
    AsyncClient,
    Cancellation,
    CancelledError,
    Client,
    DeniedError,
    NotEvaluatedError,
    Request,
    ServiceError,
    SteerError,
    Step,
    StepDataError,
    WaitForLimits,
    key_from_file,
)
from support import ADMIN_KEY, AGENT, KEY, Door, PATIENT, ServiceTest, URL, settings


#: Functions in LATE run at the end of the interpreter, after those that the client has registered.
PROGRAM = """
import atexit
LATE = []
atexit.register(lambda: [one() for one in LATE])
from control_enforcement import Client
from support import AGENT, KEY, URL
client = Client(URL, AGENT, KEY, timeout=60)
"""


def run_program(source):
    """What a program prints that has a client."""
    program = PROGRAM + textwrap.dedent(source)
    environment = {name: value for name, value in os.environ.items() if name != "GRPC_ENABLE_FORK_SUPPORT"}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, timeout=240)
    return done.stdout.decode() + done.stderr.decode()


def mail(text):
    return Step("send_mail", {"text": text})


class Evaluations(ServiceTest):
    def test_verdicts(self):
        client = self.client()
        safe = client.evaluate("pre", mail("hello"))
        self.assertTrue(safe.evaluated and safe.is_safe)
        self.assertEqual((safe.outcome, safe.reason), ("allow", None))
        denied = client.evaluate("pre", {"name": "send_mail", "input": {"text": "bad"}})
        self.assertEqual((denied.is_safe, denied.outcome), (False, "deny"))
        self.assertIn("python-no-bad", denied.reason)
        self.assertEqual(client.evaluate("pre", mail("vague")).outcome, "steer")

    def test_many_threads_share_messages(self):
        client = self.client()
        texts = ["bad" if index % 3 == 0 else "good" for index in range(60)]
        results = [None] * len(texts)

        def ask(index):
            results[index] = client.evaluate("pre", mail(texts[index])).is_safe

        threads = [threading.Thread(target=ask, args=(index,)) for index in range(len(texts))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(results, [text == "good" for text in texts])

    def test_streams_of_requests(self):
        requests = [Request("pre", mail("bad" if index % 4 == 0 else "good")) for index in range(100)]
        requests.append({"stage": "pre", "step": {"name": "x", "input": {}}, "agent": "nobody-bot-01"})
        results = {one.index: one for one in self.client(max_in_flight=16).evaluate_stream(requests)}
        self.assertEqual(sorted(results), list(range(101)))
        self.assertEqual([results[at].evaluation.is_safe for at in range(100)], [at % 4 != 0 for at in range(100)])
        self.assertEqual(results[100].error.code, grpc.StatusCode.NOT_FOUND)

        async def work(client):
            return {one.index: one async for one in client.evaluate_stream(requests)}

        found = self.run_async(work, max_in_flight=16)
        self.assertEqual([found[at].evaluation.is_safe for at in range(100)], [at % 4 != 0 for at in range(100)])
        self.assertEqual(found[100].error.reasons, ("AGENT_NOT_FOUND",))

    def test_a_stream_that_is_left_ends(self):
        for result in self.client().evaluate_stream(Request("pre", mail("x")) for _ in range(1_000)):
            self.assertTrue(result.evaluation.is_safe)
            break

    def test_errors(self):
        client = self.client()
        with self.assertRaises(ServiceError) as caught:
            client.evaluate("pre", mail("x"), agent="nobody-bot-01")
        self.assertEqual(caught.exception.code, grpc.StatusCode.NOT_FOUND)
        self.assertIn("Hint:", caught.exception.message)
        told = []
        wrong = self.client(api_key="wrong-key", on_error=lambda error, step: told.append((error.reasons, step)))
        with self.assertRaises(ServiceError) as caught:
            wrong.evaluate("pre", mail("x"))
        self.assertEqual(caught.exception.reasons, ("AUTH_INVALID_KEY",))
        self.assertEqual(told, [(("AUTH_INVALID_KEY",), "send_mail")])

    def test_keys_are_read_again(self):
        keys = iter(["old-key", KEY])
        client = self.client(api_key=lambda: next(keys))
        self.assertTrue(client.evaluate("pre", mail("x")).is_safe)
        import tempfile

        with tempfile.NamedTemporaryFile("w", suffix=".key") as file:
            file.write(f"{KEY}\n")
            file.flush()
            self.assertTrue(self.client(api_key=key_from_file(file.name)).evaluate("pre", mail("x")).is_safe)

    def test_exact_numbers(self):
        # A control of the agent denies exactly this number.
        client = self.client()
        self.assertFalse(client.evaluate("pre", Step("count", {"n": 9007199254740993})).is_safe)
        self.assertTrue(client.evaluate("pre", Step("count", {"n": 9007199254740992})).is_safe)

    def test_cancellation(self):
        client = self.client()
        cancellation = Cancellation()
        cancellation.cancel()
        with self.assertRaises(CancelledError):
            client.evaluate("pre", mail("x"), cancellation=cancellation)

        async def work(client):
            task = asyncio.ensure_future(client.evaluate("pre", mail("x")))
            await asyncio.sleep(0)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            return (await client.evaluate("pre", mail("x"))).is_safe

        self.assertTrue(self.run_async(work))

    def test_outage(self):
        told = []
        client = Client("http://127.0.0.1:1", AGENT, timeout=0.2, on_error=lambda error, step: told.append(step))
        self.addCleanup(client.close)
        with self.assertLogs("control_enforcement", "WARNING") as logs:
            evaluation = client.evaluate("pre", mail("x"))
            allowed = client.evaluate("pre", mail("x"), on_unavailable="allow")
            with self.assertRaises(NotEvaluatedError):
                client.guard(lambda: self.fail("it ran"), step="x")()
        self.assertEqual((evaluation.evaluated, evaluation.is_safe), (False, False))
        self.assertEqual((allowed.evaluated, allowed.is_safe), (False, True))
        self.assertIn("proceeds without a check", "".join(logs.output))
        self.assertEqual(told, ["send_mail", "send_mail", "x"])

    def test_a_service_that_is_back(self):
        # gRPC connects only while a call is open, or something lets it: pauses between calls that fail at once must not stop it.
        door = Door(closed=1)
        self.addCleanup(door.close)
        client = self.client(base_url=door.url)
        cancellation = Cancellation()
        with mock.patch.object(_batcher, "pause_seconds", return_value=3_600.0), ThreadPoolExecutor(1) as pool:
            call = pool.submit(client.evaluate, "pre", mail("x"), cancellation=cancellation)
            is_connected = door.connected.wait(PATIENT)
            cancellation.cancel()
            with self.assertRaises(CancelledError):
                call.result()
        self.assertTrue(is_connected)

    def test_tls_mistakes(self):
        wrong = Client(URL.replace("http:", "https:"), AGENT, api_key=KEY, timeout=20)
        self.addCleanup(wrong.close)
        with self.assertRaises(ServiceError) as caught:
            wrong.evaluate("pre", mail("x"))
        self.assertEqual(caught.exception.code, grpc.StatusCode.FAILED_PRECONDITION)
        self.assertIn("http://", caught.exception.message)

    def test_closed_clients(self):
        client = self.client()
        client.close()
        with self.assertRaises(ServiceError) as caught:
            client.evaluate("pre", mail("x"))
        self.assertEqual(caught.exception.code, grpc.StatusCode.CANCELLED)

    def test_a_fork(self):
        # A call in the child would never end: gRPC does not survive a fork with connections.
        answers = run_program(
            """
            import multiprocessing

            def child():
                try:
                    client.evaluate("pre", {"name": "send_mail", "input": {}})
                except RuntimeError as error:
                    print("the old:", str(error)[:42], flush=True)
                with Client(URL, AGENT, KEY) as own:
                    try:
                        print("an own:", own.guard(lambda text: text, step="send_mail")("ran"), flush=True)
                    except RuntimeError as error:
                        print("an own:", str(error)[:47], "GRPC_ENABLE_FORK_SUPPORT=1" in str(error), flush=True)

            with multiprocessing.get_context("fork").Pool(1) as pool:
                pool.apply(child)
            tool = client.guard(lambda text: text, step="send_mail")
            tool("x")
            for _ in range(2):
                process = multiprocessing.get_context("fork").Process(target=child)
                process.start()
                process.join()
                client.close()
            """
        )
        self.assertEqual(
            answers.splitlines(),
            [
                "the old: the client was made before this process wa",
                "an own: ran",
                "the old: this process was forked after a client had",
                "an own: this process was forked after a client had conn True",
                # Closing the client changes nothing: threads of gRPC may hold locks.
                "the old: this process was forked after a client had",
                "an own: this process was forked after a client had conn True",
            ],
        )

    def test_the_end_of_the_interpreter(self):
        answers = run_program(
            """
            def late():
                client.close()
                try:
                    tool("x")
                except RuntimeError as error:
                    print(error)

            tool = client.guard(lambda text: text, step="send_mail")
            print(tool("ran"))
            LATE.append(late)
            left_open = client.watch_controls()
            print(len(next(left_open).controls) > 0)
            """
        )
        self.assertEqual(answers.splitlines(), ["ran", "True", "the interpreter ends: clients cannot be used any more"])

    def test_services_and_watches(self):
        client = self.client(api_key=ADMIN_KEY)
        self.assertIn("stream_cancel", client.server_info().features)
        names = [one.agent_name for one in client.agents.list_agents().agents]
        self.assertIn(AGENT, names)
        watch = client.watch_controls("watched-bot-01")
        self.assertEqual(dict(next(watch).controls), {})
        data = {
            "execution": "EXECUTION_SERVER",
            "condition": {"selector": {"path": "input"}, "evaluator": {"name": "regex", "config": {"pattern": "x"}}},
            "action": {"decision": "DECISION_DENY"},
        }
        created = client.controls.create_control({"name": "watched", "data": data})
        client.agents.add_agent_control({"agent_name": "watched-bot-01", "control_id": created.control_id})
        seen = next(one for one in watch if one.changed)
        self.assertEqual([one.name for one in seen.controls.values()], ["watched"])
        watch.close()
        with self.assertRaises(ServiceError):
            next(self.client().watch_controls("nobody-bot-01"))


class Tools(ServiceTest):
    def test_functions(self):
        ran = []

        @self.client().guard(step="send_mail")
        def send(text, subject="none"):
            """Sends a mail."""
            ran.append(text)
            return f"sent {text}"

        self.assertEqual(send("hello"), "sent hello")
        self.assertEqual((send.__name__, send.__doc__), ("send", "Sends a mail."))
        with self.assertRaises(DeniedError) as caught:
            send(text="bad")
        self.assertEqual(
            str(caught.exception),
            'Step "send_mail" was denied before it ran by "python-no-bad". A policy forbids it: do not repeat it unchanged.',
        )
        self.assertEqual(caught.exception.controls, ("python-no-bad",))
        with self.assertRaises(SteerError) as steered:
            send("hello", subject="vague")
        self.assertEqual(steered.exception.required_actions, ("name the customer",))
        self.assertEqual(ran, ["hello"])

    def test_coroutines_with_both_clients(self):
        async def send(text):
            await asyncio.sleep(0)
            return {"sent": text}

        async def work(client):
            plain = client.guard(lambda text: text.upper(), step="send_mail")
            self.assertEqual(await plain("hello"), "HELLO")
            guarded = client.guard(send, step="send_mail")
            self.assertEqual(await guarded("hello"), {"sent": "hello"})
            with self.assertRaises(DeniedError):
                await guarded("bad")

        self.run_async(work)
        guarded = self.client().guard(send, step="send_mail")
        self.assertTrue(asyncio.iscoroutinefunction(guarded))

        async def beside():
            return await asyncio.gather(*(guarded(f"text {index}") for index in range(10)))

        self.assertEqual(len(asyncio.run(beside())), 10)

    def test_outputs_are_withheld(self):
        client = self.client()
        with self.assertRaises(DeniedError) as caught:
            client.guard(lambda: "secret-123", step="look")()
        self.assertNotIn("secret-123", f"{caught.exception!r} {caught.exception.verdict} {caught.exception.reason}")
        self.assertIsNone(caught.exception.reason)

        def fail():
            raise ValueError("secret-456")

        with self.assertRaises(DeniedError) as caught:
            client.guard(fail, step="look")()
        self.assertIsNone(caught.exception.__cause__)
        self.assertTrue(caught.exception.__suppress_context__)
        with self.assertRaises(StepDataError):
            client.guard(lambda: b"bytes", step="look")()

        def harmless():
            raise KeyError("name")

        with self.assertRaises(KeyError):
            client.guard(harmless, step="look")()

    def test_refusals_as_results(self):
        tool = self.client().guard(lambda text: text, step="send_mail", on_refused=str)
        self.assertTrue(tool("bad").startswith('Step "send_mail" was denied'))

    def test_unchecked_tools(self):
        client = self.client(agent="unchecked-bot-01")
        tool = client.guard(lambda: 1, step="mispelled")
        with self.assertLogs("control_enforcement", "WARNING") as logs:
            tool()
            tool()
        self.assertEqual(len(logs.output), 1)
        told = []
        client.guard(lambda: 1, step="other", on_unchecked=told.append)()
        self.assertEqual(told, ["other"])

    def test_changes(self):
        seen = []

        def note(text, count=1):
            seen.append((text, count))
            return {"text": "key sk-own", "n": 2**70}

        result = self.client().guard(note, step="note")("key sk-abc", count=2**70)
        self.assertEqual(seen, [("key [redacted]", 2**70)])
        self.assertEqual(result, {"text": "key [redacted]", "n": 2**70})
        renamed = self.client().guard(
            lambda words: seen.append(words),
            step="note",
            input=lambda words: {"text": words},
            changed_args=lambda changed, words: (changed["text"],),
        )
        renamed("sk-other")
        self.assertEqual(seen[-1], "[redacted]")
        with self.assertRaises(DeniedError):
            self.client().guard(print, step="note", input=lambda words: {"text": words})("sk-other")

    def test_sessions(self):
        session = self.client(agent="session-bot-01").session()
        tool = session.guard(lambda to: f"sent to {to}", step="send_mail")
        self.assertEqual([tool("ann"), tool("bob")], ["sent to ann", "sent to bob"])
        with self.assertRaises(DeniedError) as caught:
            tool("cid")
        self.assertEqual((caught.exception.controls, caught.exception.limits[0].remaining), (("two-mails",), 0))
        # A limit of a day is not waited for.
        waiting = session.guard(lambda to: to, step="send_mail", wait_for_limits=WaitForLimits(max_wait=1))
        with self.assertRaises(DeniedError):
            waiting("cid")
        self.assertEqual(self.client(agent="session-bot-01").session().evaluate("pre", mail("x")).outcome, "allow")

    def test_interrupted_tools_of_sessions(self):
        client = self.client(agent="slot-bot-01")
        session = client.session()

        def interrupted():
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            session.guard(interrupted, step="work")()
        # Its slot, the only one, is free once its end has arrived.
        waiting = session.guard(lambda: "done", step="work", wait_for_limits=WaitForLimits(max_wait=60, max_retries=1000))
        deadline = time.monotonic() + 60
        while True:
            try:
                self.assertEqual(waiting(), "done")
                break
            except DeniedError:
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.02)


class Approvals(ServiceTest):
    """The payments of even amounts are approved by the test that runs these, the others denied."""

    def test_errors_and_repetition(self):
        pay = self.client().guard(lambda amount: f"paid {amount}", step="pay", step_id=lambda amount: f"p-{amount}")
        with self.assertRaises(ApprovalRequiredError) as caught:
            pay(1002)
        self.assertEqual(caught.exception.approval.state, "pending")
        deadline = time.monotonic() + 60
        while True:
            try:
                self.assertEqual(pay(1002), "paid 1002")
                break
            except ApprovalRequiredError:
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.05)

    def test_waiting(self):
        asked = []

        def on_ask(approval, step):
            asked.append((threading.current_thread() is threading.main_thread(), step.name))
            return "wait"

        pay = self.client().guard(lambda amount: f"paid {amount}", step="pay", on_ask=on_ask)
        self.assertEqual(pay(1004), "paid 1004")
        self.assertEqual(asked, [(True, "pay")])
        with self.assertRaises(ApprovalDeniedError) as caught:
            pay(1005)
        self.assertEqual(caught.exception.approval.reason, "odd")
        with self.assertRaises(ApprovalRequiredError):
            self.client().guard(lambda amount: amount, step="pay", on_ask=lambda *_: "throw")(1007)

    def test_waiting_with_asyncio(self):
        async def work(client):
            async def pay(amount):
                return f"paid {amount}"

            guarded = client.guard(pay, step="pay", on_ask="wait")
            results = await asyncio.gather(guarded(2002), guarded(2004), guarded(2005), return_exceptions=True)
            self.assertEqual(results[:2], ["paid 2002", "paid 2004"])
            self.assertIsInstance(results[2], ApprovalDeniedError)

        self.run_async(work)

    def test_cancelled_waits_cancel_the_approval(self):
        cancellation = Cancellation()
        client = self.client(agent="paying-bot-02")
        approvals = []

        def on_ask(approval, step):
            approvals.append(approval)
            threading.Timer(0.1, cancellation.cancel).start()
            return "wait"

        pay = client.guard(lambda amount: amount, step="pay", on_ask=on_ask, cancellation=cancellation)
        with self.assertRaises(CancelledError):
            pay(1)
        deadline = time.monotonic() + 60
        request = {"agent_name": "paying-bot-02", "approval_id": approvals[0].id, "wait": "0s"}
        while client.approvals.await_approval(request).approval.state != 5:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)


if __name__ == "__main__":
    unittest.main()
