"""Tools with checks before and after they run."""

from __future__ import annotations

import asyncio
import functools
import inspect
import threading
from dataclasses import dataclass, replace
from typing import Any, Callable, Collection, Dict, Mapping, Optional, Sequence, Set, Tuple

from ._flow import LOG, Flow, inline, maybe_awaited
from ._guarded_data import Parameters, changed_data, check_unchanged, error_text, readable, thrown_data
from ._refusals import raise_unless_safe
from ._settings import new_id, one_of, seconds
from .errors import ServiceError, StepError
from .types import Cancellation, Evaluation, EvaluationOptions, Modification, Step, WaitForApproval, WaitForLimits

#: Names of parameters that are no part of the input of a step.
IGNORED = ("self", "cls")


@dataclass(frozen=True)
class GuardOptions:
    """Options of a guarded tool; see ``Client.guard``."""

    step: Optional[str] = None
    agent: Optional[str] = None
    type: str = "tool"
    stages: Sequence[str] = ("pre", "post")
    input: Optional[Callable[..., Any]] = None
    output: Optional[Callable[[Any], Any]] = None
    context: Any = None
    session_id: Any = None
    step_id: Any = None
    traceparent: Any = None
    cancellation: Any = None
    ignored: Collection[str] = IGNORED
    timeout: Optional[float] = None
    min_revision: int = 0
    target: Optional[Tuple[str, str]] = None
    on_unavailable: Any = None
    on_unchecked: Optional[Callable[[str], Any]] = None
    on_refused: Optional[Callable[[StepError], Any]] = None
    on_ask: Any = "throw"
    max_wait: Optional[float] = None
    changed_args: Optional[Callable[..., Any]] = None
    wait_for_limits: Optional[WaitForLimits] = None


def guard_tool(
    tool: Callable[..., Any],
    options: GuardOptions,
    flow_of: Callable[[bool], Tuple[Flow, bool]],
    is_session: bool,
) -> Callable[..., Any]:
    """Wraps a tool. ``flow_of`` gives, for a coroutine function or another one, the flow of its evaluations, and whether the
    wrapper is a coroutine function. In a session the end of a step that may have been counted is always sent, so that what
    the step reserved is settled."""
    if not callable(tool):
        raise TypeError("guard: the tool is not a function")
    name = options.step if options.step is not None else getattr(tool, "__name__", None)
    if not isinstance(name, str) or name in ("", "<lambda>"):
        raise TypeError('guard: the option "step" is missing: the name under which the agent registered the tool')
    if not options.stages or any(one not in ("pre", "post") for one in options.stages):
        raise ValueError('guard: stages must have "pre", "post" or both')
    if "post" in options.stages and (inspect.isgeneratorfunction(tool) or inspect.isasyncgenfunction(tool)):
        raise TypeError(
            f'guard: the tool of step "{name}" is a generator, whose output cannot be checked before it is used: wrap a '
            'function that returns the whole output, or check the input alone with stages=["pre"]'
        )
    if not callable(options.on_ask):
        one_of("on_ask", options.on_ask, "wait", "throw")
    if options.max_wait is not None:
        seconds("max_wait", options.max_wait)
    parameters = Parameters(tool, name, options.ignored)
    if options.input is None and not parameters.are_known:
        raise TypeError(f'guard: the parameters of the tool of step "{name}" are not known: give the option "input"')
    is_coroutine = inspect.iscoroutinefunction(tool) or inspect.iscoroutinefunction(getattr(tool, "__call__", None))
    flow, is_async = flow_of(is_coroutine)
    guard = _Guard(tool, name, options, parameters, flow, is_async, is_session)

    if is_async:

        @functools.wraps(tool)
        async def guarded(*args: Any, **kwargs: Any) -> Any:
            return await guard.answer(args, kwargs)

    else:

        @functools.wraps(tool)
        def guarded(*args: Any, **kwargs: Any) -> Any:
            return inline(guard.answer(args, kwargs))

    return guarded


