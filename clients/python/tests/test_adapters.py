"""The adapters, with objects that behave as those of the frameworks: neither package is on the machines of the tests."""

import asyncio
import copy
import json
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Optional, TypedDict, get_type_hints

from control_enforcement import ServiceError
from control_enforcement.adapters import langchain, openai_agents
from support import ServiceTest


@dataclass
class ToolContext:
    """As that of the OpenAI Agents SDK."""

    context: Any = None
    tool_call_id: str = "call-1"


@dataclass
class FunctionTool:
    """As that of the OpenAI Agents SDK: a copy is made by its constructor, and ``on_invoke_tool`` is bound to it."""

    name: str
    on_invoke_tool: Any
    needs_approval: Any = False
    params_json_schema: dict = field(default_factory=dict)

    def __post_init__(self):
        bind = getattr(self.on_invoke_tool, "__agents_bind_function_tool__", None)
        if callable(bind):
            self.on_invoke_tool = bind(self)

    def __copy__(self):
        return replace(self)


class Invoker:
    """As the one that ``function_tool`` of the SDK makes: an error of the tool is text for the model."""

    def __init__(self, work, tool=None):
        self.work = work
        self.tool = tool

    def __agents_bind_function_tool__(self, tool):
        return Invoker(self.work, tool)

    async def __call__(self, context, text):
        try:
            return self.work(**json.loads(text))
        except Exception as error:
            return f"{self.tool.name} failed: {error}"


class RunnableConfig(TypedDict, total=False):
    """As that of LangChain."""

    tags: list


class InjectedToolArg:
    """As that of LangChain, and a mark of LangGraph below it."""


class InjectedState(InjectedToolArg):
    pass


class _DirectlyInjectedToolArg:
    pass


class ToolRuntime(_DirectlyInjectedToolArg):
    pass


class StructuredTool:
    """As that of LangChain: it calls its function with the arguments of the model, and with a configuration by its type. The
    node of LangGraph adds what ``added`` has."""

    added = {}

    def __init__(self, name, tool_call_schema, func=None, coroutine=None, response_format="content"):
        self.name, self.tool_call_schema, self.func, self.coroutine = name, tool_call_schema, func, coroutine
        self.response_format = response_format

    def model_copy(self, update):
        return copy.copy(self).with_members(update)

    def with_members(self, members):
        vars(self).update(members)
        return self

    def arguments(self, function, given):
        config = {name: {"tags": [object()]} for name, hint in get_type_hints(function).items() if hint is RunnableConfig}
        return {**given, **self.added, **config}

    def invoke(self, given):
        return self.func(**self.arguments(self.func, given))

    async def ainvoke(self, given):
        return await self.coroutine(**self.arguments(self.coroutine, given))


class SingleInputTool(StructuredTool):
    """As ``Tool`` of LangChain: its function gets one text by position, under whatever name."""

    def invoke(self, given):
        return self.func(given)


