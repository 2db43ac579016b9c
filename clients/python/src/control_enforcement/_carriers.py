"""What takes evaluations to the service: streams for batches, and calls for those that travel alone."""

from __future__ import annotations

import asyncio
import queue
import time
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, NamedTuple, Optional, Sequence, Set

import grpc

from . import v1
from .errors import ServiceError

if TYPE_CHECKING:
    from ._channel import Channel
    from ._pending import Pending

#: A stream accepts no new messages after this time, in seconds; the next message opens another.
_STREAM_AGE = 5.0
#: A stream without an open message ends after this time, to keep neither a process nor a server alive.
_STREAM_IDLE = 1.0

Batch = Sequence["Pending"]


class Events(NamedTuple):
    """Receives the outcome of batches: each that was sent is answered or lost, exactly once."""

    #: One result for each evaluation, in the order of the batch.
    answered: Callable[[Batch, Sequence[Any]], None]
    #: The transport failed; the service may or may not have evaluated them.
    lost: Callable[[Batch, ServiceError], None]


class CallCarrier:
    """Sends each batch as a call of EvaluateBatch."""

    def __init__(self, channel: "Channel", events: Events) -> None:
        self._channel = channel
        self._events = events
        self._running: Set["asyncio.Task[None]"] = set()

    def send(self, batch: Batch) -> None:
        task = asyncio.ensure_future(self._call(batch))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    def close(self) -> None:
        for task in list(self._running):
            task.cancel()

    async def _call(self, batch: Batch) -> None:
        request = v1.EvaluateBatchRequest(evaluations=[pending.message for pending in batch])
        timeout = max(0.001, max(pending.expires_at for pending in batch) - time.monotonic())
        try:
            reply = await self._channel.unary("EvaluationService", "EvaluateBatch", request, timeout)
        except ServiceError as error:
            self._events.lost(batch, error)
        else:
            self._events.answered(batch, reply.results)


class _Open(NamedTuple):
    batch: Batch
    sent_at: float


class _Stream:
    """One EvaluateStream."""

    def __init__(self, channel: "Channel", carrier: "StreamCarrier") -> None:
        self._channel = channel
        self._carrier = carrier
        #: Read by a thread of gRPC; None is the end.
        self._outbox: "queue.SimpleQueue[Optional[Any]]" = queue.SimpleQueue()
        self._opened_at = self._last_used_at = self._last_reply_at = time.monotonic()
        self._unanswered: Dict[str, _Open] = {}
        self._next_id = 0
        self.finished = False
        self._loop = asyncio.get_running_loop()
        self._idle_timer = self._loop.call_later(_STREAM_IDLE, self._finish_if_idle)
        self._task = asyncio.ensure_future(self._run())

    def is_finished(self) -> bool:
        return self.finished or time.monotonic() - self._opened_at > _STREAM_AGE

    def send(self, batch: Batch) -> None:
        key = str(self._next_id)
        self._next_id += 1
        self._last_used_at = time.monotonic()
        self._unanswered[key] = _Open(batch, self._last_used_at)
        self._outbox.put(
            v1.EvaluateStreamRequest(id=key, evaluations=[pending.message for pending in batch])
        )
        for pending in batch:
            pending.abandoned = lambda: self._cancel_if_forgotten(key)

    def finish(self) -> None:
        """Stops sending; the stream ends when the service has answered everything."""
        if not self.finished:
            self.finished = True
            self._outbox.put(None)

    def is_silent(self) -> bool:
        """Whether nothing was received since the oldest open message was sent, and an evaluation of it has ended."""
        oldest = next(iter(self._unanswered.values()), None)
        if oldest is None or self._last_reply_at > oldest.sent_at:
            return False
        return any(pending.settled for pending in oldest.batch)

    def is_forgotten(self) -> bool:
        """Whether no answer is awaited any more."""
        return all(pending.settled for one in self._unanswered.values() for pending in one.batch)

    def abandon(self) -> None:
        """Breaks the stream; it reports what is unanswered as lost."""
        self._task.cancel()

    def close(self) -> None:
        """Breaks the stream and reports nothing."""
        self._unanswered.clear()
        self._task.cancel()

    async def _run(self) -> None:
        error = ServiceError(grpc.StatusCode.UNAVAILABLE, "the service ended the stream")
        replies = None
        try:
            requests: Iterator[Any] = iter(self._outbox.get, None)
            replies = await self._channel.stream("EvaluationService", "EvaluateStream", requests, None)
            async for reply in replies:
                self._received(reply)
        except ServiceError as reason:
            error = reason
        except asyncio.CancelledError:
            error = ServiceError(grpc.StatusCode.UNAVAILABLE, "the stream was silent", is_local=True)
        finally:
            self.finish()
            if replies is not None:
                replies.cancel()
            self._idle_timer.cancel()
            lost = [pending for one in self._unanswered.values() for pending in one.batch]
            self._unanswered.clear()
            self._carrier.ended(self, lost, error)

    def _received(self, reply: Any) -> None:
        self._last_used_at = self._last_reply_at = time.monotonic()
        if reply.HasField("notice"):
            self.finish()
            if not reply.results:
                return
        open_message = self._unanswered.pop(reply.id, None)
        if open_message is not None:
            self._carrier.events.answered(open_message.batch, reply.results)

    def _cancel_if_forgotten(self, key: str) -> None:
        """Asks the service to end the work on a message of which every caller has given up."""
        open_message = self._unanswered.get(key)
        if open_message is None or self.finished or not all(one.settled for one in open_message.batch):
            return
        if self._carrier.can_cancel():
            self._outbox.put(v1.EvaluateStreamRequest(id=key, cancel=True))

    def _finish_if_idle(self) -> None:
        self._idle_timer = self._loop.call_later(_STREAM_IDLE, self._finish_if_idle)
        if self._unanswered or time.monotonic() - self._last_used_at < _STREAM_IDLE:
            return
        # A finished stream whose end the service does not confirm has nothing to lose.
        if self.finished:
            self.abandon()
        else:
            self.finish()


class StreamCarrier:
    """Sends batches as messages of EvaluateStream: one stream at a time, opened on demand."""

    def __init__(self, channel: "Channel", events: Events, can_cancel: Callable[[], bool]) -> None:
        self._channel = channel
        self.events = events
        self.can_cancel = can_cancel
        self._current: Optional[_Stream] = None
        self._open: Set[_Stream] = set()
        self._closed = False

    def send(self, batch: Batch) -> None:
        if self._current is not None and self._current.is_finished():
            self._current.finish()
            self._current = None
        if self._current is None:
            self._current = _Stream(self._channel, self)
            self._open.add(self._current)
        self._current.send(batch)

    def ended(self, stream: _Stream, lost: Batch, error: ServiceError) -> None:
        self._open.discard(stream)
        if self._current is stream:
            self._current = None
        if lost and not self._closed:
            self.events.lost(lost, error)

    def check_silence(self) -> None:
        """Leaves streams that are silent, after an evaluation timed out."""
        for stream in list(self._open):
            if not stream.is_silent():
                continue
            if self._current is stream:
                stream.finish()
                self._current = None
            if stream.is_forgotten():
                stream.abandon()

    def close(self) -> None:
        self._closed = True
        for stream in list(self._open):
            stream.close()
