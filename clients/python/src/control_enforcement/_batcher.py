"""Collects evaluations into batches, bounds the number in flight, and sends lost ones again."""

from __future__ import annotations

import asyncio
import time
from typing import Any, Awaitable, Callable, Deque, Dict, List, NamedTuple, Optional, Sequence
from collections import deque

import grpc

from ._carriers import CallCarrier, Events, StreamCarrier
from ._failures import is_draining, is_refusal, is_transient, pause_seconds, remedy_for, status_error
from ._pending import Pending
from .errors import ServiceError

#: Most bytes of steps in a shared message; larger steps are sent alone. The default limit is 8 MiB.
_MAX_BATCH_BYTES = 1024 * 1024
#: Most evaluations waiting to be sent, so that an unreachable service does not fill the memory.
_MAX_WAITING = 65_536
#: An evaluation involved in this many failures that it may have caused is sent alone.
_MAX_SUSPICIONS = 2


class BatchSettings(NamedTuple):
    max_batch: int
    max_in_flight: int
    #: Seconds.
    window: float
    #: After connections were refused for so many seconds, new evaluations fail at the next refusal.
    refused_after: float


class _Refused(NamedTuple):
    since: float
    error: ServiceError


class Batcher:
    """While nothing is in flight, evaluations requested in one turn of the event loop are sent at once; otherwise they wait
    for others, at most for the window. So a single evaluation has no batching delay."""

    def __init__(
        self,
        settings: BatchSettings,
        make_stream: Callable[[Events], StreamCarrier],
        make_single: Callable[[Events], CallCarrier],
        renew_key: Optional[Callable[[], Awaitable[None]]],
    ) -> None:
        self._settings = settings
        self._renew = renew_key
        events = Events(self._answered, self._lost)
        self.streams = make_stream(events)
        self._single = make_single(events)
        self._loop = asyncio.get_running_loop()
        #: In sending order. May contain settled ones.
        self._queue: Deque[Pending] = deque()
        #: Evaluations that pause before the next attempt.
        self._pausing: Dict[Pending, asyncio.TimerHandle] = {}
        self._in_flight = 0
        self._timer: Optional[asyncio.Handle] = None
        #: Set while nothing is sent at all, after a failed connection or call.
        self._pause_timer: Optional[asyncio.TimerHandle] = None
        self._failures = 0
        self._closed = False
        #: Since when every connection was refused, and the last error.
        self._refused: Optional[_Refused] = None

    def add(self, pending: Pending) -> None:
        if len(self._queue) >= _MAX_WAITING:
            self._queue = deque(one for one in self._queue if not one.settled)
        if len(self._queue) >= _MAX_WAITING:
            pending.fail(ServiceError(grpc.StatusCode.UNAVAILABLE, f"{_MAX_WAITING} evaluations wait already"))
            return
        if self._pause_timer is not None and self._refused is not None and self._is_refused_for(pending):
            pending.fail(self._refused.error)
            return
        self._queue.append(pending)
        self._schedule()

    def forget(self, pending: Pending) -> None:
        """Called when an evaluation is settled for any reason."""
        timer = self._pausing.pop(pending, None)
        if timer is not None:
            timer.cancel()

    def close(self) -> None:
        """Ends what carries evaluations. The evaluations themselves are settled by their creator."""
        self._closed = True
        for timer in (self._timer, self._pause_timer, *self._pausing.values()):
            if timer is not None:
                timer.cancel()
        self._queue.clear()
        self.streams.close()
        self._single.close()

    def _is_refused_for(self, pending: Pending) -> bool:
        """Whether connections were already refused for long when an evaluation began."""
        return self._refused is not None and pending.since - self._refused.since >= self._settings.refused_after

    def _schedule(self) -> None:
        if self._closed or self._pause_timer is not None:
            return
        if len(self._queue) >= self._settings.max_batch:
            self._send(False)
        if not self._queue or self._timer is not None:
            return
        if self._in_flight > 0:
            self._timer = self._loop.call_later(self._settings.window, self._turn)
        else:
            self._timer = self._loop.call_soon(self._turn)

    def _turn(self) -> None:
        self._timer = None
        self._send(True)

    def _send(self, everything: bool) -> None:
        """Sends what may be in flight: full batches, or all waiting evaluations."""
        if self._closed or self._pause_timer is not None:
            return
        most = self._settings.max_batch
        while len(self._queue) >= (1 if everything else most) and self._in_flight < self._settings.max_in_flight:
            batch = self._take(min(most, self._settings.max_in_flight - self._in_flight))
            if not batch:
                continue
            self._in_flight += len(batch)
            send = self._single.send if _travels_alone(batch[0]) else self.streams.send
            send(batch)

    def _take(self, limit: int) -> List[Pending]:
        """The next batch; empty when those considered are settled."""
        batch: List[Pending] = []
        size = 0
        while self._queue and len(batch) < limit:
            pending = self._queue[0]
            if not pending.settled:
                is_alone = _travels_alone(pending)
                size += pending.size
                if batch and (is_alone or size > _MAX_BATCH_BYTES):
                    break
                batch.append(pending)
                if is_alone:
                    limit = 1
            self._queue.popleft()
        return batch

    def _answered(self, batch: Sequence[Pending], results: Sequence[Any]) -> None:
        self._in_flight -= len(batch)
        self._failures = 0
        self._refused = None
        for index, pending in enumerate(batch):
            outcome = results[index].WhichOneof("outcome") if index < len(results) else None
            if outcome == "verdict":
                pending.answer(results[index].verdict)
            elif outcome == "error":
                self._failed(pending, status_error(results[index].error))
            else:
                message = "the reply has no result for this evaluation"
                pending.fail(ServiceError(grpc.StatusCode.INTERNAL, message))
        self._schedule()

    def _failed(self, pending: Pending, error: ServiceError) -> None:
        """Handles the status of one evaluation."""
        if pending.settled:
            return
        if not is_transient(error):
            pending.fail(error)
            return
        pending.note(error)

        def again() -> None:
            self._pausing.pop(pending, None)
            self.add(pending)

        pause = pause_seconds(pending.attempts, error.retry_after)
        pending.attempts += 1
        self._pausing[pending] = self._loop.call_later(pause, again)

    def _lost(self, batch: Sequence[Pending], error: ServiceError) -> None:
        """Handles the failure of a stream or a call with these evaluations."""
        self._in_flight -= len(batch)
        if self._closed:
            return
        if error.code is grpc.StatusCode.UNAUTHENTICATED and self._renew is not None:
            asyncio.ensure_future(self._renew_key(batch, error, self._renew))
            return
        remedy = remedy_for(error)
        if not is_refusal(error):
            self._refused = None
        else:
            self._refused = _Refused(time.monotonic() if self._refused is None else self._refused.since, error)
        again = [one for one in batch if not one.settled and self._may_send_again(one, batch, remedy, error)]
        # They have waited longest.
        self._queue.extendleft(reversed(again))
        if remedy in ("again", "reconnect", "suspect") and not self._continues_elsewhere(error):
            self._pause(error.retry_after)
        else:
            self._schedule()

    def _continues_elsewhere(self, error: ServiceError) -> bool:
        """Whether a stream that ended can be replaced at once: only for the first failure."""
        if self._failures > 0 or not is_draining(error):
            return False
        self._failures += 1
        return True

    async def _renew_key(
        self, batch: Sequence[Pending], error: ServiceError, renew: Callable[[], Awaitable[None]]
    ) -> None:
        """The key was refused: each evaluation is sent once more, with the key as it is now."""
        again: List[Pending] = []
        for pending in batch:
            if pending.settled:
                continue
            pending.note(error)
            if pending.key_renewed:
                pending.fail(error)
            else:
                again.append(pending)
            pending.key_renewed = True
        if again:
            try:
                await renew()
            except ServiceError as reason:
                # The next stream reads the key, too; it reports why that is impossible.
                for pending in again:
                    pending.note(reason)
            if self._closed:
                return
            self._queue.extendleft(reversed(again))
        self._schedule()

    def _may_send_again(self, pending: Pending, batch: Sequence[Pending], remedy: str, error: ServiceError) -> bool:
        pending.note(error)
        if remedy == "again" and not self._is_refused_for(pending):
            return True
        if remedy not in ("fail", "again"):
            pending.suspicions += 1
            is_last = len(batch) == 1 if remedy == "alone" else remedy == "suspect" and pending.alone
            pending.alone = pending.alone or remedy == "alone" or pending.suspicions >= _MAX_SUSPICIONS
            if not is_last:
                return True
        pending.fail(error)
        return False

    def _pause(self, at_least: float) -> None:
        if self._pause_timer is not None:
            return

        def over() -> None:
            self._pause_timer = None
            self._send(True)

        self._pause_timer = self._loop.call_later(pause_seconds(self._failures, at_least), over)
        self._failures += 1


def _travels_alone(pending: Pending) -> bool:
    return pending.alone or pending.size > _MAX_BATCH_BYTES
