"""The client for programs with asyncio."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, AsyncIterable, AsyncIterator, Callable, Dict, Iterable, Optional, Tuple, Union

from ._background import submit
from ._base import ClientBase, RequestLike, StepLike, request_of
from ._channel import is_streaming
from ._flow import step_of
from ._guard import guard_tool
from ._guard_options import GuardOptions
from ._watch import SILENCE
from .types import Evaluation, EvaluationOptions, Request, ServerInfo, StreamResult, WatchedControls

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .types import Options, Stage
    from .v1 import services as rpc


class AsyncClient(ClientBase):
    """As ``Client``, with coroutines, in any event loop. Each tool that it guards becomes a coroutine function. A task that is
    cancelled ends its evaluation, and the work of the service on it."""

    agents: "rpc.AsyncAgentService"
    controls: "rpc.AsyncControlService"
    policies: "rpc.AsyncPolicyService"
    templates: "rpc.AsyncTemplateService"
    evaluators: "rpc.AsyncEvaluatorService"
    observability: "rpc.AsyncObservabilityService"
    approvals: "rpc.AsyncApprovalService"
    audit: "rpc.AsyncAuditService"
    halts: "rpc.AsyncHaltService"
    server: "rpc.AsyncServerService"

    def __init__(self, base_url: str, agent: Optional[str] = None, api_key: Any = None, **settings: Any) -> None:
        super().__init__(base_url, agent, api_key, **settings)
        self._services(self._rpc)

    async def evaluate(
        self, stage: "Stage", step: StepLike, *, agent: Optional[str] = None, **options: "Unpack[Options]"
    ) -> Evaluation:
        """See ``Client.evaluate``."""
        return await self._bridge.evaluate(stage, step_of(step), agent, EvaluationOptions(**options))

    async def evaluate_stream(
        self,
        requests: Union[Iterable[RequestLike], AsyncIterable[RequestLike]],
        **options: "Unpack[Options]",
    ) -> AsyncIterator[StreamResult]:
        """Evaluates steps as they arrive and yields the results in the order of completion, each with the index of its
        request. Reads ahead no further than ``max_in_flight``. Leaving the loop cancels what is unanswered."""
        given = EvaluationOptions(**options)
        source = requests.__aiter__() if hasattr(requests, "__aiter__") else _each(requests)
        running: Dict["asyncio.Task[Any]", Tuple[int, Request]] = {}
        reading: "Optional[asyncio.Task[Any]]" = None
        is_over = False
        index = 0
        try:
            while running or not is_over:
                if reading is None and not is_over and len(running) < self._settings.batches.max_in_flight:
                    reading = asyncio.ensure_future(source.__anext__())
                waiting = set(running) | ({reading} if reading is not None else set())
                done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                if reading is not None and reading in done:
                    done.discard(reading)
                    ended, reading = reading, None
                    try:
                        request = request_of(ended.result())
                    except StopAsyncIteration:
                        is_over = True
                    else:
                        work = self._bridge.evaluate(request.stage, request.step, request.agent, given)
                        running[asyncio.ensure_future(work)] = (index, request)
                        index += 1
                for task in done:
                    at, request = running.pop(task)
                    error = task.exception()
                    yield StreamResult(at, request, None if error else task.result(), error)
        finally:
            for left in [*running, *([reading] if reading is not None else [])]:
                left.cancel()

    def watch_controls(
        self, agent: Optional[str] = None, *, max_message_bytes: Optional[int] = None, silence: float = SILENCE
    ) -> AsyncIterator[WatchedControls]:
        """See ``Client.watch_controls``."""
        return self._each(self._watched(agent, max_message_bytes, silence))

    async def server_info(self) -> ServerInfo:
        """What the service can do. Asked once."""
        return await self._run_beside(lambda core: core.server_info())  # type: ignore[no-any-return]

    async def close(self) -> None:
        """Ends the streams. Pending and later evaluations raise a ServiceError."""
        closing = self._closing()
        if closing is not None:
            await asyncio.wrap_future(closing)

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.close()

    def _guarded(self, tool: Callable[..., Any], options: GuardOptions, is_session: bool = False) -> Any:
        return guard_tool(tool, options, lambda _: (self._bridge, True), is_session)

    def _rpc(self, service: str, method: Any, request: Any, timeout: Optional[float]) -> Any:
        if is_streaming(method)[0]:
            return self._each(lambda core: core.channel.messages(service, method.name, request, timeout))
        return self._run_beside(lambda core: core.call(service, method, request, timeout))

    async def _each(self, open_stream: Callable[[Any], Any]) -> AsyncIterator[Any]:
        stream = open_stream(await asyncio.wrap_future(submit(self._ready())))
        try:
            while True:
                try:
                    yield await asyncio.wrap_future(submit(stream.__anext__()))
                except StopAsyncIteration:
                    return
        finally:
            await asyncio.wrap_future(submit(stream.aclose()))


async def _each(items: Any) -> AsyncIterator[Any]:
    for item in items:
        yield item
