"""Parameters of tools that LangChain and LangGraph fill, not a model."""

from __future__ import annotations

import functools
import inspect
import typing
from typing import Any, Callable, Collection, Dict, FrozenSet

#: Classes of LangChain whose subclasses mark such a parameter, as its type or in ``Annotated``: states, stores, runtimes, ids of
#: calls and configurations.
_MARKS = frozenset(("RunnableConfig", "InjectedToolArg", "_DirectlyInjectedToolArg"))
#: Filled because of their names alone, unless a model sees them.
_NAMES = ("callbacks", "run_manager", "runtime")


def injected(tool: Any, function: Callable[..., Any]) -> FrozenSet[str]:
    """Names of such parameters of the function of a tool. A parameter that is not known as one is an argument: a model that is
    not held to a schema could give it."""
    hints = {**_hints_of(function), **_hints_of(getattr(tool, "args_schema", None))}
    seen = _seen_of(tool)
    names = inspect.signature(function).parameters
    return frozenset(
        name for name in names if _is_marked(hints.get(name)) or (name in _NAMES and name not in seen)
    )


def _hints_of(annotated: Any) -> Dict[str, Any]:
    if isinstance(annotated, functools.partial):
        annotated = annotated.func
    if not callable(annotated):
        return {}
    has_own = inspect.isroutine(annotated) or isinstance(annotated, type)
    try:
        return typing.get_type_hints(annotated if has_own else type(annotated).__call__, include_extras=True)
    except Exception:
        # Types that cannot be resolved: LangChain does not know them either.
        return {}


def _seen_of(tool: Any) -> Collection[str]:
    """The parameters that a model sees: those of a JSON schema, or of a model of either version of pydantic."""
    schema = getattr(tool, "tool_call_schema", None)
    if isinstance(schema, dict):
        properties: Collection[str] = schema.get("properties", {})
        return properties
    return getattr(schema, "model_fields", None) or getattr(schema, "__fields__", None) or ()


def _is_marked(hint: Any) -> bool:
    marks = getattr(hint, "__metadata__", ())
    if any(_has_mark(one if isinstance(one, type) else type(one)) for one in marks):
        return True
    parts = typing.get_args(hint)
    if marks or (parts and type(None) in parts):
        return any(map(_is_marked, parts))
    return _has_mark(typing.get_origin(hint) or hint)


def _has_mark(kind: Any) -> bool:
    return isinstance(kind, type) and any(one.__name__ in _MARKS for one in kind.__mro__)