class _Guard:
    """A guarded tool. Its coroutines do not pause if the tool is no coroutine function, see ``_flow``."""

    def __init__(
        self,
        tool: Callable[..., Any],
        name: str,
        options: GuardOptions,
        parameters: Parameters,
        flow: Flow,
        is_async: bool,
        is_session: bool,
    ) -> None:
        self._tool = tool
        self._name = name
        self._options = options
        self._parameters = parameters
        self._flow = flow
        self._is_async = is_async
        self._is_session = is_session
        self._checks_end = "post" in options.stages
        self._has_warned = False
        self._background: Set["asyncio.Task[Any]"] = set()
        self._accepts_before: Tuple[Any, ...] = ("steer", "ask")
        if options.input is None or options.changed_args is not None:
            self._accepts_before += ("modify",)
        self._accepts_after: Tuple[Any, ...] = ("steer",) if options.output is not None else ("steer", "modify")

    async def answer(self, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
        on_refused = self._options.on_refused
        try:
            return await self._call(args, kwargs)
        except StepError as error:
            if on_refused is None:
                raise
            return await maybe_awaited(on_refused(error))

    async def _call(self, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
        options = self._options
        # Read before the tool runs: it may change its arguments.
        shown = self._shown_input(args, kwargs)
        context = _of_call(options.context, args, kwargs)
        step = Step(self._name, shown, type=options.type, context=context)
        given = self._given(args, kwargs)
        call = _Call(self, step, given)
        if "pre" in options.stages:
            try:
                modification = await call.begin(lambda: self._shown_input(args, kwargs))
                if modification is not None:
                    args, kwargs = self._changed(modification, args, kwargs, call)
            except BaseException as error:
                # A step that was denied or refused has no end. Any other may have been counted, though it does not run.
                if not _is_refusal(error) and not isinstance(error, ServiceError):
                    await call.settle("the step did not run", waits=False)
                raise
        try:
            result = self._tool(*args, **kwargs)
            if self._is_async:
                result = await maybe_awaited(result)
        except Exception as error:
            await call.failed(error)
            raise
        except BaseException:
            await call.settle("the call was cancelled", waits=False)
            raise
        try:
            return await call.end(result)
        except BaseException:
            _discard(result)
            raise

    def _shown_input(self, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
        make = self._options.input
        data = self._parameters.input_of(args, kwargs) if make is None else make(*args, **kwargs)
        return readable(data, self._name, "input")

    def _changed(
        self, modification: Modification, args: Tuple[Any, ...], kwargs: Dict[str, Any], call: "_Call"
    ) -> Tuple[Tuple[Any, ...], Dict[str, Any]]:
        """The arguments for a changed input."""
        if self._options.input is None:
            data = self._parameters.input_of(args, kwargs)
            changed = changed_data(self._name, modification, "input", data)
            given = self._parameters.changed(changed, args, kwargs)
        else:
            assert self._options.changed_args is not None
            changed = changed_data(self._name, modification, "input", call.step.input)
            made = self._options.changed_args(changed, *args, **kwargs)
            given = (made, {}) if isinstance(made, tuple) else ((), dict(made))
        call.step = replace(call.step, input=readable(changed, self._name, "input"))
        return given

    def _given(self, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> EvaluationOptions:
        """The options of the evaluations of one call: some are functions of its arguments."""
        options = self._options
        step_id = _of_call(options.step_id, args, kwargs)
        cancellation: Optional[Cancellation] = _of_call(options.cancellation, args, kwargs)
        return EvaluationOptions(
            timeout=options.timeout,
            min_revision=options.min_revision,
            target=options.target,
            on_unavailable=options.on_unavailable,
            cancellation=cancellation,
            traceparent=_of_call(options.traceparent, args, kwargs),
            session_id=_of_call(options.session_id, args, kwargs),
            step_id=new_id() if step_id is None and self._is_session else step_id,
        )

    async def unchecked(self) -> None:
        if self._options.on_unchecked is not None:
            await maybe_awaited(self._options.on_unchecked(self._name))
        elif not self._has_warned:
            self._has_warned = True
            LOG.warning(
                'No control checks the step "%s". Is this the name under which it is registered, and does its agent have a '
                "control for it? The option on_unchecked replaces this warning.",
                self._name,
            )

    @property
    def waits_for_approval(self) -> Optional[WaitForApproval]:
        options = self._options
        if options.on_ask == "throw":
            return None
        return WaitForApproval(options.max_wait, options.on_ask if callable(options.on_ask) else None)


class _Call:
    """One call of a guarded tool."""

    def __init__(self, guard: _Guard, step: Step, given: EvaluationOptions) -> None:
        self._guard = guard
        self._options = guard._options
        self.step = step
        self._given = given
        self._unchecked_stages = 0

    async def begin(self, input_now: Callable[[], Any]) -> Optional[Modification]:
        """Checks the input. Returns how it must be changed."""
        guard = self._guard
        given = replace(
            self._given,
            accepts=guard._accepts_before,
            wait_for_limits=self._options.wait_for_limits,
            wait_for_approval=guard.waits_for_approval,
        )
        evaluation = await guard._flow.evaluate("pre", self.step, self._options.agent, given)
        modification = await self._demand_safe(evaluation, "pre", guard._accepts_before)
        # An approval takes its time, in which the caller may have changed its arguments.
        if evaluation.approval is not None:
            check_unchanged(self.step.name, self.step.input, input_now())
        return modification

    async def end(self, result: Any) -> Any:
        """Checks the result, and returns what the caller gets."""
        guard, make = self._guard, self._options.output
        if not guard._checks_end:
            # What is not to be checked leaves the process only if the caller says what of it.
            if guard._is_session:
                await self.settle(None, *([self._shown_output(result)] if make is not None else []))
            return result
        shown = self._shown_output(result)
        try:
            shown = readable(shown, self.step.name, "output")
        except TypeError:
            await self.settle(None, waits=False)
            raise
        evaluation = await self._send_end(None, guard._accepts_after, shown)
        modification = await self._demand_safe(evaluation, "post", guard._accepts_after)
        if modification is None:
            return result
        return changed_data(self.step.name, modification, "output", result)

    async def failed(self, error: Exception) -> None:
        """Raises only what a caller gets instead of the error of the tool."""
        guard = self._guard
        text = error_text(error)
        if not guard._checks_end:
            await self.settle(text)
            return
        try:
            # A model sees what a tool raises as it sees its result.
            shown = thrown_data(error, self.step.name)
        except TypeError:
            await self.settle(text)
            raise
        try:
            await self._demand_safe(await self._send_end(text, None, shown), "post", ())
        except Exception as refused:
            # Within a session, a service that does not answer does not hide why a tool failed.
            if not guard._is_session or _is_refusal(refused):
                # Not from the error of the tool, which is withheld.
                raise refused from None

    async def settle(self, step_error: Optional[str], *output: Any, waits: bool = True) -> None:
        """Sends an end whose verdict has no effect: in a session only."""
        guard = self._guard
        if not guard._is_session:
            return

        async def run() -> None:
            try:
                shown = [readable(one, self.step.name, "output") for one in output]
                await self._send_end(step_error, None, *shown)
            except Exception as error:
                LOG.debug('The end of the step "%s" was not sent: %s', self.step.name, error)

        if waits:
            await run()
            return
        if not guard._is_async:
            # The caller must not wait after what interrupted it; the process does, before it ends.
            threading.Thread(target=lambda: inline(run()), name="control-enforcement-end").start()
            return
        task = asyncio.ensure_future(run())
        guard._background.add(task)
        task.add_done_callback(guard._background.discard)

    async def _send_end(self, step_error: Optional[str], accepts: Any, *output: Any) -> Evaluation:
        """Sends the end of the step. The caller may leave meanwhile; in a session, it is evaluated nevertheless."""
        guard = self._guard
        step = replace(self.step, output=output[0], has_output=True) if output else self.step
        given = replace(self._given, step_error=step_error, accepts=accepts)
        if not guard._is_session:
            return await guard._flow.evaluate("post", step, self._options.agent, given)
        lasting = guard._flow.evaluate("post", step, self._options.agent, replace(given, cancellation=None))
        if not guard._is_async:
            return await lasting
        task = asyncio.ensure_future(lasting)
        guard._background.add(task)
        task.add_done_callback(guard._background.discard)
        return await asyncio.shield(task)

    async def _demand_safe(self, evaluation: Evaluation, stage: str, accepts: Sequence[str]) -> Optional[Modification]:
        """Raises unless the step may proceed. Returns the change without which it must not."""
        modification = raise_unless_safe(
            evaluation, agent=self._options.agent, step=self.step.name, stage=stage, accepts=accepts
        )
        # Absent from older services, and without a verdict.
        verdict = evaluation.verdict
        if verdict is not None and verdict.HasField("selected_controls") and verdict.selected_controls == 0:
            self._unchecked_stages += 1
        if self._unchecked_stages == len(self._options.stages):
            await self._guard.unchecked()
        return modification

    def _shown_output(self, result: Any) -> Any:
        return result if self._options.output is None else self._options.output(result)


def _of_call(value: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
    return value(*args, **kwargs) if callable(value) and not isinstance(value, (Mapping, Cancellation)) else value


def _is_refusal(error: BaseException) -> bool:
    """Whether an error is about a verdict."""
    return isinstance(error, StepError) and error.verdict is not None


def _discard(result: Any) -> None:
    """Ends a stream that is withheld: nothing else can end its source."""
    for name in ("close", "cancel"):
        end = getattr(result, name, None) if hasattr(result, "__next__") or hasattr(result, "read") else None
        if callable(end):
            try:
                end()
            except Exception:
                LOG.debug("a withheld result could not be closed", exc_info=True)
            return
