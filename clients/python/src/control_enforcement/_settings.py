"""Checks of settings: mistakes are told when a client is made, not when it is needed."""

from __future__ import annotations

import re
import uuid
from typing import Any, Tuple
from urllib.parse import urlsplit

#: Longest times, in seconds, as clients of other languages have them.
MAX_SECONDS = (2**31 - 1) / 1000
#: The service takes no longer text as an id.
MAX_ID_LENGTH = 255
_TRACEPARENT = re.compile(r"(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}")


def seconds(name: str, value: Any, least: float = 0.001) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and least <= value <= MAX_SECONDS:
        return float(value)
    raise ValueError(f"{name} must be from {least:g} to {MAX_SECONDS:.0f} seconds")


def whole(name: str, value: Any, most: int, least: int = 1) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
        return value
    raise ValueError(f"{name} must be a whole number from {least} to {most}")


def one_of(name: str, value: Any, *known: str) -> str:
    if value in known:
        return str(value)
    raise ValueError(f"{name} must be " + " or ".join(f'"{one}"' for one in known))


def revision(value: Any) -> int:
    return whole("a revision", value, 2**53 - 1, 0)


def traceparent(value: str) -> str:
    if _TRACEPARENT.fullmatch(value):
        return value
    raise ValueError(
        "traceparent must be as in W3C Trace Context, for example "
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    )


def address_of(base_url: Any) -> Tuple[bool, str]:
    """Whether a service speaks TLS, and its host and port. Raises a ValueError that says what is wrong with the URL."""
    if not isinstance(base_url, str) or not re.match(r"https?://", base_url, re.IGNORECASE):
        given = f", not {_quoted(base_url)}" if isinstance(base_url, str) and base_url else ""
        raise ValueError(f"base_url must begin with http:// or https://{given}; for example http://localhost:8000")
    try:
        parts = urlsplit(base_url)
        port = parts.port
    except ValueError:
        raise ValueError(f"base_url is not a URL: {_quoted(base_url)}") from None
    if not parts.hostname:
        raise ValueError(f"base_url is not a URL: {_quoted(base_url)}")
    is_tls = parts.scheme.lower() == "https"
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    origin = f"{parts.scheme.lower()}://{host}" + ("" if port is None else f":{port}")
    if parts.username is not None or parts.password is not None:
        raise ValueError(f"base_url must have no user name or password: use {origin}, and api_key")
    if parts.path not in ("", "/") or parts.query or parts.fragment:
        raise ValueError(f"base_url must have no path: use {origin} instead of {_quoted(base_url)}")
    return is_tls, f"{host}:{port if port is not None else 443 if is_tls else 80}"


def _quoted(text: str) -> str:
    """A text in quotes. The part before an @ may be a password."""
    return '"' + re.sub(r"(?s)^.*@", "…@", text) + '"'


def new_id() -> str:
    return str(uuid.uuid4())
