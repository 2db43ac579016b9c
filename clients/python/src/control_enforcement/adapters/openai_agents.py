"""The OpenAI Agents SDK: its function tools, and guardrails for what goes to and comes from a model.

Use an ``AsyncClient``. Nothing of the SDK is imported: a tool is an object with ``name`` and ``on_invoke_tool(context, text)``,
and a guardrail a function whose result has ``output_info`` and ``tripwire_triggered``.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, Awaitable, Callable, Dict, TypeVar

from .._flow import step_of
from .._refusals import refusal_of as error_of
from .._step_json import json_text, parse_json
from ..aio import AsyncClient
from ..types import Evaluation
from ._refusal import ToolRefusal, refusal_of, telling

Tool = TypeVar("Tool")


def guarded_tool(client: AsyncClient, tool: Tool, *, interrupts: bool = False, **options: Any) -> Tool:
    """A copy of a function tool that is checked before and after it runs. A refused call returns a ``ToolRefusal`` as text,
    which the model reads, and the run goes on.

    With ``interrupts``, a call that a person must approve interrupts the run, as ``needs_approval`` of the SDK does: approve
    the interruption once the service has the approval. ``options`` are those of ``guard``; ``step`` is the name of the tool
    when absent, and further options of the whole client, such as sessions, work by guarding with ``client.session()``.
    """
    invoke: Callable[[Any, str], Awaitable[Any]] = getattr(tool, "on_invoke_tool")
    step = options.pop("step", getattr(tool, "name"))

    async def call(context: Any, text: str) -> Any:
        return await invoke(context, text)

    guarded = client.guard(
        call,
        step=step,
        input=lambda context, text: _arguments(text),
        changed_args=lambda changed, context, text: (context, json_text(changed)),
        **options,
    )
    # Not `replace`: tools of later versions have members that their constructor does not take.
    made = copy.copy(tool)
    setattr(made, "on_invoke_tool", telling(guarded, True, str))
    if interrupts:
        setattr(made, "needs_approval", _asks(client, step, getattr(tool, "needs_approval", False)))
    return made


def _arguments(text: str) -> Any:
    """The arguments that a model gives. What is no JSON is checked as it is; the tool refuses it."""
    try:
        arguments = parse_json(text) if text else {}
    except ValueError:
        return {"arguments": text}
    return arguments if isinstance(arguments, dict) else {"arguments": arguments}


def _asks(client: AsyncClient, step: str, before: Any) -> Callable[[Any, Dict[str, Any], str], Awaitable[bool]]:
    async def needs_approval(context: Any, arguments: Dict[str, Any], call_id: str) -> bool:
        if before is True or (callable(before) and await before(context, arguments, call_id)):
            return True
        checked = step_of({"name": step, "input": arguments})
        return (await client.evaluate("pre", checked, accepts=("steer", "ask", "modify"))).outcome == "ask"

    return needs_approval


@dataclass(frozen=True)
class GuardrailOutput:
    """As ``GuardrailFunctionOutput`` of the SDK."""

    #: A ``ToolRefusal`` if the run must stop; None otherwise.
    output_info: Any
    tripwire_triggered: bool


def input_guardrail(client: AsyncClient, step: str = "model_input", **options: Any) -> Callable[..., Awaitable[GuardrailOutput]]:
    """A function for ``InputGuardrail(guardrail_function=...)``: checks what goes to the model, as a step of type ``llm``.
    Without an answer of the service the run stops."""

    async def check(context: Any, agent: Any, given: Any) -> GuardrailOutput:
        checked = {"name": step, "type": "llm", "input": {"agent": getattr(agent, "name", ""), "messages": given}}
        return _guardrail_output(await client.evaluate("pre", checked, **options), step, "pre")

    return check


def output_guardrail(client: AsyncClient, step: str = "model_output", **options: Any) -> Callable[..., Awaitable[GuardrailOutput]]:
    """A function for ``OutputGuardrail(guardrail_function=...)``: checks the final output of an agent."""

    async def check(context: Any, agent: Any, output: Any) -> GuardrailOutput:
        checked = {"name": step, "type": "llm", "input": {"agent": getattr(agent, "name", "")}, "output": output}
        return _guardrail_output(await client.evaluate("post", checked, **options), step, "post")

    return check


def _guardrail_output(evaluation: Evaluation, step: str, stage: str) -> GuardrailOutput:
    if evaluation.is_safe:
        return GuardrailOutput(None, False)
    error = error_of(evaluation, agent=None, step=step, stage=stage)
    return GuardrailOutput(refusal_of(error), True)


__all__ = ["GuardrailOutput", "ToolRefusal", "guarded_tool", "input_guardrail", "output_guardrail"]
