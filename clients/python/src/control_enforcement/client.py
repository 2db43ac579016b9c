"""The client for programs whose calls block."""

from __future__ import annotations

import queue
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, Iterator, Optional, Tuple

from ._background import is_over, submit, wait_for
from ._base import ClientBase, RequestLike, StepLike, request_of
from ._channel import is_streaming
from ._flow import Flow, inline, step_of
from ._guard import guard_tool
from ._guard_options import GuardOptions
from ._watch import SILENCE
from .types import Evaluation, EvaluationOptions, Request, ServerInfo, StreamResult, WatchedControls

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .types import Options, Stage
    from .v1 import services as rpc


class Client(ClientBase):
    """Evaluates the steps of agents; its calls block until they have an answer. It may be used from all threads. Coroutine
    functions that it guards stay coroutine functions."""

    agents: "rpc.AgentService"
    controls: "rpc.ControlService"
    policies: "rpc.PolicyService"
    templates: "rpc.TemplateService"
    evaluators: "rpc.EvaluatorService"
    observability: "rpc.ObservabilityService"
    approvals: "rpc.ApprovalService"
    audit: "rpc.AuditService"
    halts: "rpc.HaltService"
    server: "rpc.ServerService"

    def __init__(self, base_url: str, agent: Optional[str] = None, api_key: Any = None, **settings: Any) -> None:
        super().__init__(base_url, agent, api_key, **settings)
        self._services(self._rpc)

    def evaluate(
        self, stage: "Stage", step: StepLike, *, agent: Optional[str] = None, **options: "Unpack[Options]"
    ) -> Evaluation:
        """Evaluates a step. Concurrent calls share messages; unanswered ones are sent again until the timeout.

        Raises a ServiceError when the service rejects the request (unknown agent, invalid step, wrong key), with the code
        FAILED_PRECONDITION when http and https are mixed up or the certificate of the service is not accepted, a TypeError
        when the step cannot be written as JSON, and a CancelledError. An error never allows the step: only the result states
        that it may proceed."""
        return inline(self._flow.evaluate(stage, step_of(step), agent, EvaluationOptions(**options)))  # type: ignore[no-any-return]

    def evaluate_stream(
        self, requests: Iterable[RequestLike], **options: "Unpack[Options]"
    ) -> Iterator[StreamResult]:
        """Evaluates steps as they arrive and yields the results in the order of completion, each with the index of its
        request. The next request is read when no result is ready, and at most ``max_in_flight`` are open. Leaving the loop
        cancels what is unanswered."""
        given = EvaluationOptions(**options)
        done: "queue.SimpleQueue[Tuple[int, Request, Any]]" = queue.SimpleQueue()
        running: Dict[int, Any] = {}
        source = enumerate(requests)
        is_over = False
        try:
            while running or not is_over:
                try:
                    # Waits for a result only if no request can be read instead.
                    index, request, future = done.get(block=is_over or len(running) >= self._settings.batches.max_in_flight)
                except queue.Empty:
                    following = next(source, None)
                    if following is None:
                        is_over = True
                        continue
                    index, request = following[0], request_of(following[1])
                    future = running[index] = self._evaluation_of(request, given)
                    future.add_done_callback(lambda ended, at=index, of=request: done.put((at, of, ended)))
                    continue
                del running[index]
                error = future.exception()
                yield StreamResult(index, request, None if error else future.result(), error)
        finally:
            for future in running.values():
                future.cancel()

    def watch_controls(
        self, agent: Optional[str] = None, *, max_message_bytes: Optional[int] = None, silence: float = SILENCE
    ) -> Iterator[WatchedControls]:
        """The controls of an agent as they are now, and again after each change and each confirmation that nothing changed.
        Continues after failures of the connection or the service; raises a ServiceError when the service refuses the call."""
        watch = self._watched(agent, max_message_bytes, silence)
        return self._each(watch)

    def server_info(self) -> ServerInfo:
        """What the service can do. Asked once."""
        return wait_for(submit(self._in_core(lambda core: core.server_info())))  # type: ignore[no-any-return]

    def close(self) -> None:
        """Ends the streams. Pending and later evaluations raise a ServiceError."""
        closing = self._closing()
        if closing is not None:
            wait_for(closing)

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _guarded(self, tool: Callable[..., Any], options: GuardOptions, is_session: bool = False) -> Any:
        def flow_of(is_coroutine: bool) -> Tuple[Flow, bool]:
            return (self._bridge, True) if is_coroutine else (self._flow, False)

        return guard_tool(tool, options, flow_of, is_session)

    def _evaluation_of(self, request: Request, given: EvaluationOptions) -> Any:
        flow = Flow(self._settings, self._in_core, self._flow._on_error, self._flow._trace)
        flow.least_revision = self._flow.least_revision
        return submit(flow.evaluate(request.stage, request.step, request.agent, given))

    def _rpc(self, service: str, method: Any, request: Any, timeout: Optional[float]) -> Any:
        if is_streaming(method)[0]:
            return self._each(lambda core: core.channel.messages(service, method.name, request, timeout))
        return wait_for(submit(self._in_core(lambda core: core.call(service, method, request, timeout))))

    def _each(self, open_stream: Callable[[Any], Any]) -> Iterator[Any]:
        stream = open_stream(wait_for(submit(self._ready())))
        try:
            while True:
                try:
                    yield wait_for(submit(stream.__anext__()))
                except StopAsyncIteration:
                    return
        finally:
            if not is_over():
                wait_for(submit(stream.aclose()))
