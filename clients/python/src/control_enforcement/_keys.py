"""Where the API key of a client comes from."""

from __future__ import annotations

import inspect
import os
import re
from typing import Any, Awaitable, Callable, Optional, Tuple, Union

import grpc

from .errors import ServiceError

#: A key, or a function that returns the present one. The function is called for each new stream, and again when the
#: service refuses the key. It must not block: it runs in the event loop of the client.
ApiKey = Union[str, Callable[[], Union[str, Awaitable[str]]]]
Header = Tuple[Tuple[str, str], ...]

#: Visible characters: others cannot travel in a header.
_SENDABLE = re.compile(r"[\x21-\x7e]+")


def key_from_file(path: "str | os.PathLike[str]") -> Callable[[], str]:
    """The key in a file, for ``api_key``: read for each new stream, so that a key that is replaced is used."""

    def read() -> str:
        with open(path, encoding="utf-8") as file:
            return file.read().strip()

    return read


class KeySource:
    """The header with the key. Raises a ValueError for a key that cannot be sent."""

    def __init__(self, api_key: Optional[ApiKey]) -> None:
        self._callback: Optional[Callable[[], Any]] = None
        self._last: Optional[Header] = ()
        #: Whether no stream has been opened with the last key since it was renewed.
        self._is_fresh = False
        if isinstance(api_key, str):
            self._last = _header(api_key, "api_key")
        elif api_key is not None:
            if not callable(api_key):
                raise ValueError("api_key must be a text or a function that returns one")
            self._callback = api_key
            self._last = None

    @property
    def is_renewable(self) -> bool:
        """Whether a refused key can be replaced by reading it again."""
        return self._callback is not None

    async def for_call(self) -> Header:
        return self._last if self._last is not None else await self._read()

    async def for_stream(self) -> Header:
        if self._callback is None or (self._is_fresh and self._last is not None):
            self._is_fresh = False
            return self._last or ()
        return await self._read()

    async def renew(self) -> None:
        await self._read()
        self._is_fresh = True

    async def _read(self) -> Header:
        assert self._callback is not None
        try:
            key = self._callback()
            if inspect.isawaitable(key):
                key = await key
        except Exception as error:
            # Where keys are kept may be unavailable for a moment, as the service may be.
            raise ServiceError(grpc.StatusCode.UNAVAILABLE, f"api_key: the function failed: {error}") from error
        try:
            self._last = _header(key, "api_key: the function")
        except ValueError as error:
            raise ServiceError(grpc.StatusCode.FAILED_PRECONDITION, str(error), is_local=True) from error
        return self._last


def _header(key: Any, source: str) -> Header:
    if isinstance(key, str) and _SENDABLE.fullmatch(key):
        return (("x-api-key", key),)
    found = type(key).__name__ if not isinstance(key, str) else "other characters" if key else "an empty text"
    raise ValueError(f"{source} must give a text of visible ASCII characters, not {found}")
