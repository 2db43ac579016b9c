"""One call of a guarded tool: what is evaluated of it, and what becomes of its end."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Callable, Optional, Sequence

from ._flow import LOG, inline
from ._guarded_data import changed_data, check_unchanged, error_text, readable, thrown_data
from ._refusals import raise_unless_safe
from .errors import StepError
from .types import Evaluation, EvaluationOptions, Modification, Step

if TYPE_CHECKING:
    from ._guard import Guard


class Call:
    """One call of a guarded tool."""

    def __init__(self, guard: Guard, step: Step, given: EvaluationOptions) -> None:
        self._guard = guard
        self._options = guard.options
        self.step = step
        self._given = given
        self._unchecked_stages = 0

    async def begin(self, input_now: Callable[[], Any], is_whole: bool) -> Optional[Modification]:
        """Checks the input, of which the tool has a copy if it is whole. Returns how it must be changed."""
        guard = self._guard
        given = replace(
            self._given,
            accepts=guard.accepts_before,
            wait_for_limits=self._options.wait_for_limits,
            wait_for_approval=guard.waits_for_approval,
        )
        evaluation = await guard.flow.evaluate("pre", self.step, self._options.agent, given)
        modification = await self._demand_safe(evaluation, "pre", guard.accepts_before)
        # What was approved is what the caller still means; what is no copy must be what was checked.
        if evaluation.approval is not None or not is_whole:
            check_unchanged(self.step.name, self.step.input, input_now())
        return modification

    async def end(self, result: Any) -> Any:
        """Checks the result, and returns what the caller gets."""
        guard, make = self._guard, self._options.output
        if not guard.checks_end:
            # What is not to be checked leaves the process only if the caller says what of it.
            if guard.is_session:
                await self.settle(None, *([self._shown_output(result)] if make is not None else []))
            return result
        shown = self._shown_output(result)
        try:
            shown = readable(shown, self.step.name, "output")
        except TypeError:
            await self.settle(None, waits=False)
            raise
        evaluation = await self._send_end(None, guard.accepts_after, shown)
        modification = await self._demand_safe(evaluation, "post", guard.accepts_after)
        if modification is None:
            return result
        return changed_data(self.step.name, modification, "output", result)

    async def failed(self, error: Exception) -> None:
        """Raises only what a caller gets instead of the error of the tool."""
        guard = self._guard
        text = error_text(error)
        if not guard.checks_end:
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
            if not guard.is_session or is_refusal(refused):
                # Not from the error of the tool, which is withheld.
                raise refused from None

    async def settle(self, step_error: Optional[str], *output: Any, waits: bool = True) -> None:
        """Sends an end whose verdict has no effect: in a session only."""
        guard = self._guard
        if not guard.is_session:
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
        if not guard.is_async:
            # The caller must not wait after what interrupted it; the process does, before it ends.
            threading.Thread(target=lambda: inline(run()), name="control-enforcement-end").start()
            return
        guard.in_background(run())

    async def _send_end(self, step_error: Optional[str], accepts: Any, *output: Any) -> Evaluation:
        """Sends the end of the step. The caller may leave meanwhile; in a session, it is evaluated nevertheless."""
        guard = self._guard
        step = replace(self.step, output=output[0], has_output=True) if output else self.step
        given = replace(self._given, step_error=step_error, accepts=accepts)
        if not guard.is_session:
            return await guard.flow.evaluate("post", step, self._options.agent, given)
        lasting = guard.flow.evaluate("post", step, self._options.agent, replace(given, cancellation=None))
        if not guard.is_async:
            return await lasting
        return await asyncio.shield(guard.in_background(lasting))

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


def is_refusal(error: BaseException) -> bool:
    """Whether an error is about a verdict."""
    return isinstance(error, StepError) and error.verdict is not None
