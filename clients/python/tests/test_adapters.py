"""The adapters, with objects of the shapes that the frameworks have: neither package is on the machines of the tests."""

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

from control_enforcement.adapters import langchain, openai_agents
from support import ServiceTest


@dataclass
class FunctionTool:
    """As that of the OpenAI Agents SDK."""

    name: str
    on_invoke_tool: Any
    needs_approval: Any = False
    params_json_schema: dict = field(default_factory=dict)


class StructuredTool:
    """As that of LangChain: it calls its function with the arguments of the model, and with what it adds."""

    def __init__(self, name, args, func=None, coroutine=None, response_format="content"):
        self.name, self.args, self.func, self.coroutine = name, args, func, coroutine
        self.response_format = response_format

    def model_copy(self, update):
        given = {**vars(self), **update}
        return StructuredTool(**given)

    def invoke(self, arguments):
        return self.func(**arguments, config={"secret": object()})

    async def ainvoke(self, arguments):
        return await self.coroutine(**arguments, config={"secret": object()})


@dataclass
class Message:
    type: str
    content: Any
    tool_calls: Any = None


@dataclass
class Agent:
    name: str = "mailer"


class OpenAIAgents(ServiceTest):
    def test_tools(self):
        ran = []

        async def send(context, text):
            ran.append((context, json.loads(text)))
            return f"sent {json.loads(text)['text']}"

        async def work(client):
            tool = openai_agents.guarded_tool(client, FunctionTool("send_mail", send))
            self.assertEqual(await tool.on_invoke_tool("context", '{"text": "hello"}'), "sent hello")
            refused = json.loads(await tool.on_invoke_tool("context", '{"text": "bad"}'))
            self.assertEqual((refused["status"], refused["reason"], refused["controls"]), ("not_executed", "denied", ["python-no-bad"]))
            self.assertIn("do not repeat it unchanged", refused["message"])
            steered = json.loads(await tool.on_invoke_tool("context", '{"text": "vague"}'))
            self.assertEqual((steered["reason"], steered["required_actions"]), ("steered", ["name the customer"]))
            note = openai_agents.guarded_tool(client, FunctionTool("note", send))
            self.assertEqual(await note.on_invoke_tool("context", '{"text": "sk-abc", "n": 1.0}'), "sent [redacted]")

        self.run_async(work)
        self.assertEqual(ran, [("context", {"text": "hello"}), ("context", {"text": "[redacted]", "n": 1.0})])

    def test_interrupts(self):
        async def pay(context, text):
            return "paid"

        async def work(client):
            tool = openai_agents.guarded_tool(client, FunctionTool("pay", pay), interrupts=True)
            self.assertTrue(await tool.needs_approval(None, {"amount": 3001}, "call-1"))
            self.assertFalse(await openai_agents.guarded_tool(client, FunctionTool("look", pay), interrupts=True).needs_approval(None, {}, "call-2"))

        self.run_async(work)

    def test_guardrails(self):
        async def work(client):
            check = openai_agents.input_guardrail(client)
            self.assertFalse((await check(None, Agent(), "hello")).tripwire_triggered)
            stopped = await check(None, Agent(), [{"role": "user", "content": "bad"}])
            self.assertTrue(stopped.tripwire_triggered)
            self.assertEqual(stopped.output_info.reason, "denied")
            output = await openai_agents.output_guardrail(client)(None, Agent(), "secret-1")
            self.assertTrue(output.tripwire_triggered)
            self.assertNotIn("secret-1", str(output.output_info))

        self.run_async(work)


class LangChain(ServiceTest):
    def test_tools(self):
        ran = []

        def send(text: str, config: Any = None) -> str:
            ran.append((text, config is not None))
            return f"sent {text}"

        async def send_async(text: str, config: Any = None) -> str:
            return send(text, config)

        tool = StructuredTool("send_mail", {"text": {}}, send, send_async)
        guarded = langchain.guarded_tool(self.client(), tool)
        self.assertEqual(guarded.invoke({"text": "hello"}), "sent hello")
        self.assertEqual(json.loads(guarded.invoke({"text": "bad"}))["status"], "not_executed")
        self.assertEqual(asyncio.run(guarded.ainvoke({"text": "hi"})), "sent hi")
        self.assertEqual(json.loads(asyncio.run(guarded.ainvoke({"text": "bad"})))["reason"], "denied")
        self.assertEqual(ran, [("hello", True), ("hi", True)])
        with_artifact = StructuredTool("send_mail", {"text": {}}, send, None, "content_and_artifact")
        content, artifact = langchain.guarded_tool(self.client(), with_artifact).invoke({"text": "bad"})
        self.assertEqual((json.loads(content)["reason"], artifact.status), ("denied", "not_executed"))
        raw = StructuredTool("look", {}, lambda config=None: b"bytes")
        withheld = json.loads(langchain.guarded_tool(self.client(), raw).invoke({}))
        self.assertEqual((withheld["status"], withheld["reason"]), ("output_withheld", "unavailable"))
        note = langchain.guarded_tool(self.client(), StructuredTool("note", {"text": {}}, send))
        self.assertEqual(note.invoke({"text": "sk-abc"}), "sent [redacted]")

        async def work(client):
            with self.assertRaises(TypeError):
                langchain.guarded_tool(client, StructuredTool("send_mail", {"text": {}}, send))
            only = langchain.guarded_tool(client, tool)
            self.assertIsNone(only.func)
            self.assertEqual(await only.ainvoke({"text": "yes"}), "sent yes")

        self.run_async(work)

    def test_models(self):
        asked = []

        class Model:
            def invoke(self, messages, config=None, **kwargs):
                asked.append(messages)
                return Message("ai", "secret-1" if messages[-1].content == "leak" else "fine")

            async def ainvoke(self, messages, config=None, **kwargs):
                return self.invoke(messages)

        model = langchain.GuardedModel(self.client(), Model())
        self.assertEqual(model.invoke([Message("human", "hello")]).content, "fine")
        for text in ("bad", "leak"):
            with self.assertRaises(Exception) as caught:
                model.invoke([Message("human", text)])
            self.assertNotIn("secret-1", str(caught.exception))
        self.assertEqual(len(asked), 2)
        self.assertEqual(asyncio.run(model.ainvoke([Message("human", "hello")])).content, "fine")

    def test_interrupts(self):
        class Interrupted(Exception):
            pass

        def interrupt(value):
            raise Interrupted(value)

        tool = StructuredTool("pay", {"amount": {}}, lambda amount, config=None: "paid")
        guarded = langchain.guarded_tool(self.client(), tool, on_ask=langchain.interrupting(interrupt))
        with self.assertRaises(Interrupted) as caught:
            guarded.invoke({"amount": 3003})
        self.assertEqual(caught.exception.args[0]["input"], {"amount": 3003})
