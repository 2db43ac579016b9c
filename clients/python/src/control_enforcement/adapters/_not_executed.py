"""What a model is told of a tool that did not run, or whose result is withheld."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Optional

from ..errors import ApprovalError, ApprovalRequiredError, NotEvaluatedError, SteerError, StepError


@dataclass(frozen=True)
class NotExecuted:
    """The result of a tool that must not be used. ``str`` is the JSON that a model reads."""

    #: The step, which is the name of the tool.
    step: str
    #: ``denied``, ``steered``, ``approval_required``, ``not_approved`` or ``not_evaluated``.
    why: str
    #: What happened and what to do differently.
    message: str
    #: Whether the tool ran, so that it must not be repeated to have its effect.
    ran: bool
    #: Seconds after which it may be repeated; None if time alone does not help.
    retry_after: Optional[float] = None
    approval_id: Optional[int] = None
    status: str = "not_executed"

    def __str__(self) -> str:
        shown = {name: value for name, value in asdict(self).items() if value is not None}
        return json.dumps(shown, ensure_ascii=False)


def not_executed(error: StepError) -> NotExecuted:
    """The result for an error of a guarded tool."""
    why = "denied"
    if isinstance(error, SteerError):
        why = "steered"
    elif isinstance(error, NotEvaluatedError):
        why = "not_evaluated"
    elif isinstance(error, ApprovalRequiredError):
        why = "approval_required"
    elif isinstance(error, ApprovalError):
        why = "not_approved"
    return NotExecuted(
        step=error.step,
        why=why,
        message=error.message,
        ran=error.stage == "post",
        retry_after=error.retry_after,
        approval_id=error.approval.id if isinstance(error, ApprovalError) else None,
    )
