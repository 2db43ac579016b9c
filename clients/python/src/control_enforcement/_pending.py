"""An evaluation that a caller awaits."""

from __future__ import annotations

import asyncio
import time
from typing import Any, Callable, Optional

import grpc

from ._failures import is_unavailability
from ._verdict import evaluated_by, not_evaluated
from .errors import ServiceError
from .types import Evaluation


class Pending:
    """Settled once: by an answer, an error, its time limit, or its caller."""

    def __init__(
        self,
        message: Any,
        *,
        timeout: float,
        allows_without_answer: bool,
        on_settled: Callable[["Pending"], None],
        on_timeout: Callable[[], None],
    ) -> None:
        loop = asyncio.get_running_loop()
        self.message = message
        #: Size of the step.
        self.size = len(message.step_json)
        #: When it was made, and when its time is over, in seconds of ``time.monotonic()``.
        self.since = time.monotonic()
        self.expires_at = self.since + timeout
        self.future: "asyncio.Future[Evaluation]" = loop.create_future()
        #: Number of answers with a transient status, and of failures of carriers that it may have caused.
        self.attempts = 0
        self.suspicions = 0
        #: Whether it is sent separately from others.
        self.alone = False
        #: Whether it was sent again because its key was refused.
        self.key_renewed = False
        #: Called when it is settled without the answer of the stream that carries it.
        self.abandoned: Optional[Callable[[], None]] = None
        self._timeout = timeout
        self._allows = allows_without_answer
        self._on_settled = on_settled
        self._on_timeout = on_timeout
        self._last_error: Optional[ServiceError] = None
        self._timer = loop.call_later(timeout, self._time_is_up)
        self.future.add_done_callback(self._settled)

    @property
    def settled(self) -> bool:
        return self.future.done()

    def note(self, error: ServiceError) -> None:
        """Records an error, which is reported on a timeout."""
        self._last_error = error

    def answer(self, verdict: Any) -> None:
        if not self.settled:
            self.future.set_result(evaluated_by(verdict))

    def fail(self, error: ServiceError) -> None:
        if self.settled:
            return
        if is_unavailability(error):
            self.future.set_result(not_evaluated(error, self._allows))
        else:
            self.future.set_exception(error)

    def give_up(self, error: BaseException) -> None:
        """Ends it with an error, which never allows the step."""
        if self.settled:
            return
        self.future.set_exception(error)
        if self.abandoned is not None:
            self.abandoned()

    def _time_is_up(self) -> None:
        because = "" if self._last_error is None else f", last because of: {self._last_error.message}"
        message = f"no answer within {self._timeout * 1000:g} ms{because}"
        self.fail(ServiceError(grpc.StatusCode.DEADLINE_EXCEEDED, message))
        if self.abandoned is not None:
            self.abandoned()
        self._on_timeout()

    def _settled(self, future: "asyncio.Future[Evaluation]") -> None:
        self._timer.cancel()
        self._on_settled(self)
        if future.cancelled() and self.abandoned is not None:
            self.abandoned()
