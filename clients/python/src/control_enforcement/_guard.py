"""Tools with checks before and after they run."""

from __future__ import annotations

import asyncio
import functools
import inspect
from dataclasses import replace
from typing import Any, Callable, Coroutine, Dict, Optional, Set, Tuple

from ._flow import LOG, Flow, inline, maybe_awaited
from ._guard_options import GuardOptions, of_call
from ._guarded_call import Call, is_refusal
from ._guarded_data import Parameters, changed_data, readable
from ._settings import new_id, one_of, seconds
from .errors import ServiceError, StepError
from .types import Modification, Step, WaitForApproval


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
    guard = Guard(tool, name, options, parameters, flow, is_async, is_session)

    if is_async:

        @functools.wraps(tool)
        async def guarded(*args: Any, **kwargs: Any) -> Any:
            return await guard.answer(args, kwargs)

    else:

        @functools.wraps(tool)
        def guarded(*args: Any, **kwargs: Any) -> Any:
            return inline(guard.answer(args, kwargs))

    return guarded


class Guard:
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
        self.options = options
        self._parameters = parameters
        self.flow = flow
        self.is_async = is_async
        self.is_session = is_session
        self.checks_end = "post" in options.stages
        self._has_warned = False
        self._background: Set["asyncio.Task[Any]"] = set()
        self.accepts_before: Tuple[Any, ...] = ("steer", "ask")
        if options.input is None or options.changed_args is not None:
            self.accepts_before += ("modify",)
        self.accepts_after: Tuple[Any, ...] = ("steer",) if options.output is not None else ("steer", "modify")

    async def answer(self, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
        on_refused = self.options.on_refused
        try:
            return await self._call(args, kwargs)
        except StepError as error:
            if on_refused is None:
                raise
            return await maybe_awaited(on_refused(error))

    async def _call(self, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
        options = self.options
        given_args, given_kwargs = args, kwargs
        is_whole = False
        if options.input is None and "pre" in options.stages:
            # What is checked is what the tool gets, whatever becomes of the caller's objects meanwhile.
            (args, kwargs), is_whole = self._parameters.copied(args, kwargs)
        # Read before the tool runs: it may change its arguments.
        shown = self._shown_input(args, kwargs)
        context = of_call(options.context, args, kwargs)
        step = Step(self._name, shown, type=options.type, context=context)
        given = options.given(args, kwargs)
        if self.is_session and given.step_id is None:
            given = replace(given, step_id=new_id())
        call = Call(self, step, given)
        if "pre" in options.stages:
            try:
                modification = await call.begin(lambda: self._shown_input(given_args, given_kwargs), is_whole)
                if modification is not None:
                    args, kwargs = self._changed(modification, args, kwargs, call)
            except BaseException as error:
                # A step that was denied or refused has no end. Any other may have been counted, though it does not run.
                if not is_refusal(error) and not isinstance(error, ServiceError):
                    await call.settle("the step did not run", waits=False)
                raise
        try:
            result = self._tool(*args, **kwargs)
            if self.is_async:
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
        make = self.options.input
        data = self._parameters.input_of(args, kwargs) if make is None else make(*args, **kwargs)
        return readable(data, self._name, "input")

    def _changed(
        self, modification: Modification, args: Tuple[Any, ...], kwargs: Dict[str, Any], call: "Call"
    ) -> Tuple[Tuple[Any, ...], Dict[str, Any]]:
        """The arguments for a changed input."""
        if self.options.input is None:
            data = self._parameters.input_of(args, kwargs)
            changed = changed_data(self._name, modification, "input", data)
            given = self._parameters.changed(changed, args, kwargs)
        else:
            assert self.options.changed_args is not None
            changed = changed_data(self._name, modification, "input", call.step.input)
            made = self.options.changed_args(changed, *args, **kwargs)
            given = (made, {}) if isinstance(made, tuple) else ((), dict(made))
        call.step = replace(call.step, input=readable(changed, self._name, "input"))
        return given

    def in_background(self, work: Coroutine[Any, Any, Any]) -> "asyncio.Task[Any]":
        """Work of a coroutine function that goes on when its caller leaves."""
        task = asyncio.ensure_future(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        return task

    async def unchecked(self) -> None:
        if self.options.on_unchecked is not None:
            await maybe_awaited(self.options.on_unchecked(self._name))
        elif not self._has_warned:
            self._has_warned = True
            LOG.warning(
                'No control checks the step "%s". Is this the name under which it is registered, and does its agent have a '
                "control for it? The option on_unchecked replaces this warning.",
                self._name,
            )

    @property
    def waits_for_approval(self) -> Optional[WaitForApproval]:
        options = self.options
        if options.on_ask == "throw":
            return None
        return WaitForApproval(options.max_wait, options.on_ask if callable(options.on_ask) else None)


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
