"""The services of a client."""

from __future__ import annotations

import re
from typing import Any, Callable, Optional

from . import v1
from ._channel import descriptor_of, is_streaming


class Service:
    """The RPCs of a service as methods, named in the way of Python: ``init_agent`` for InitAgent. They do not retry."""

    def __init__(self, name: str, call: Callable[[str, Any, Any, Optional[float]], Any]) -> None:
        for method in descriptor_of(name).methods:
            if not is_streaming(method)[1]:
                setattr(self, snake_case(method.name), _rpc(name, method, call))


def _rpc(service: str, method: Any, call: Callable[[str, Any, Any, Optional[float]], Any]) -> Any:
    kind = v1.message_class(method.input_type.full_name)

    def rpc(request: Any = None, *, timeout: Optional[float] = None) -> Any:
        return call(service, method, v1.parsed(kind, request), timeout)

    rpc.__name__ = snake_case(method.name)
    rpc.__doc__ = f"{service}.{method.name}: takes a {kind.DESCRIPTOR.name}, or its members as in JSON."
    return rpc


def snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z\d])([A-Z])", r"_\1", name).lower()
