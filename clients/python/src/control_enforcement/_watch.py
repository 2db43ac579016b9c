"""The controls of an agent, as they change."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, AsyncIterator, Dict, Iterable, NamedTuple, Optional

import grpc

from . import v1
from ._failures import may_continue, pause_seconds
from .errors import ServiceError
from .types import WatchedControls

if TYPE_CHECKING:
    from ._channel import Channel

#: A stream without a message for so many seconds counts as lost: the service sends one at least every 15 seconds.
SILENCE = 45.0


class _State(NamedTuple):
    revision: int
    controls: Dict[int, Any]
    #: Whether something changed since the controls were last given to the caller.
    changed: bool


async def watch_controls(
    channel: "Channel", agent: str, max_message_bytes: Optional[int], silence: float
) -> AsyncIterator[WatchedControls]:
    """First all controls, then again after each change and each confirmation that nothing changed. Continues from the last
    revision when the connection or the service fails. Raises a ServiceError when the service refuses the call."""
    state: Optional[_State] = None
    failures = 0
    while True:
        request = v1.WatchControlsRequest(agent_name=agent)
        if state is not None:
            request.from_revision = state.revision
        if max_message_bytes is not None:
            request.max_message_bytes = max_message_bytes
        error = ServiceError(grpc.StatusCode.UNAVAILABLE, "the service ended the stream")
        messages: Any = channel.messages("AgentService", "WatchControls", request)
        try:
            while True:
                message = await asyncio.wait_for(messages.__anext__(), silence)
                state = _next(state, message)
                if state is None:
                    error = ServiceError(grpc.StatusCode.UNAVAILABLE, "the service sent an unknown message")
                    break
                failures = 0
                if message.incomplete:
                    continue
                stale = message.current.staleness_seconds if message.HasField("current") else 0.0
                yield WatchedControls(state.revision, state.controls, state.changed, time.monotonic() - stale)
                state = state._replace(changed=False)
        except StopAsyncIteration:
            pass
        except asyncio.TimeoutError:
            error = ServiceError(grpc.StatusCode.UNAVAILABLE, "the stream was silent")
        except ServiceError as reason:
            if not may_continue(reason):
                raise
            error = reason
        finally:
            await messages.aclose()
        await asyncio.sleep(pause_seconds(failures, error.retry_after))
        failures += 1


def _next(before: Optional[_State], message: Any) -> Optional[_State]:
    """The state after a message; None when everything must be read again: a message of a later service may change what
    this client knows."""
    news = message.WhichOneof("news")
    if news == "full":
        return _State(message.revision, _sorted(message.full.controls), True)
    if news == "changed":
        kept = dict(before.controls) if before is not None else {}
        for control_id in message.changed.removed:
            kept.pop(control_id, None)
        kept.update((control.id, control) for control in message.changed.upserted)
        return _State(message.revision, _sorted(kept.values()), True)
    if news == "current" and before is not None:
        return before._replace(revision=message.revision)
    return None


def _sorted(controls: Iterable[Any]) -> Dict[int, Any]:
    return {control.id: control for control in sorted(controls, key=lambda one: -int(one.id))}
