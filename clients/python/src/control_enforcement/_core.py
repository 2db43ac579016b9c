"""What a client has in its event loop: the connection, the batches, and what waits."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Callable, Optional, Set

import grpc

from . import v1
from ._approval_waits import ApprovalWaits
from ._batcher import Batcher, BatchSettings
from ._carriers import CallCarrier, StreamCarrier
from ._channel import Certificates, Channel
from ._keys import KeySource
from ._pending import Pending
from ._settings import address_of, one_of, seconds, traceparent, whole
from ._step_json import step_json
from ._verdict import OUTCOMES
from ._watch import watch_controls
from .errors import CancelledError, ServiceError
from .types import Approval, Cancellation, Evaluation, EvaluationOptions, ServerInfo, Step

#: The service stops the work on a message when ``cancel`` is sent.
_CANCEL_FEATURE = "stream_cancel"
#: Limit of the service for the time of one evaluation, in seconds.
_MAX_SERVER_TIMEOUT = 3_600.0
_INFO_TIMEOUT = 5.0


@dataclass(frozen=True)
class Settings:
    """The checked settings of a client."""

    is_tls: bool
    target: str
    certificates: Certificates
    keys: KeySource
    agent: Optional[str]
    timeout: float
    on_unavailable: str
    batches: BatchSettings


def read_settings(
    base_url: str,
    *,
    agent: Optional[str],
    api_key: Any,
    timeout: float,
    on_unavailable: str,
    batch_window: float,
    max_batch: int,
    max_in_flight: int,
    ca: Any,
    cert: Any,
    key: Any,
) -> Settings:
    """Raises a ValueError that names the wrong setting."""
    is_tls, target = address_of(base_url)
    limit = seconds("timeout", timeout)
    return Settings(
        is_tls=is_tls,
        target=target,
        certificates=Certificates(ca, cert, key),
        keys=KeySource(api_key),
        agent=agent,
        timeout=limit,
        on_unavailable=one_of("on_unavailable", on_unavailable, "deny", "allow"),
        batches=BatchSettings(
            max_batch=whole("max_batch", max_batch, 1_000),
            max_in_flight=whole("max_in_flight", max_in_flight, 2**53 - 1),
            window=seconds("batch_window", batch_window, 0),
            # Less than the limit, so that the first evaluation after one that reached it does not wait again.
            refused_after=limit * 0.9,
        ),
    )


def request_message(settings: Settings, stage: Any, step: Step, agent: Optional[str], given: EvaluationOptions) -> Any:
    """The message of an evaluation. Raises a TypeError or ValueError for what cannot be sent."""
    name = agent if agent is not None else settings.agent
    if name is None:
        raise ValueError("agent is missing: give it to the call or to the client")
    message = v1.EvaluateRequest(
        agent_name=name,
        stage=v1.Stage.STAGE_PRE if one_of("stage", stage, "pre", "post") == "pre" else v1.Stage.STAGE_POST,
        step_json=step_json(step),
        detail=v1.Detail.DETAIL_FULL if given.full_detail else v1.Detail.DETAIL_VERDICT,
        min_revision=given.min_revision,
    )
    if given.traceparent is not None:
        message.traceparent = traceparent(given.traceparent)
    for member in ("session_id", "step_id", "step_error"):
        value = getattr(given, member)
        if value is not None:
            setattr(message, member, value)
    if given.target is not None:
        message.target_type, message.target_id = given.target
    if given.timeout is not None:
        # The service stops the work on what is no longer awaited.
        whole_time = min(seconds("timeout", given.timeout), _MAX_SERVER_TIMEOUT)
        message.timeout.seconds = int(whole_time)
        message.timeout.nanos = int((whole_time - int(whole_time)) * 1e9)
    if given.accepts is not None:
        message.accepts.extend(OUTCOMES[one] for one in given.accepts)
    return message


class Core:
    """Belongs to the event loop in which it is made."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.loop = asyncio.get_running_loop()
        keys = settings.keys
        self.channel = Channel(settings.is_tls, settings.target, settings.certificates, keys)
        self.approvals = ApprovalWaits(self.channel)
        self._open: Set[Pending] = set()
        self._closed = False
        self._info: Optional[ServerInfo] = None
        self._asking: "Optional[asyncio.Task[ServerInfo]]" = None
        self._batcher = Batcher(
            settings.batches,
            lambda events: StreamCarrier(self.channel, events, lambda: self._has(_CANCEL_FEATURE)),
            lambda events: CallCarrier(self.channel, events),
            keys.renew if keys.is_renewable else None,
        )

    async def evaluate(self, message: Any, given: EvaluationOptions) -> Evaluation:
        """Evaluates once. Raises a ServiceError when the service refuses the request, and a CancelledError."""
        self.check_open()
        on_unavailable = one_of("on_unavailable", given.on_unavailable or self.settings.on_unavailable, "deny", "allow")
        pending = Pending(
            message,
            timeout=self.settings.timeout if given.timeout is None else seconds("timeout", given.timeout),
            allows_without_answer=on_unavailable == "allow",
            on_settled=self._settled,
            on_timeout=self._batcher.streams.check_silence,
        )
        self._open.add(pending)
        forget = self._ends_with(given.cancellation, pending)
        self._batcher.add(pending)
        try:
            return await pending.future
        finally:
            forget()

    async def sleep(self, time: float, cancellation: Optional[Cancellation]) -> None:
        """Sleeps. Raises a CancelledError, and a ServiceError when the client is closed."""
        future: "asyncio.Future[None]" = self.loop.create_future()

        def cancel() -> None:
            if not future.done():
                future.set_exception(CancelledError("the evaluation was cancelled while it waited"))

        def wake() -> None:
            if not future.done():
                future.set_result(None)

        timer = self.loop.call_later(time, wake)
        forget: Optional[Callable[[], None]] = None
        if cancellation is not None:
            forget = cancellation.on_cancel(lambda: self.loop.call_soon_threadsafe(cancel))
        try:
            await future
        finally:
            timer.cancel()
            if forget is not None:
                forget()
        self.check_open()

    async def call(self, service: str, method: Any, request: Any, timeout: Optional[float]) -> Any:
        """A unary RPC."""
        self.check_open()
        return await self.channel.unary(service, method.name, request, timeout, renews=True)

    async def approval_end(
        self, agent: str, approval: Approval, deadline: Optional[float], cancellation: Optional[Cancellation]
    ) -> Optional[Approval]:
        self.check_open()
        return await self.approvals.end(agent, approval, deadline, cancellation)

    def watch_controls(self, agent: str, max_message_bytes: Optional[int], silence: float) -> Any:
        self.check_open()
        return watch_controls(self.channel, agent, max_message_bytes, silence)

    async def server_info(self) -> ServerInfo:
        """What the service can do. Asked once."""
        self.check_open()
        if self._info is not None:
            return self._info
        if self._asking is None or self._asking.done():
            self._asking = asyncio.ensure_future(self._ask())
            self._asking.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        return await asyncio.shield(self._asking)

    def check_open(self) -> None:
        if self._closed:
            raise _closed_error()

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._batcher.close()
        for pending in list(self._open):
            pending.give_up(_closed_error())
        if self._asking is not None:
            self._asking.cancel()
        self.channel.close()

    async def _ask(self) -> ServerInfo:
        try:
            reply = await self.channel.unary(
                "ServerService", "GetServerInfo", v1.GetServerInfoRequest(), _INFO_TIMEOUT, renews=True
            )
        except ServiceError as error:
            if error.code is not grpc.StatusCode.UNIMPLEMENTED:
                raise
            self._info = ServerInfo(None, frozenset(), None)
        else:
            self._info = ServerInfo(reply.version, frozenset(reply.features), reply.max_message_bytes)
        return self._info

    def _has(self, feature: str) -> bool:
        """Whether the service is known to have a feature. Asks when nothing is known yet, without waiting."""
        if self._info is None and (self._asking is None or self._asking.done()):
            self._asking = asyncio.ensure_future(self._ask())
            self._asking.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        return self._info is not None and feature in self._info.features

    def _ends_with(self, cancellation: Optional[Cancellation], pending: Pending) -> Any:
        if cancellation is None:
            return lambda: None
        cancelled = CancelledError("the evaluation was cancelled")
        if cancellation.cancelled:
            pending.give_up(cancelled)
        return cancellation.on_cancel(lambda: self.loop.call_soon_threadsafe(pending.give_up, cancelled))

    def _settled(self, pending: Pending) -> None:
        self._open.discard(pending)
        self._batcher.forget(pending)


def _closed_error() -> ServiceError:
    return ServiceError(grpc.StatusCode.CANCELLED, "the client is closed")