def schema(*names):
    return {"properties": {name: {} for name in names}}


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
            tool = copy.copy(openai_agents.guarded_tool(client, FunctionTool("send_mail", send)))
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

    def test_functions_of_the_sdk(self):
        async def work(client):
            tool = openai_agents.guarded_tool(client, FunctionTool("send_mail", Invoker(lambda text: text[1])))
            self.assertEqual(await tool.on_invoke_tool(ToolContext(), '{"text": "ab"}'), "b")
            self.assertEqual(
                await tool.on_invoke_tool(ToolContext(), '{"text": ""}'), "send_mail failed: string index out of range"
            )

        self.run_async(work)

    def test_arguments_that_are_no_json(self):
        ran = []

        def run(context, text):
            # A tool that takes any text need not be a coroutine function.
            ran.append(text)
            return "ran"

        async def work(client):
            tool = openai_agents.guarded_tool(client, FunctionTool("send_mail", run))
            # A tool would read it, and ignore what it does not know: no other shape of it may be shown to controls.
            for number in ("NaN", "-Infinity", "1e999", "1e99999999999999999999"):
                for text in ("hello", "bad"):
                    answer = await tool.on_invoke_tool(ToolContext(), f'{{"text": "{text}", "n": {number}}}')
                    self.assertEqual(json.loads(answer)["reason"], "unavailable")
            self.assertEqual(json.loads(await tool.on_invoke_tool(ToolContext(), "be bad"))["reason"], "denied")
            self.assertEqual(await tool.on_invoke_tool(ToolContext(), "be good"), "ran")

        self.run_async(work)
        self.assertEqual(ran, ["be good"])

    def test_interrupts(self):
        async def pay(context, text):
            return "paid"

        def always(context, arguments, call_id):
            return call_id == "call-9"

        async def work(client):
            tool = openai_agents.guarded_tool(client, FunctionTool("pay", pay), interrupts=True)
            self.assertTrue(await tool.needs_approval(None, {"amount": 3001}, "call-1"))
            self.assertFalse(await tool.needs_approval(None, {"amount": float("nan")}, "call-1"))
            look = openai_agents.guarded_tool(client, FunctionTool("look", pay, always), interrupts=True)
            self.assertFalse(await look.needs_approval(None, {}, "call-2"))
            self.assertTrue(await look.needs_approval(None, {}, "call-9"))
            # The options are those of the call.
            other = openai_agents.guarded_tool(client, FunctionTool("pay", pay), interrupts=True, agent="paying-bot-02")
            self.assertTrue(await other.needs_approval(None, {"amount": 3002}, "call-3"))
            nobody = openai_agents.guarded_tool(client, FunctionTool("pay", pay), interrupts=True, agent="nobody-bot-01")
            with self.assertRaises(ServiceError):
                await nobody.needs_approval(None, {"amount": 1}, "call-4")

        self.run_async(work)

    def test_a_call_counts_once(self):
        async def send(context, text):
            return "sent"

        async def work(client):
            tool = openai_agents.guarded_tool(client.session(agent="session-bot-01"), FunctionTool("send_mail", send), interrupts=True)
            answers = []
            for call_id in ("call-1", "call-2", "call-3"):
                self.assertFalse(await tool.needs_approval(None, {"to": call_id}, call_id))
                answers.append(await tool.on_invoke_tool(ToolContext(None, call_id), json.dumps({"to": call_id})))
            # A control of the agent allows two of a session.
            self.assertEqual(answers[:2], ["sent", "sent"])
            self.assertEqual(json.loads(answers[2])["reason"], "denied")

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

        def send(text: str, config: RunnableConfig = None) -> str:
            ran.append((text, config is not None))
            return f"sent {text}"

        async def send_async(text: str, config: RunnableConfig = None) -> str:
            return send(text, config)

        tool = StructuredTool("send_mail", schema("text"), send, send_async)
        guarded = langchain.guarded_tool(self.client(), tool)
        self.assertEqual(guarded.invoke({"text": "hello"}), "sent hello")
        self.assertEqual(json.loads(guarded.invoke({"text": "bad"}))["status"], "not_executed")
        self.assertEqual(asyncio.run(guarded.ainvoke({"text": "hi"})), "sent hi")
        self.assertEqual(json.loads(asyncio.run(guarded.ainvoke({"text": "bad"})))["reason"], "denied")
        self.assertEqual(ran, [("hello", True), ("hi", True)])
        with_artifact = StructuredTool("send_mail", schema("text"), send, None, "content_and_artifact")
        content, artifact = langchain.guarded_tool(self.client(), with_artifact).invoke({"text": "bad"})
        self.assertEqual((json.loads(content)["reason"], artifact.status), ("denied", "not_executed"))
        raw = StructuredTool("look", schema(), lambda: b"bytes")
        withheld = json.loads(langchain.guarded_tool(self.client(), raw).invoke({}))
        self.assertEqual((withheld["status"], withheld["reason"]), ("output_withheld", "unavailable"))
        note = langchain.guarded_tool(self.client(), StructuredTool("note", schema("text"), send))
        self.assertEqual(note.invoke({"text": "sk-abc"}), "sent [redacted]")

        async def work(client):
            for one in (client, client.session()):
                with self.assertRaises(TypeError):
                    langchain.guarded_tool(one, StructuredTool("send_mail", schema("text"), send))
                only = langchain.guarded_tool(one, tool)
                self.assertIsNone(only.func)
                self.assertEqual(await only.ainvoke({"text": "yes"}), "sent yes")

        self.run_async(work)

    def test_what_a_model_gives_is_checked_and_what_is_added_is_not(self):
        def look(
            text: str,
            other: str = "",
            state: Annotated[dict, InjectedState()] = None,
            store: Annotated[Optional[object], InjectedToolArg] = None,
            tools: Optional[ToolRuntime] = None,
            runtime=None,
            callbacks=None,
        ) -> str:
            return f"ran with {other}"

        hidden = {"state": object(), "store": object(), "tools": object(), "runtime": object(), "callbacks": object()}
        tool = StructuredTool("look", schema("text"), look)
        tool.added = hidden
        guarded = langchain.guarded_tool(self.client(), tool)
        self.assertEqual(guarded.invoke({"text": "hello"}), "ran with ")
        # A schema in JSON holds a model to nothing: what is not in it reaches the function, too.
        self.assertEqual(json.loads(guarded.invoke({"text": "hello", "other": "bad"}))["reason"], "denied")
        named = StructuredTool("run", schema("runtime"), lambda runtime: "ran")
        self.assertEqual(json.loads(langchain.guarded_tool(self.client(), named).invoke({"runtime": "bad"}))["reason"], "denied")
        single = SingleInputTool("search", schema("args", "kwargs"), lambda query: "found")
        guarded = langchain.guarded_tool(self.client(), single)
        self.assertEqual(guarded.invoke("hello"), "found")
        self.assertEqual(json.loads(guarded.invoke("bad"))["reason"], "denied")
        further = StructuredTool("look", schema("text"), lambda text, session=object(): text)
        guarded = langchain.guarded_tool(self.client(), further)
        self.assertEqual(json.loads(guarded.invoke({"text": "hello"}))["reason"], "unavailable")
        guarded = langchain.guarded_tool(self.client(), further, ignored=["session"])
        self.assertEqual(guarded.invoke({"text": "hello"}), "hello")

    def test_models(self):
        asked = []

        class Model:
            def invoke(self, messages, config=None, **kwargs):
                # Without any, those of the surrounding run would see the text as it is written.
                self.callbacks = config["callbacks"]
                asked.append(messages)
                return Message("ai", "secret-1" if messages[-1].content == "leak" else "fine")

            async def ainvoke(self, messages, config=None, **kwargs):
                return self.invoke(messages, config)

        inner = Model()
        model = langchain.GuardedModel(self.client(), inner)
        self.assertEqual(model.invoke([Message("human", "hello")], {"callbacks": ["handler"]}).content, "fine")
        self.assertEqual(inner.callbacks, [])
        for text in ("bad", "leak"):
            with self.assertRaises(Exception) as caught:
                model.invoke([Message("human", text)])
            self.assertNotIn("secret-1", str(caught.exception))
        self.assertEqual(len(asked), 2)
        self.assertEqual(asyncio.run(model.ainvoke([Message("human", "hello")])).content, "fine")

    def test_what_controls_see_of_models(self):
        call = {"name": "pay", "args": {"amount": 5}, "id": "1"}
        asked = [("system", "be kind"), Message("human", [{"type": "text", "text": "hi"}, {"type": "image", "url": "u"}])]
        shown = langchain.messages_data([*asked, Message("ai", "", [call]), "and?"])
        self.assertEqual(
            shown,
            {
                "messages": [
                    {"role": "system", "content": "be kind"},
                    {"role": "human", "content": [{"type": "text", "text": "hi"}, {"type": "image"}]},
                    {"role": "ai", "content": {"text": "", "tool_calls": [{"name": "pay", "input": {"amount": 5}}]}},
                    {"role": "human", "content": "and?"},
                ]
            },
        )
        reply = Message("ai", [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a"}, "b"], [call])
        reply.usage_metadata = {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}
        reply.invalid_tool_calls = [{"name": "pay", "args": "{", "id": "2", "error": None}]
        self.assertEqual(
            langchain.reply_data(reply),
            {
                "text": "ab",
                "tool_calls": [{"name": "pay", "input": {"amount": 5}}, {"name": "pay", "input": "{"}],
                "parts": [{"type": "thinking", "text": "hm"}],
                "usage": {"input_tokens": 3, "output_tokens": 2},
            },
        )

    def test_interrupts(self):
        class Interrupted(Exception):
            pass

        def interrupt(value):
            raise Interrupted(value)

        tool = StructuredTool("pay", schema("amount"), lambda amount: "paid")
        guarded = langchain.guarded_tool(self.client(), tool, on_ask=langchain.interrupting(interrupt))
        with self.assertRaises(Interrupted) as caught:
            guarded.invoke({"amount": 3003})
        self.assertEqual(caught.exception.args[0]["action"], {"name": "pay", "args": {"amount": 3003}})
