"""LangChain: its tools, and calls of chat models.

Nothing of LangChain is imported: a tool is an object with ``name``, ``args`` (the parameters that a model sees), ``func`` or
``coroutine``, and ``model_copy``; a model has ``invoke`` and ``ainvoke``.
"""

from __future__ import annotations

import inspect
from typing import Any, Callable, Collection, Dict, Optional, TypeVar, Union

from ..aio import AsyncClient
from ..client import Client
from ..types import Approval, Step
from ._refusal import ToolRefusal, telling

Tool = TypeVar("Tool")
AnyClient = Union[Client, AsyncClient]


def guarded_tool(client: AnyClient, tool: Tool, **options: Any) -> Tool:
    """A copy of a tool that is checked before and after it runs. A refused call returns a ``ToolRefusal`` as text, which the
    model reads.

    With a ``Client`` both its function and its coroutine are guarded; an ``AsyncClient`` guards the coroutine of a tool, and
    refuses a tool that has a function alone. What LangChain adds to the arguments, such as a configuration or a state, is no
    part of the step. ``options`` are those of ``guard``; ``step`` is the name of the tool when absent.
    """
    seen = frozenset(getattr(tool, "args"))
    step = options.pop("step", getattr(tool, "name"))
    has_artifact = getattr(tool, "response_format", "content") == "content_and_artifact"
    told: Callable[[ToolRefusal], Any] = _with_artifact if has_artifact else str
    update: Dict[str, Any] = {}
    for member in ("func", "coroutine"):
        function = getattr(tool, member, None)
        if function is not None:
            update[member] = _guarded(client, function, step, seen, told, options)
    if not update:
        raise TypeError(f'the tool "{step}" has neither func nor coroutine: guard the function that it calls')
    if isinstance(client, AsyncClient):
        if "coroutine" not in update:
            raise TypeError(f'the tool "{step}" has no coroutine: guard it with a Client, which blocks')
        # It would run unchecked.
        update["func"] = None
    return getattr(tool, "model_copy")(update=update)  # type: ignore[no-any-return]


def _guarded(
    client: AnyClient, function: Callable[..., Any], step: str, seen: Collection[str], told: Any, options: Any
) -> Any:
    """LangChain reads the signature and the types of the function, which the wrapper shows as its own."""
    names = inspect.signature(function).parameters
    ignored = [name for name in names if name not in seen and names[name].kind is not inspect.Parameter.VAR_KEYWORD]
    guarded = client.guard(function, step=step, ignored=ignored, **options)
    return telling(guarded, inspect.iscoroutinefunction(guarded), told)


def _with_artifact(refusal: ToolRefusal) -> Any:
    return str(refusal), refusal


def interrupting(interrupt: Callable[[Any], Any]) -> Callable[[Approval, Step], str]:
    """The option ``on_ask`` that interrupts a graph with ``interrupt`` of LangGraph. Resume the graph once the step is approved:
    the call then waits for the decision, which is there."""

    def on_ask(approval: Approval, step: Step) -> str:
        interrupt(
            {
                "approval_id": approval.id,
                "step": step.name,
                "input": step.input,
                "controls": [name for _, name in approval.controls],
            }
        )
        return "wait"

    return on_ask


class GuardedModel:
    """A chat model whose messages are checked before it gets them, and whose reply is checked before anything sees it.
    A refused call raises. ``RunnableLambda(model.invoke, afunc=model.ainvoke)`` makes a runnable of it."""

    def __init__(self, client: AnyClient, model: Any, *, step: str = "model", **options: Any) -> None:
        self._model = model
        given: Dict[str, Any] = {"step": step, "type": "llm", "output": _reply_data, **options}

        def ask(messages: Any, config: Any, kwargs: Dict[str, Any]) -> Any:
            return model.invoke(messages, config, **kwargs)

        async def ask_async(messages: Any, config: Any, kwargs: Dict[str, Any]) -> Any:
            return await model.ainvoke(messages, config, **kwargs)

        def make(tool: Callable[..., Any]) -> Callable[..., Any]:
            shown = {"input": lambda messages, config, kwargs: messages_data(messages), **given}
            return client.guard(tool, **shown)  # type: ignore[no-any-return]

        self._invoke: Optional[Callable[..., Any]] = None if isinstance(client, AsyncClient) else make(ask)
        self._ainvoke = make(ask_async)

    def invoke(self, messages: Any, config: Any = None, **kwargs: Any) -> Any:
        if self._invoke is None:
            raise TypeError("a model that is guarded by an AsyncClient has ainvoke alone")
        return self._invoke(messages, config, kwargs)

    async def ainvoke(self, messages: Any, config: Any = None, **kwargs: Any) -> Any:
        return await self._ainvoke(messages, config, kwargs)


def messages_data(messages: Any) -> Dict[str, Any]:
    """The input of the step of a model: its messages with their roles."""
    shown = messages.to_messages() if hasattr(messages, "to_messages") else messages
    return {"messages": [_message_data(one) for one in shown] if isinstance(shown, (list, tuple)) else _message_data(shown)}


def _message_data(message: Any) -> Any:
    if hasattr(message, "content"):
        data = {"role": getattr(message, "type", None), "content": message.content}
        calls = getattr(message, "tool_calls", None)
        return {**data, "tool_calls": calls} if calls else data
    return list(message) if isinstance(message, tuple) else message


def _reply_data(reply: Any) -> Any:
    return _message_data(reply)


__all__ = ["GuardedModel", "ToolRefusal", "guarded_tool", "interrupting", "messages_data"]
