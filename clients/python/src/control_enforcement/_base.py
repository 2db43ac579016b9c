"""What the clients for programs that block and for asyncio have in common."""

from __future__ import annotations

import asyncio
import functools
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Callable, Coroutine, Mapping, Optional, Tuple, Union

from ._background import is_background_thread, is_over, submit, wait_for
from ._core import Core, Settings, read_settings
from ._flow import Flow, OnError, step_of
from ._guard_options import GuardOptions
from ._keys import ApiKey
from ._services import Service
from ._settings import MAX_ID_LENGTH, new_id, revision, seconds, whole
from .types import Request, Step, WaitForLimits

if TYPE_CHECKING:
    from .types import OnUnavailable, Stage

StepLike = Union[Step, Mapping[str, Any]]
RequestLike = Union[Request, Mapping[str, Any]]
Work = Callable[[Core], Coroutine[Any, Any, Any]]
_SERVICES = {
    "agents": "AgentService",
    "controls": "ControlService",
    "policies": "PolicyService",
    "templates": "TemplateService",
    "evaluators": "EvaluatorService",
    "observability": "ObservabilityService",
    "approvals": "ApprovalService",
    "audit": "AuditService",
    "halts": "HaltService",
    "server": "ServerService",
}

class Tools:
    """What clients and sessions have in common: they guard tools."""

    def guard(self, tool: Optional[Callable[..., Any]] = None, **options: Any) -> Any:
        """Wraps a tool with a check before it runs and one after it; ``guard(tool, ...)`` or as a decorator ``@guard(...)``.

        The wrapped tool raises a DeniedError or a SteerError according to the controls, a StepDataError for data that
        controls cannot look at, and the errors of ``evaluate`` or the tool itself; the latter are checked like an output.

        ``step``: name of the step; that of the function when absent. ``agent``, ``type``, ``stages``, ``timeout``,
        ``min_revision``, ``target``, ``on_unavailable``, ``wait_for_limits``: as for ``evaluate``.
        ``input``: the input of the step made from the arguments; when absent, all arguments by name. ``ignored``: names of
        parameters that are no part of it (a first one ``self`` or ``cls`` when absent). ``output``: made from the result.
        ``context``, ``session_id``, ``step_id``, ``traceparent``, ``cancellation``: values, or functions of the arguments.
        ``on_unchecked``: called with the name of the step when no control checked any stage of a call.
        ``on_refused``: makes what a call returns that is denied, steered or not evaluated.
        ``on_ask``: ``"throw"``, ``"wait"`` for the decision of a person, or a function of the approval and the step.
        ``max_wait``: most seconds that a call waits for an approval. ``changed_args``: the arguments for a changed input, as
        a tuple or a dict, needed together with ``input``.
        """
        if tool is None:
            return functools.partial(self.guard, **options)
        return self._guarded(tool, GuardOptions(**options))

    def _guarded(self, tool: Callable[..., Any], options: GuardOptions) -> Any:
        raise NotImplementedError


