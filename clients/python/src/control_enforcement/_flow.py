"""Evaluations with their waits, written once for clients that block and clients that do not.

The functions are coroutines. What takes time goes through ``Run``: in a client for asyncio it awaits, and in one that
blocks it returns when the work is done in the event loop of the client, so that the coroutine ends without a pause and
``inline`` gives its result. So callbacks of callers run in the thread of the call.
"""

from __future__ import annotations

import inspect
import logging
import random
import time
from dataclasses import replace
from typing import Any, Awaitable, Callable, Coroutine, Mapping, Optional, Union

from ._core import Core, Settings, request_message
from ._failures import pause_seconds
from ._settings import new_id, revision, seconds, whole
from .errors import ServiceError
from .types import Evaluation, EvaluationOptions, Step, WaitForApproval

LOG = logging.getLogger("control_enforcement")

#: Runs work with the core in its event loop.
Run = Callable[[Callable[[Core], Coroutine[Any, Any, Any]]], Awaitable[Any]]
#: Told of each evaluation that the service did not answer or refused, with the name of its step.
OnError = Callable[[ServiceError, str], Any]

#: Those that wait for the same limit do not return at the same moment: up to this share of the wait, and so many seconds.
_JITTER_SHARE = 0.1
_MIN_JITTER = 0.02


def inline(work: Coroutine[Any, Any, Any]) -> Any:
    """The result of a coroutine that does not pause."""
    try:
        work.send(None)
    except StopIteration as end:
        return end.value
    work.close()
    raise RuntimeError("a coroutine cannot be awaited in a function that blocks: use AsyncClient, or a coroutine function")


async def maybe_awaited(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


def step_of(step: Union[Step, Mapping[str, Any]]) -> Step:
    """A step that may be given as a dict with its members."""
    if isinstance(step, Step):
        return step
    if not isinstance(step, Mapping):
        raise TypeError('step must be a Step or a dict: {"name": ..., "input": ...}')
    return Step(**step, has_output="output" in step)


class Flow:
    """Evaluates steps, and waits as the options say."""

    def __init__(self, settings: Settings, run: Run, on_error: Optional[OnError], trace: Any) -> None:
        self.settings = settings
        self.run = run
        self._on_error = on_error
        self._trace = trace
        self.least_revision = 0

    async def evaluate(self, stage: Any, step: Step, agent: Optional[str], given: EvaluationOptions) -> Evaluation:
        wait = given.wait_for_approval
        if wait is None:
            return await self._unasked(stage, step, agent, given)
        return await self._approved(stage, step, agent, given, wait)

    async def _once(self, stage: Any, step: Step, agent: Optional[str], given: EvaluationOptions) -> Evaluation:
        least = max(self.least_revision, revision(given.min_revision))
        trace = given.traceparent or (self._trace() if self._trace is not None else None)
        given = replace(given, min_revision=least, traceparent=trace)
        message = request_message(self.settings, stage, step, agent, given)
        try:
            evaluation: Evaluation = await self.run(lambda core: core.evaluate(message, given))
        except ServiceError as error:
            await self._tell(error, step.name)
            raise
        if not evaluation.evaluated:
            what = "proceeds without a check, as on_unavailable says" if evaluation.is_safe else "counts as denied"
            LOG.warning('The step "%s" was not evaluated and %s: %s', step.name, what, evaluation.error)
            await self._tell(evaluation.error, step.name)
        return evaluation

    async def _tell(self, error: Any, step: str) -> None:
        if self._on_error is None:
            return
        try:
            await maybe_awaited(self._on_error(error, step))
        except Exception:
            # What is told of an error has no say in the verdict.
            LOG.exception("on_error failed")

    async def _unasked(self, stage: Any, step: Step, agent: Optional[str], given: EvaluationOptions) -> Evaluation:
        """Evaluates again, with the same step id, once the limit that the step reached may have room."""
        wait = given.wait_for_limits
        if wait is None:
            return await self._once(stage, step, agent, given)
        left = seconds("max_wait", wait.max_wait)
        retries = whole("max_retries", wait.max_retries, 1_000)
        given = replace(given, step_id=given.step_id or new_id())
        while True:
            evaluation = await self._once(stage, step, agent, given)
            at_least = evaluation.retry_after
            if evaluation.is_safe or at_least is None or at_least > left or retries == 0:
                return evaluation
            retries -= 1
            pause = min(left, at_least + random.random() * max(_MIN_JITTER, at_least * _JITTER_SHARE))
            await self.run(lambda core: core.sleep(pause, given.cancellation))
            left -= pause

    async def _approved(
        self, stage: Any, step: Step, agent: Optional[str], given: EvaluationOptions, wait: WaitForApproval
    ) -> Evaluation:
        """Waits for the decision about a step that needs one, and evaluates it again: only that verdict lets it proceed."""
        name = agent if agent is not None else self.settings.agent
        deadline = None if wait.max_wait is None else time.monotonic() + seconds("max_wait", wait.max_wait)
        accepts: Any = tuple(dict.fromkeys([*(given.accepts or ("steer",)), "ask"]))
        given = replace(given, accepts=accepts, step_id=given.step_id or new_id())
        evaluation = await self._unasked(stage, step, agent, given)
        last: Optional[int] = None
        repeats = 0
        while evaluation.outcome == "ask" and evaluation.approval is not None and name is not None:
            approval = evaluation.approval
            if approval.id != last:
                repeats = 0
                # Everything but "wait" is no decision to wait.
                if wait.on_ask is not None and await maybe_awaited(wait.on_ask(approval, step)) != "wait":
                    return evaluation
            else:
                # It was approved, and something else happened meanwhile: the service decides, at its pace.
                pause = pause_seconds(repeats)
                await self.run(lambda core: core.sleep(pause, given.cancellation))
                repeats += 1
            last = approval.id
            asked: str = name
            ended = await self.run(lambda core: core.approval_end(asked, approval, deadline, given.cancellation))
            if ended is None:
                return evaluation
            if ended.state not in ("approved", "used"):
                return replace(evaluation, outcome="deny", approval=ended)
            # Without an answer it does not proceed: the approver may have changed it.
            evaluation = await self._unasked(stage, step, agent, replace(given, on_unavailable="deny"))
        return evaluation
