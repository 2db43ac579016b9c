"""Windows over a streamed text: what of it may be shown, and when. The same as those of the adapters for TypeScript."""

from __future__ import annotations

import os
import time
from typing import Awaitable, Callable, Optional

from ._settings import seconds, whole

#: Gives a text as it may be shown, unchanged or with changes. Raises if it must not be.
Check = Callable[[str], Awaitable[str]]


class ReleasedTextError(Exception):
    """A control changes text that was released already."""


class TextWindows:
    """Nothing is released that is not checked. A check sees the end of what was released, and everything that waits."""

    def __init__(self, check: Check, max_chars: int, max_delay: float, overlap_chars: int) -> None:
        self._check = check
        self._max_chars = whole("max_chars", max_chars, 100_000)
        self._max_delay = seconds("max_delay", max_delay, 0)
        self._overlap = whole("overlap_chars", overlap_chars, 100_000, 0)
        self.released = ""
        #: What arrived and is not released, as it arrived.
        self._waiting = ""
        #: Lengths of the parts of it that a window had in it, and that may be shown as they are.
        self._seen = self._cleared = 0
        #: When what waits is to be checked at the latest, in seconds of ``time.monotonic()``; None if nothing waits.
        self._deadline: Optional[float] = None

    def time_left(self) -> Optional[float]:
        """Seconds until what waits is to be checked; None if nothing waits."""
        return None if self._deadline is None else max(0.0, self._deadline - time.monotonic())

    async def add(self, text: str) -> str:
        """What may be shown after a further part of the text."""
        self._waiting += text
        self._start_time()
        return await self._window(False) if len(self._waiting) - self._seen >= self._max_chars else ""

    async def time_is_over(self) -> str:
        """What may be shown at the deadline."""
        return await self._window(True)

    async def end(self, check_whole: Check) -> str:
        """What may be shown of the rest, once the whole text is checked."""
        text = self._waiting
        return self._put(await self._allowed(check_whole, self.released, text), len(text))

    async def _window(self, is_time: bool) -> str:
        text = self._waiting
        if len(text) == self._seen:
            return self._put(text[: self._cleared], self._cleared)
        shown = await self._allowed(self._check, self.released[max(0, len(self.released) - self._overlap) :], text)
        self._seen, self._cleared = len(text), 0
        kept = min(self._overlap, len(text))
        if shown == text:
            self._cleared = len(text)
            length = len(text) if is_time else len(text) - kept
            return self._put(text[:length], length)
        # What a control changed at the end may go on in what has not arrived yet: then all of it is to be changed.
        prefix = len(os.path.commonprefix((text, shown)))
        suffix = len(os.path.commonprefix((text[prefix:][::-1], shown[prefix:][::-1])))
        if suffix < self._overlap or suffix == 0:
            return self._put(text[:prefix], prefix)
        self._cleared = len(text)
        return self._put(shown[: len(shown) - kept], len(text) - kept)

    async def _allowed(self, check: Check, shown: str, text: str) -> str:
        result = await check(shown + text)
        if not result.startswith(shown):
            raise ReleasedTextError("a control changes text that was released already")
        return result[len(shown) :]

    def _put(self, text: str, length: int) -> str:
        """Releases a text in place of the first characters that wait."""
        self._waiting = self._waiting[length:]
        self._seen -= length
        self._cleared = max(0, self._cleared - length)
        self.released += text
        self._deadline = None
        self._start_time()
        return text

    def _start_time(self) -> None:
        if self._deadline is None and (len(self._waiting) > self._seen or self._cleared > 0):
            self._deadline = time.monotonic() + self._max_delay