class ClientBase(Tools):
    """Its connection is in an event loop that all clients of the process share, in a thread of its own; a process that was
    made with ``fork`` needs a client of its own. Nothing is connected before the first call."""

    def __init__(
        self,
        base_url: str,
        agent: Optional[str] = None,
        api_key: Optional[ApiKey] = None,
        *,
        timeout: float = 5.0,
        on_unavailable: "OnUnavailable" = "deny",
        batch_window: float = 0.001,
        max_batch: int = 32,
        max_in_flight: int = 1_024,
        on_error: Optional[OnError] = None,
        traceparent: Optional[Callable[[], Optional[str]]] = None,
        ca: Union[str, bytes, None] = None,
        cert: Union[str, bytes, None] = None,
        key: Union[str, bytes, None] = None,
    ) -> None:
        """``base_url``: ``http://host:port``, or https. ``api_key``: a text, or a function that returns the present one, such
        as ``key_from_file(path)``. ``timeout``: seconds from a call to its answer, retries included. ``on_unavailable``:
        ``allow`` lets steps proceed that the service did not answer. ``batch_window``: most seconds that an evaluation waits
        for others to share its message, of at most ``max_batch``. ``on_error``: told of each evaluation that got no verdict.
        ``traceparent``: returns the position in the active trace. ``ca``: certificates to trust; ``cert`` and ``key``: a
        certificate of the client; all in PEM form. Raises a ValueError that names the wrong setting."""
        self._settings = read_settings(
            base_url,
            agent=agent,
            api_key=api_key,
            timeout=timeout,
            on_unavailable=on_unavailable,
            batch_window=batch_window,
            max_batch=max_batch,
            max_in_flight=max_in_flight,
            ca=ca,
            cert=cert,
            key=key,
        )
        self._core: Optional[Core] = None
        self._is_closed = False
        self._process = os.getpid()
        #: For functions, which wait in their thread, and for coroutine functions, whose thread must not wait.
        self._flow = Flow(self._settings, self._run, on_error, traceparent)
        self._bridge = Flow(self._settings, self._run_beside, on_error, traceparent)

    def at_least(self, demanded: int) -> None:
        """Makes every later evaluation require this revision or a later one. Lower revisions change nothing."""
        self._flow.least_revision = max(self._flow.least_revision, revision(demanded))
        self._bridge.least_revision = self._flow.least_revision

    def session(
        self,
        session_id: Optional[str] = None,
        *,
        agent: Optional[str] = None,
        wait_for_limits: Optional[WaitForLimits] = None,
    ) -> "Session":
        """A session of an agent: its tools and evaluations have the id of the session. Nothing is sent to begin or end it."""
        if session_id is None:
            session_id = new_id()
        if not 1 <= len(session_id) <= MAX_ID_LENGTH:
            raise ValueError(f"session: session_id must have 1 to {MAX_ID_LENGTH} characters")
        return Session(self, session_id, agent, wait_for_limits)

    def _services(self, call: Callable[[str, Any, Any, Optional[float]], Any]) -> None:
        """Gives the client its services."""
        for name, service in _SERVICES.items():
            setattr(self, name, Service(service, call))

    async def _run(self, work: Work) -> Any:
        if is_background_thread():
            raise RuntimeError("a client that blocks must not be used in a callback of its event loop")
        return wait_for(submit(self._in_core(work)))

    async def _run_beside(self, work: Work) -> Any:
        return await asyncio.wrap_future(submit(self._in_core(work)))

    async def _in_core(self, work: Work) -> Any:
        return await work(await self._ready())

    async def _ready(self) -> Core:
        if self._process != os.getpid():
            raise RuntimeError("the client was made before this process was forked: make one in each process")
        if self._core is None:
            self._core = Core(self._settings)
            if self._is_closed:
                await self._core.close()
        return self._core

    def _closing(self) -> Any:
        """The end of the connection, as a future of the thread of the connection; None if there is none."""
        self._is_closed = True
        if self._core is None or self._process != os.getpid() or is_over():
            return None
        return submit(self._core.close())

    def _watched(self, agent: Optional[str], max_message_bytes: Optional[int], silence: float) -> Any:
        """The checked arguments of a watch."""
        name = agent if agent is not None else self._settings.agent
        if name is None:
            raise ValueError("agent is missing: give it to watch_controls or to the client")
        if max_message_bytes is not None:
            whole("max_message_bytes", max_message_bytes, 2**31 - 1, 65_536)
        limit = seconds("silence", silence)
        return lambda core: core.watch_controls(name, max_message_bytes, limit)

    def _guarded(self, tool: Callable[..., Any], options: GuardOptions, is_session: bool = False) -> Any:
        raise NotImplementedError


class Session(Tools):
    """A conversation, run or task of an agent: controls with memory count its steps together. Each call of a tool has a step
    id of its own, and the end of a step is always sent: it settles what the step reserved, and frees its slot."""

    def __init__(self, client: Any, session_id: str, agent: Optional[str], wait: Optional[WaitForLimits]) -> None:
        self.id = session_id
        self._client = client
        self._agent = agent
        self._wait = wait

    def evaluate(self, stage: "Stage", step: StepLike, **options: Any) -> Any:
        """``evaluate`` of the client, for a step of the session."""
        options = {"agent": self._agent, "wait_for_limits": self._wait, **options, "session_id": self.id}
        return self._client.evaluate(stage, step, **options)

    def guard(self, tool: Optional[Callable[..., Any]] = None, **options: Any) -> Any:
        for name in ("agent", "session_id"):
            if name in options:
                raise TypeError(f'guard: the option "{name}" is that of the session')
        return super().guard(tool, **options)

    def _guarded(self, tool: Callable[..., Any], options: GuardOptions) -> Any:
        wait = self._wait if options.wait_for_limits is None else options.wait_for_limits
        given = replace(options, agent=self._agent, session_id=self.id, wait_for_limits=wait)
        return self._client._guarded(tool, given, True)


def request_of(request: RequestLike) -> Request:
    if isinstance(request, Request):
        return request
    return Request(request["stage"], step_of(request["step"]), request.get("agent"))
