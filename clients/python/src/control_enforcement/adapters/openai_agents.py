"""The OpenAI Agents SDK: its function tools, and guardrails for the input and the final output of a run.

Use an ``AsyncClient``. Nothing of the SDK is imported: a tool is an object with ``name`` and ``on_invoke_tool(context, text)``,
and a guardrail a function whose result has ``output_info`` and ``tripwire_triggered``.
"""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from typing import Any, Awaitable, Callable, Dict, Optional, TypeVar, Union

from .._base import Session
from .._flow import maybe_awaited
from .._guard_options import GuardOptions, of_call
from .._refusals import refusal_of as error_of
from .._settings import MAX_ID_LENGTH
from .._step_json import json_text, parse_json
from ..aio import AsyncClient
from ..types import Evaluation, Step
from ._refusal import ToolRefusal, refusal_of, telling

Tool = TypeVar("Tool")
#: What guards: a client, or one of its sessions.
Guarding = Union[AsyncClient, Session]


def guarded_tool(client: Guarding, tool: Tool, *, interrupts: bool = False, **options: Any) -> Tool:
    """A copy of a function tool that is checked before and after it runs. A refused call returns a ``ToolRefusal`` as text,
    which the model reads, and the run goes on.

    With ``interrupts``, a call that a person must approve interrupts the run, as ``needs_approval`` of the SDK does: approve
    the interruption once the service has the approval. ``options`` are those of ``guard``, whose functions get the context and
    the text of the arguments; when absent, ``step`` is the name of the tool and ``step_id`` the id that the model gave the call.
    ``client`` may be a session.
    """
    invoke: Callable[[Any, str], Any] = getattr(tool, "on_invoke_tool")
    given: Dict[str, Any] = {
        "step": getattr(tool, "name"),
        "step_id": lambda context, text: _id_of(context),
        "input": lambda context, text: _arguments(text),
        "changed_args": lambda changed, context, text: (context, _text_of(changed, text)),
        **options,
    }

    async def call(context: Any, text: str) -> Any:
        # Tools with other inputs than JSON need not be coroutine functions.
        return await maybe_awaited(invoke(context, text))

    # Not `replace`: tools of later versions have members that their constructor does not take.
    made = copy.copy(tool)
    setattr(made, "on_invoke_tool", telling(client.guard(call, **given), True, str))
    if interrupts:
        setattr(made, "needs_approval", _asks(client, GuardOptions(**given), getattr(tool, "needs_approval", False)))
    return made


def _id_of(context: Any) -> Optional[str]:
    call_id = getattr(context, "tool_call_id", None)
    return call_id if isinstance(call_id, str) and 1 <= len(call_id) <= MAX_ID_LENGTH else None


def _arguments(text: str) -> Any:
    """The arguments that a model gives. What is no JSON object is checked as it is: the tool refuses it, or takes any text."""
    try:
        is_object = isinstance(json.loads(text or "{}"), dict)
    except ValueError:
        is_object = False
    # As tools read it: with numbers that JSON does not have, which are refused with their place.
    return parse_json(text or "{}", constant=float) if is_object else {"arguments": text}


def _text_of(changed: Any, text: str) -> str:
    return json_text(changed) if _arguments(text) != {"arguments": text} else str(changed["arguments"])


def _asks(client: Guarding, options: GuardOptions, before: Any) -> Callable[[Any, Any, str], Awaitable[bool]]:
    async def needs_approval(context: Any, arguments: Any, call_id: str) -> bool:
        if before is True or (callable(before) and await maybe_awaited(before(context, arguments, call_id))):
            return True
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        args = (_CallContext(context, call_id), text)
        given: Dict[str, Any] = {name: value for name, value in vars(options.given(args, {})).items() if value is not None}
        given["accepts"] = ("steer", "ask", "modify")
        if options.agent is not None:
            given["agent"] = options.agent
        assert options.input is not None
        step = Step(str(options.step), options.input(*args), options.type, context=of_call(options.context, args, {}))
        try:
            evaluation = await client.evaluate("pre", step, **given)
        except TypeError:
            # It cannot be checked, so it will not run.
            return False
        return bool(evaluation.outcome == "ask")

    return needs_approval


class _CallContext:
    """The context of a run with the id of a call, which tools get with their context."""

    def __init__(self, context: Any, call_id: str) -> None:
        self._context = context
        self.tool_call_id = call_id

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)


@dataclass(frozen=True)
class GuardrailOutput:
    """As ``GuardrailFunctionOutput`` of the SDK."""

    #: A ``ToolRefusal`` if the run must stop; None otherwise.
    output_info: Any
    tripwire_triggered: bool


def input_guardrail(client: Guarding, step: str = "model_input", **options: Any) -> Callable[..., Awaitable[GuardrailOutput]]:
    """A function for ``InputGuardrail(guardrail_function=..., run_in_parallel=False)``: checks the input of a run, as a step of
    type ``llm``. Without an answer of the service the run stops. In parallel, as guardrails are when nothing is said, the model
    has the input and may call tools before it is checked."""

    async def check(context: Any, agent: Any, given: Any) -> GuardrailOutput:
        checked = {"name": step, "type": "llm", "input": {**_named(agent), "messages": _messages(given)}}
        return _guardrail_output(await client.evaluate("pre", checked, **options), step, "pre")

    return check


def output_guardrail(client: Guarding, step: str = "model_output", **options: Any) -> Callable[..., Awaitable[GuardrailOutput]]:
    """A function for ``OutputGuardrail(guardrail_function=...)``: checks the final output of a run, not what its
    model says in between."""

    async def check(context: Any, agent: Any, output: Any) -> GuardrailOutput:
        checked = {"name": step, "type": "llm", "input": _named(agent), "output": _output(output)}
        return _guardrail_output(await client.evaluate("post", checked, **options), step, "post")

    return check


def _named(agent: Any) -> Dict[str, Any]:
    return {"agent": getattr(agent, "name", "")}


def _messages(given: Any) -> Any:
    return [{"role": "user", "content": given}] if isinstance(given, str) else given


def _output(output: Any) -> Any:
    return {"text": output} if isinstance(output, str) else output


def _guardrail_output(evaluation: Evaluation, step: str, stage: str) -> GuardrailOutput:
    if evaluation.is_safe:
        return GuardrailOutput(None, False)
    error = error_of(evaluation, agent=None, step=step, stage=stage)
    return GuardrailOutput(refusal_of(error), True)


__all__ = ["GuardrailOutput", "ToolRefusal", "guarded_tool", "input_guardrail", "output_guardrail"]
