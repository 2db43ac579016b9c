"""Copies of what controls look at: the tool gets what was checked, whatever becomes of the caller's objects meanwhile."""

from __future__ import annotations

from enum import Enum
from typing import Any, Tuple

from ._step_json import MAX_DEPTH


def checked_copy(given: Any) -> Tuple[Any, bool]:
    """A copy of plain data, each member read once, and whether nothing of it is shared with the caller.

    Subclasses of dict, list, text and number become what they hold: what they say elsewhere is not what controls see. Objects
    of other classes stay what they are.
    """
    is_whole = True

    def copied(value: Any, depth: int) -> Any:
        nonlocal is_whole
        if value is None or isinstance(value, (bool, Enum)):
            return value
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, int):
            return int.__int__(value)
        if isinstance(value, float):
            return float.__float__(value)
        if depth < MAX_DEPTH:
            if isinstance(value, dict):
                return {copied(key, depth + 1): copied(member, depth + 1) for key, member in value.items()}
            if isinstance(value, list):
                return [copied(item, depth + 1) for item in value]
            if type(value) is tuple:
                return tuple(copied(item, depth + 1) for item in value)
        is_whole = False
        return value

    made = copied(given, 0)
    return made, is_whole
