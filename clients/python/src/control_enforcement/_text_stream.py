"""Streamed text of a model, checked in windows before anything sees it."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import queue
import threading
from dataclasses import replace
from typing import Any, AsyncIterator, Dict, Iterator, Mapping, Optional, Set, Tuple

from ._background import is_over
from ._flow import LOG, inline, maybe_awaited
from ._guarded_data import changed_data, error_text
from ._refusals import raise_unless_safe
from ._settings import new_id
from ._text_windows import ReleasedTextError, TextWindows
from .errors import StepDataError
from .types import Step

#: Parts that are read before a slow reader has taken the text of the first of them.
_READ_AHEAD = 64
_ACCEPTS: Tuple[Any, ...] = ("steer", "modify")
_LEFT = RuntimeError("the stream is no longer read")
#: In place of a part: there is none, and there is none in time.
_END, _LATE = object(), object()
_ending: "Set[asyncio.Task[None]]" = set()


def guard_text_stream(
    client: Any,
    source: Any,
    *,
    step: str = "model",
    input: Any = None,
    max_chars: int = 400,
    max_delay: float = 0.5,
    overlap_chars: int = 100,
    step_id: Optional[str] = None,
    **options: Any,
) -> Any:
    """The text of a model as it may be shown. An iterator of texts gives one, with a ``Client`` or its session, and an async
    iterator an async one, with an ``AsyncClient``. It is checked after the step, in windows of ``max_chars`` characters or of
    what arrived in ``max_delay`` seconds, each with the ``overlap_chars`` characters before it, and as a whole at its end. Redacted
    text is released redacted. Raises a StepError for what is refused, and a StepDataError if a control changes what was released;
    then no more of the source is read.

    ``input`` is that of the step, which is of type ``llm``: check it with ``evaluate`` and the same ``step_id`` before the model
    gets it. ``options`` are those of ``evaluate``."""
    is_async = inspect.iscoroutinefunction(getattr(client, "_client", client).evaluate)
    if is_async != hasattr(source, "__aiter__"):
        raise TypeError("guard_text_stream: a Client takes an iterator, and an AsyncClient an async iterator")
    given = Step(step, {} if input is None else input, type="llm", has_output=True)
    checks = _Checks(client, given, step_id or new_id(), options)
    windows = TextWindows(checks.window, max_chars, max_delay, overlap_chars)
    return _checked_async(checks, windows, source) if is_async else _checked(checks, windows, source)


class _Checks:
    """The evaluations of a stream. They do not pause if those of the client do not, see ``_flow``."""

    def __init__(self, client: Any, step: Step, step_id: str, options: Mapping[str, Any]) -> None:
        self._client, self._step, self._step_id, self._options = client, step, step_id, options
        self._count = 0
        self.is_settled = False

    async def window(self, text: str) -> str:
        # A step of its own: the end of the call is settled with the whole text.
        self._count += 1
        step = replace(self._step, context={"window": self._count})
        return await self._text_of(step, text, f"{self._step_id[:240]}.w{self._count}")

    async def whole(self, text: str) -> str:
        self.is_settled = True
        return await self._text_of(self._step, text, self._step_id)

    async def failed(self, error: BaseException) -> None:
        """Ends the step of a stream that was not read to its end."""
        if self.is_settled:
            return
        self.is_settled = True
        given: Dict[str, Any] = {**self._options, "cancellation": None, "step_error": error_text(error)}
        try:
            await maybe_awaited(self._client.evaluate("post", self._step, step_id=self._step_id, **given))
        except Exception as reason:
            LOG.debug('The end of the step "%s" was not sent: %s', self._step.name, reason)

    async def _text_of(self, step: Step, text: str, step_id: str) -> str:
        data = {"text": text}
        given: Dict[str, Any] = {**self._options, "accepts": _ACCEPTS, "step_id": step_id}
        evaluation = await maybe_awaited(self._client.evaluate("post", replace(step, output=data), **given))
        agent = self._options.get("agent")
        modification = raise_unless_safe(evaluation, agent=agent, step=step.name, stage="post", accepts=_ACCEPTS)
        return text if modification is None else str(changed_data(step.name, modification, "output", data)["text"])

    def told(self, error: BaseException) -> BaseException:
        """What a caller is told of an error."""
        if not isinstance(error, ReleasedTextError):
            return error
        name = self._step.name
        message = f'Step "{name}" was stopped after it ran: its text may be shown with changes only, and has begun already.'
        return StepDataError(message, name, "post")


def _checked(checks: _Checks, windows: TextWindows, source: Any) -> Iterator[str]:
    reader = _Reader(source)
    try:
        while True:
            left = windows.time_left()
            part = _LATE if left == 0 else reader.next(left)
            if part is _END:
                break
            text = inline(windows.time_is_over() if part is _LATE else windows.add(_text(part)))
            if text:
                yield text
        text = inline(windows.end(checks.whole))
        if text:
            yield text
    except BaseException as error:
        # Who leaves must not wait for it.
        if not checks.is_settled and not is_over():
            ending = checks.failed(_LEFT if isinstance(error, GeneratorExit) else error)
            threading.Thread(target=inline, args=(ending,), name="control-enforcement-end").start()
        if isinstance(error, ReleasedTextError):
            raise checks.told(error) from None
        raise
    finally:
        reader.stop()


async def _checked_async(checks: _Checks, windows: TextWindows, source: Any) -> AsyncIterator[str]:
    iterator = source.__aiter__()
    reading: "Optional[asyncio.Future[Any]]" = None
    try:
        while True:
            if reading is None:
                reading = asyncio.ensure_future(iterator.__anext__())
            left = windows.time_left()
            if left != 0:
                await asyncio.wait({reading}, timeout=left)
            if not reading.done():
                text = await windows.time_is_over() if windows.time_left() == 0 else ""
            else:
                read, reading = reading, None
                try:
                    part = read.result()
                except StopAsyncIteration:
                    break
                text = await windows.add(_text(part))
            if text:
                yield text
        text = await windows.end(checks.whole)
        if text:
            yield text
    except BaseException as error:
        if not checks.is_settled:
            task = asyncio.ensure_future(checks.failed(_LEFT if isinstance(error, GeneratorExit) else error))
            _ending.add(task)
            task.add_done_callback(_ending.discard)
        if isinstance(error, ReleasedTextError):
            raise checks.told(error) from None
        raise
    finally:
        if reading is not None:
            reading.cancel()
            await asyncio.wait({reading})
        if hasattr(iterator, "aclose"):
            await iterator.aclose()


class _Reader:
    """Reads an iterator in a thread, so that the time of a window does not depend on it. One that waits for its next part when
    it is not needed any more ends with that part."""

    def __init__(self, source: Any) -> None:
        self._source = iter(source)
        self._parts: "queue.SimpleQueue[Tuple[Any, Optional[BaseException]]]" = queue.SimpleQueue()
        self._room = threading.Semaphore(_READ_AHEAD)
        self._is_left = False
        run = contextvars.copy_context().run
        threading.Thread(target=run, args=(self._read,), name="control-enforcement-text", daemon=True).start()

    def next(self, timeout: Optional[float]) -> Any:
        """The next part, or that there is none, or none yet. Raises what the iterator raises."""
        try:
            part, error = self._parts.get(timeout=timeout)
        except queue.Empty:
            return _LATE
        self._room.release()
        if error is not None:
            raise error
        return part

    def stop(self) -> None:
        self._is_left = True
        self._room.release()

    def _read(self) -> None:
        end: Tuple[Any, Optional[BaseException]] = (_END, None)
        try:
            for part in self._source:
                self._parts.put((part, None))
                self._room.acquire()
                if self._is_left:
                    break
            if hasattr(self._source, "close"):
                self._source.close()
        except BaseException as error:
            end = (None, error)
        self._parts.put(end)


def _text(part: Any) -> str:
    if isinstance(part, str):
        return str.__str__(part)
    raise TypeError(f"guard_text_stream: the source must give texts, not {type(part).__name__}")
