"""Data of steps as JSON: exact, and nothing that controls could not look at."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Mapping
from datetime import date, time
from decimal import Decimal
from enum import Enum
from typing import Any, Callable, Dict, Optional
from uuid import UUID

from .types import Step

#: The service accepts data of at most this depth.
MAX_DEPTH = 200
_MAX_SHOWN_PATH = 60
#: Numbers of JSON are at most 1.8e308 for the service.
_MAX_BITS = 1_024
_MAX_EXPONENT = 308
_SURROGATE = re.compile("[\ud800-\udfff]")


def step_json(step: Step) -> bytes:
    """The step as UTF-8 JSON. Raises a TypeError with the member that JSON cannot represent."""
    if not isinstance(step.name, str):
        raise TypeError("step.name must be a text")
    data: Dict[str, Any] = {"type": step.type, "name": step.name, "input": json_form(step.input, "input")}
    if step.output is not None or step.has_output:
        data["output"] = json_form(step.output, "output")
    if step.context is not None:
        data["context"] = json_form(step.context, "context")
    return json_bytes(data)


def json_form(value: Any, path: str, depth: int = 0) -> Any:
    """The JSON form of a value: dicts, lists, texts, numbers, booleans, None. Members keep their order.

    Data classes, models with ``model_dump``, enums, times, UUIDs, tuples and mappings have a form; bytes, sets, iterators,
    open files and other objects do not: they would hide their content from controls. Raises a TypeError with its path.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        # What it holds: ``str`` of a member of an enum is its name, and that of another class anything.
        return str.__str__(value)
    if isinstance(value, Enum):
        return json_form(value.value, path, depth + 1)
    if isinstance(value, int):
        return _in_range(int.__int__(value), value.bit_length() <= _MAX_BITS, path)
    if isinstance(value, float):
        return float.__float__(_finite(value, math.isfinite(value), path))
    if isinstance(value, Decimal):
        exact = Decimal(_finite(value, value.is_finite(), path))
        return _in_range(exact, exact.adjusted() <= _MAX_EXPONENT, path)
    if depth >= MAX_DEPTH:
        raise TypeError(f"{path[:_MAX_SHOWN_PATH]}… is nested deeper than {MAX_DEPTH} levels, or contains itself")
    if isinstance(value, (list, tuple)):
        return [json_form(item, f"{path}[{index}]", depth + 1) for index, item in enumerate(value)]
    if isinstance(value, Mapping):
        return _object_form(value, path, depth)
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        raise TypeError(f"{path} holds bytes, which controls cannot read; give their text instead")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        shown = {one.name: getattr(value, one.name) for one in dataclasses.fields(value)}
        return _object_form(shown, path, depth)
    dump = getattr(type(value), "model_dump", None)
    if callable(dump):
        form = json_form(value.model_dump(mode="json"), path, depth + 1)
        _demand_all_shown(vars(value) if hasattr(value, "__dict__") else {}, form, path)
        return form
    if hasattr(value, "__next__") or hasattr(value, "__anext__") or hasattr(value, "__aiter__"):
        raise TypeError(f"{path} is a stream, which controls cannot read; give its whole content instead")
    raise TypeError(f"{path} is {kind_of(value)}; give plain data instead")


def _demand_all_shown(members: Mapping[str, Any], form: Any, path: str) -> None:
    """Raises a TypeError if a model has a member that its dump hides, or of which it says otherwise."""
    for name, member in members.items():
        if name.startswith("_"):
            continue
        if not isinstance(form, dict) or name not in form or _differs(member, form[name]):
            raise TypeError(f"{path}.{name} is not what model_dump shows of it; give plain data instead")


def _differs(member: Any, shown: Any) -> bool:
    """Whether plain data are shown otherwise. Values of classes may have a form of their own."""
    if member is None or type(member) in (str, bool, int, float):
        return type(shown) is not type(member) or bool(shown != member)
    if type(member) in (list, tuple):
        return not isinstance(shown, list) or len(shown) != len(member) or any(map(_differs, member, shown))
    if type(member) is dict:
        return not isinstance(shown, dict) or any(
            isinstance(key, str) and (key not in shown or _differs(one, shown[key])) for key, one in member.items()
        )
    return False


def _finite(value: Any, is_finite: bool, path: str) -> Any:
    if is_finite:
        return value
    raise TypeError(f"{path} is {value}, a number that JSON does not have; give a text or None instead")


def _in_range(value: Any, is_in_range: bool, path: str) -> Any:
    if is_in_range:
        return value
    raise TypeError(f"{path} is a number beyond the range of JSON numbers (up to 1.8e308); give a text instead")


def _object_form(value: Mapping[Any, Any], path: str, depth: int) -> Dict[str, Any]:
    shown: Dict[str, Any] = {}
    for key, member in value.items():
        name = _name_of(key, path)
        if name in shown:
            raise TypeError(f"{path} has the name {name!r} twice; give texts as names")
        shown[name] = json_form(member, f"{path}.{name}", depth + 1)
    return shown


def _name_of(key: Any, path: str) -> str:
    if isinstance(key, Enum):
        key = key.value
    if isinstance(key, str):
        return str.__str__(key)
    if isinstance(key, int) and not isinstance(key, bool):
        return str(json_form(key, path))
    raise TypeError(f"{path} has a name that is {kind_of(key)}, not a text")


def json_bytes(value: Any) -> bytes:
    """The JSON of a form. A text that is no Unicode, such as half of a pair of surrogates, is escaped."""
    text = json_text(value)
    if _SURROGATE.search(text):
        text = _SURROGATE.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
    return text.encode()


def json_text(value: Any) -> str:
    """The JSON text of a form, without spaces."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except TypeError:
        return _exact_text(value)


def _exact_text(value: Any) -> str:
    """As above, with decimals, which ``json`` does not print."""
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, list):
        return f"[{','.join(map(_exact_text, value))}]"
    if isinstance(value, dict):
        members = (f"{json.dumps(name, ensure_ascii=False)}:{_exact_text(one)}" for name, one in value.items())
        return f"{{{','.join(members)}}}"
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def parse_json(text: str, constant: Optional[Callable[[str], Any]] = None) -> Any:
    """JSON with all digits of its numbers: those that no float holds are decimals. ``constant`` makes something of numbers that
    JSON does not have, such as NaN. Raises a ValueError."""
    return json.loads(text, parse_float=_number, parse_constant=constant or _refused)


def _number(text: str) -> Any:
    near = float(text)
    try:
        exact = Decimal(text)
    except ArithmeticError:
        # Beyond the range of decimals, too.
        return near
    return near if math.isfinite(near) and Decimal(repr(near)) == exact else exact


def _refused(text: str) -> Any:
    raise ValueError(f"{text} is no number of JSON")


def kind_of(value: Any) -> str:
    """What a value is, in words, without any of its content."""
    if value is None:
        return "None"
    if isinstance(value, str):
        return "a text"
    if isinstance(value, (list, tuple)):
        return "a list"
    if callable(value):
        return "a function"
    return f"an object of the class {type(value).__name__}"
