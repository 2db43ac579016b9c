"""What of a call of a tool controls look at, and how it is changed."""

from __future__ import annotations

import inspect
from typing import Any, Callable, Collection, Dict, Mapping, Optional, Tuple

from ._checked_copy import checked_copy
from ._step_json import json_form, json_text
from ._verdict import changed_by
from .errors import StepDataError
from .types import Modification

#: Most causes of an error that are shown.
_MAX_CAUSES = 8
#: Longest text of the error of a step, as the service takes it.
_MAX_ERROR_LENGTH = 4_096

Arguments = Tuple[Tuple[Any, ...], Dict[str, Any]]


class Parameters:
    """The arguments of calls of a tool by their names, which are the members of the input of its step."""

    def __init__(self, tool: Callable[..., Any], step: str, ignored: Optional[Collection[str]]) -> None:
        self._step = step
        try:
            self._signature: Optional[inspect.Signature] = inspect.signature(tool)
        except (TypeError, ValueError):
            self._signature = None
        self._ignored = frozenset(_receiver_of(tool, self._signature) if ignored is None else ignored)

    @property
    def are_known(self) -> bool:
        return self._signature is not None

    def input_of(self, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Dict[str, Any]:
        """All arguments, also those left to their defaults. Raises a TypeError as the call of the tool would."""
        assert self._signature is not None
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        members: Dict[str, Any] = {}
        for name, value in bound.arguments.items():
            if name in self._ignored:
                continue
            if self._signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
                for key in set(members).intersection(value):
                    # Only one of both could be shown.
                    message = f'Step "{self._step}" did not run: it has the argument {key} twice, by position and by name.'
                    raise StepDataError(message, self._step, "pre")
                members.update(value)
            else:
                members[name] = value
        return members

    def copied(self, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Tuple[Arguments, bool]:
        """Copies of the arguments that controls look at, and whether nothing of them is shared with the caller."""
        assert self._signature is not None
        bound = self._signature.bind(*args, **kwargs)
        is_whole = True
        for name, value in bound.arguments.items():
            if name in self._ignored:
                continue
            kind = self._signature.parameters[name].kind
            made, is_own = checked_copy(list(value) if kind is inspect.Parameter.VAR_POSITIONAL else value)
            bound.arguments[name] = tuple(made) if kind is inspect.Parameter.VAR_POSITIONAL else made
            is_whole = is_whole and is_own
        return (bound.args, bound.kwargs), is_whole

    def changed(self, members: Mapping[str, Any], args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Arguments:
        """The arguments with other members. Raises a StepDataError if the tool cannot be called so."""
        assert self._signature is not None
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        left = dict(members)
        for name, parameter in self._signature.parameters.items():
            if name in self._ignored or parameter.kind is inspect.Parameter.VAR_KEYWORD:
                continue
            if name in left:
                bound.arguments[name] = left.pop(name)
            elif parameter.default is inspect.Parameter.empty and parameter.kind not in (
                inspect.Parameter.VAR_POSITIONAL,
            ):
                self._refuse_change(f"it removes {name}, which the tool needs")
            else:
                bound.arguments.pop(name, None)
        rest = [one for one in self._signature.parameters.values() if one.kind is inspect.Parameter.VAR_KEYWORD]
        if rest:
            bound.arguments[rest[0].name] = left
        elif left:
            self._refuse_change(f"the tool has no parameter {next(iter(left))}")
        bound.apply_defaults()
        return bound.args, bound.kwargs

    def _refuse_change(self, why: str) -> None:
        raise StepDataError(_not_changed(self._step, "input", why), self._step, "pre")


def _receiver_of(tool: Callable[..., Any], signature: Optional[inspect.Signature]) -> Collection[str]:
    """The parameter of a method that is no argument. A function that is no member of a class has none, whatever it is called."""
    first = next(iter(signature.parameters), "") if signature is not None else ""
    place = getattr(tool, "__qualname__", "").rpartition("<locals>.")[2]
    return (first,) if first in ("self", "cls") and "." in place else ()


def readable(value: Any, step: str, member: str) -> Any:
    """The JSON form of an input or an output. Raises a StepDataError for what controls could not look at."""
    try:
        return json_form(value, member)
    except (TypeError, RecursionError) as error:
        what, stage = _state(member)
        message = (
            f'Step "{step}" {what}: {error}. Set the option "{member}" of guard to a function that returns plain data.'
        )
        raise StepDataError(message, step, stage) from None


def changed_data(step: str, modification: Modification, member: str, value: Any) -> Any:
    """Data of a step after its changes. Raises a StepDataError if they cannot be changed so: then it must not proceed."""
    try:
        return changed_by(modification.patch, member, value)
    except TypeError as error:
        raise StepDataError(_not_changed(step, member, str(error)), step, _state(member)[1]) from None


def check_unchanged(step: str, before: Any, now: Any) -> None:
    """Raises a StepDataError if the input of a step is not what was checked."""
    if json_text(before) == json_text(now):
        return
    message = f'Step "{step}" did not run: its arguments have changed since they were checked. Give them to a new call.'
    raise StepDataError(message, step, "pre")


def _not_changed(step: str, member: str, why: str) -> str:
    what, _ = _state(member)
    return f'Step "{step}" {what}: it may proceed with a changed {member} only, and this one cannot be changed: {why}.'


def _state(member: str) -> Tuple[str, Any]:
    return ("did not run", "pre") if member == "input" else ("ran, and its result is withheld", "post")


def thrown_data(error: BaseException, step: str) -> Any:
    """What a model could see of an error of a tool, as the output of the step: names, texts, members, causes."""
    return readable({"error": _shown(error, 0)}, step, "output")


def _shown(error: BaseException, depth: int) -> Any:
    shown: Dict[str, Any] = {}
    for name, value in {**{"args": error.args}, **vars(error)}.items():
        try:
            shown[name] = json_form(value, name)
        except (TypeError, RecursionError):
            shown[name] = _text_of(value)
    shown.update(name=type(error).__name__, message=_text_of(error))
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if cause is not None:
        shown["cause"] = _text_of(cause) if depth >= _MAX_CAUSES else _shown(cause, depth + 1)
    return shown


def _text_of(value: Any) -> str:
    try:
        return str(value)
    except Exception:
        return "its text cannot be shown"


def error_text(error: BaseException) -> str:
    """Why a tool failed, as the service is told it."""
    text = f"{type(error).__name__}: {_text_of(error)}"
    # The service counts UTF-16 code units.
    units = text.encode("utf-16-le", "replace")[: 2 * _MAX_ERROR_LENGTH]
    return units.decode("utf-16-le", "ignore")
