"""LangChain: its tools, and calls of chat models.

Nothing of LangChain is imported: a tool is an object with ``name``, ``func`` or ``coroutine``, and ``model_copy``; a model has
``invoke`` and ``ainvoke``.
"""

from __future__ import annotations

import inspect
from typing import Any, Callable, Dict, TypeVar, Union

from .._base import Session
from ..aio import AsyncClient
from ..client import Client
from ..types import Approval, Step
from ._injected import injected
from ._messages import messages_data, reply_data
from ._refusal import ToolRefusal, telling

Tool = TypeVar("Tool")
#: What guards: a client, or one of its sessions.
Guarding = Union[Client, AsyncClient, Session]


def guarded_tool(client: Guarding, tool: Tool, **options: Any) -> Tool:
    """A copy of a tool that is checked before and after it runs. A refused call returns a ``ToolRefusal`` as text, which the
    model reads.

    With a ``Client`` both its function and its coroutine are guarded; an ``AsyncClient`` guards the coroutine of a tool, and
    refuses a tool that has a function alone. What LangChain and LangGraph add to the arguments, such as a configuration or a
    state, is no part of the step; what else the function takes is. ``options`` are those of ``guard``; ``step`` is the name of
    the tool when absent, and ``ignored`` names further parameters that are no part. ``client`` may be a session.
    """
    step = options.pop("step", getattr(tool, "name"))
    further = options.pop("ignored", ())
    has_artifact = getattr(tool, "response_format", "content") == "content_and_artifact"
    told: Any = _with_artifact if has_artifact else str
    update: Dict[str, Any] = {}
    for member in ("func", "coroutine"):
        function = getattr(tool, member, None)
        if function is not None:
            guarded = client.guard(function, step=step, ignored={*injected(tool, function), *further}, **options)
            # LangChain reads the signature and the types of the function, which the wrapper shows as its own.
            update[member] = telling(guarded, inspect.iscoroutinefunction(guarded), told)
    if not update:
        raise TypeError(f'the tool "{step}" has neither func nor coroutine: guard the function that it calls')
    if "func" in update and inspect.iscoroutinefunction(update["func"]):
        if "coroutine" not in update:
            raise TypeError(f'the tool "{step}" has no coroutine: guard it with a Client, which blocks')
        # It would run unchecked.
        update["func"] = None
    return getattr(tool, "model_copy")(update=update)  # type: ignore[no-any-return]


def _with_artifact(refusal: ToolRefusal) -> Any:
    return str(refusal), refusal


def interrupting(interrupt: Callable[[Any], Any]) -> Callable[[Approval, Step], str]:
    """The option ``on_ask`` that interrupts a graph with ``interrupt`` of LangGraph. Resume the graph once the step is approved:
    the call then waits for the decision, which is there."""

    def on_ask(approval: Approval, step: Step) -> str:
        interrupt(
            {
                "type": "approval_required",
                "approval_id": approval.id,
                "expires_at": approval.expires_at.isoformat(),
                "action": {"name": step.name, "args": step.input},
            }
        )
        return "wait"

    return on_ask


class GuardedModel:
    """A chat model whose messages are checked before it gets them, and whose reply is checked before anything sees it: the model
    inside is called without the callbacks of the run, which would see its text as it is written. A refused call raises.
    ``RunnableLambda(model.invoke, afunc=model.ainvoke)`` makes a runnable of it."""

    def __init__(self, client: Guarding, model: Any, **options: Any) -> None:
        def ask(messages: Any, config: Any, kwargs: Dict[str, Any]) -> Any:
            return model.invoke(messages, _without_callbacks(config), **kwargs)

        async def ask_async(messages: Any, config: Any, kwargs: Dict[str, Any]) -> Any:
            return await model.ainvoke(messages, _without_callbacks(config), **kwargs)

        given: Dict[str, Any] = {
            "step": "model",
            "type": "llm",
            "input": lambda messages, config, kwargs: messages_data(messages),
            "output": reply_data,
            **options,
        }
        self._invoke = client.guard(ask, **given)
        self._ainvoke = client.guard(ask_async, **given)

    def invoke(self, messages: Any, config: Any = None, **kwargs: Any) -> Any:
        if inspect.iscoroutinefunction(self._invoke):
            raise TypeError("a model that is guarded by an AsyncClient has ainvoke alone")
        return self._invoke(messages, config, kwargs)

    async def ainvoke(self, messages: Any, config: Any = None, **kwargs: Any) -> Any:
        return await self._ainvoke(messages, config, kwargs)


def _without_callbacks(config: Any) -> Dict[str, Any]:
    # Absent ones would be those of the surrounding run.
    return {**(config or {}), "callbacks": []}


__all__ = ["GuardedModel", "ToolRefusal", "guarded_tool", "interrupting", "messages_data", "reply_data"]
