"""Waits for decisions of people about steps."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Callable, Dict, Optional, Tuple

import grpc

from . import v1
from ._failures import may_continue, pause_seconds
from ._verdict import approval_after
from .errors import CancelledError, ServiceError
from .types import Approval, Cancellation

if TYPE_CHECKING:
    from ._channel import Channel

#: Seconds that one call of AwaitApproval waits, of at most 60, and that it may take longer.
_WAIT = 30
_GRACE = 10.0
#: Longest time of a call that does not wait.
_CALL = 10.0


class ApprovalWaits:
    """Callers that wait for the same approval share one call, which is repeated until the approval has ended."""

    def __init__(self, channel: "Channel") -> None:
        self._channel = channel
        self._watches: Dict[Tuple[str, int], _Watch] = {}
        self._background: "set[asyncio.Task[None]]" = set()

    async def end(
        self, agent: str, approval: Approval, deadline: Optional[float], cancellation: Optional[Cancellation]
    ) -> Optional[Approval]:
        """The approval once it is not pending any more; None at the deadline, in seconds of ``time.monotonic()``. If the
        caller is cancelled, so is the approval, unless others wait for it. Raises a ServiceError if the service refuses to
        tell."""
        key = (agent, approval.id)
        watch = self._watches.get(key)
        if watch is None or watch.task.done():
            watch = self._watches[key] = _Watch(asyncio.ensure_future(self._ended(agent, approval)))
        watch.waiting += 1
        loop = asyncio.get_running_loop()
        cancelled = loop.create_future()
        forget: Callable[[], None] = _nothing
        if cancellation is not None:
            forget = cancellation.on_cancel(lambda: loop.call_soon_threadsafe(_set, cancelled))
        left_by_caller = False
        try:
            timeout = None if deadline is None else max(0.0, deadline - time.monotonic())
            done, _ = await asyncio.wait(
                {watch.task, cancelled}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED
            )
            if watch.task in done:
                return watch.task.result()
            if cancelled in done:
                left_by_caller = True
                raise CancelledError("the evaluation was cancelled while it waited for an approval")
            return None
        except asyncio.CancelledError:
            left_by_caller = True
            raise
        finally:
            forget()
            cancelled.cancel()
            watch.waiting -= 1
            if watch.waiting == 0:
                watch.task.cancel()
                self._watches.pop(key, None)
                if left_by_caller:
                    self.cancel(agent, approval)

    def cancel(self, agent: str, approval: Approval) -> None:
        """Ends an approval that is not needed. Does not wait, and does not fail."""

        async def run() -> None:
            request = v1.CancelApprovalRequest(
                agent_name=agent, approval_id=approval.id, reason="the call that waited for it was cancelled"
            )
            try:
                await self._channel.unary("ApprovalService", "CancelApproval", request, _CALL, renews=True)
            except ServiceError:
                pass

        task = asyncio.ensure_future(run())
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def settled(self) -> None:
        """Waits for what runs in the background."""
        await asyncio.gather(*self._background, return_exceptions=True)

    async def _ended(self, agent: str, approval: Approval) -> Approval:
        request = v1.AwaitApprovalRequest(agent_name=agent, approval_id=approval.id)
        request.wait.seconds = _WAIT
        failures = 0
        while True:
            try:
                reply = await self._channel.unary(
                    "ApprovalService", "AwaitApproval", request, _WAIT + _GRACE, renews=True
                )
                now = approval_after(approval, reply.approval)
                if now.state != "pending":
                    return now
                failures = 0
            except ServiceError as error:
                if not may_continue(error) and error.code is not grpc.StatusCode.DEADLINE_EXCEEDED:
                    raise
                # Without an answer, the clock of this process counts.
                if approval.expires_at <= datetime.now(timezone.utc):
                    return replace(approval, state="expired")
                await asyncio.sleep(pause_seconds(failures, error.retry_after))
                failures += 1


class _Watch:
    def __init__(self, task: "asyncio.Task[Approval]") -> None:
        self.task = task
        self.waiting = 0
        # What nothing awaits any more has no error to tell.
        task.add_done_callback(lambda ended: None if ended.cancelled() else ended.exception())


def _nothing() -> None:
    pass


def _set(future: "asyncio.Future[Any]") -> None:
    if not future.done():
        future.set_result(None)
