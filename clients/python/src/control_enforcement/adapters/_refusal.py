"""What a model is told instead of the result of a tool."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from typing import Any, Callable, Optional, Tuple, Union

from ..errors import ApprovalRequiredError, NotEvaluatedError, SteerError, StepDataError, StepError

#: Errors of guarded tools that a model is told of.
Refused = Union[StepError, StepDataError]


@dataclass(frozen=True)
class ToolRefusal:
    """The same as that of the adapters for TypeScript. ``str`` is the JSON that a model reads."""

    #: ``not_executed``, or ``output_withheld``: the tool ran, and its effects have happened.
    status: str
    #: ``denied``, ``steered``, ``approval_required``, or ``unavailable``: the step could not be checked.
    reason: str
    #: What happened and what to do differently, never how a control decides.
    message: str
    #: Names of the controls that decided.
    controls: Tuple[str, ...] = ()
    #: What must be done before the call is repeated.
    required_actions: Tuple[str, ...] = ()
    approval_id: Optional[int] = None
    #: Milliseconds after which the call may be repeated with a chance to pass.
    retry_after_ms: Optional[int] = None

    def __str__(self) -> str:
        shown = {
            name: value
            for name, value in vars(self).items()
            if value is not None and not (name == "required_actions" and not value)
        }
        return json.dumps(shown, ensure_ascii=False)


def refusal_of(error: Refused) -> ToolRefusal:
    """What a model is told of a call that does not proceed."""
    status = "not_executed" if error.stage == "pre" else "output_withheld"
    if isinstance(error, StepDataError):
        return ToolRefusal(status, "unavailable", error.message)
    reason = "denied"
    if isinstance(error, SteerError):
        reason = "steered"
    elif isinstance(error, ApprovalRequiredError):
        reason = "approval_required"
    elif isinstance(error, NotEvaluatedError):
        reason = "unavailable"
    return ToolRefusal(
        status=status,
        reason=reason,
        message=error.message,
        controls=error.controls,
        required_actions=error.required_actions if isinstance(error, SteerError) else (),
        approval_id=error.approval.id if isinstance(error, ApprovalRequiredError) else None,
        retry_after_ms=None if error.retry_after is None else round(error.retry_after * 1_000),
    )


def telling(guarded: Callable[..., Any], is_async: bool, told: Callable[[ToolRefusal], Any]) -> Callable[..., Any]:
    """A guarded tool that returns what is told of a refusal, also of data that cannot be checked."""
    if is_async:

        @functools.wraps(guarded)
        async def answer_async(*args: Any, **kwargs: Any) -> Any:
            try:
                return await guarded(*args, **kwargs)
            except (StepError, StepDataError) as error:
                return told(refusal_of(error))

        return answer_async

    @functools.wraps(guarded)
    def answer(*args: Any, **kwargs: Any) -> Any:
        try:
            return guarded(*args, **kwargs)
        except (StepError, StepDataError) as error:
            return told(refusal_of(error))

    return answer
