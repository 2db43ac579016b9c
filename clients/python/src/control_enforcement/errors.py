"""What goes wrong: calls that fail, and steps that must not proceed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Sequence, Tuple

import grpc

if TYPE_CHECKING:
    from .types import Approval, Halt, Limit, Stage
    from .v1 import EvaluateResponse


class ServiceError(Exception):
    """A call failed, or the service refused it. ``code`` says how; ``message`` has the advice of the service."""

    def __init__(
        self,
        code: grpc.StatusCode,
        message: str,
        *,
        reasons: Sequence[str] = (),
        retry_after: float = 0.0,
        is_local: bool = False,
    ) -> None:
        super().__init__(f"[{code.name.lower()}] {message}")
        self.code = code
        self.message = message
        #: The reasons of the service (``enforcement.v1.ErrorReason`` without its prefix), such as ``AGENT_NOT_FOUND``.
        self.reasons: Tuple[str, ...] = tuple(reasons)
        #: Seconds after which the service asks to be called again; 0 if it does not say.
        self.retry_after = retry_after
        #: Whether the connection failed, rather than the service.
        self.is_local = is_local


class CancelledError(Exception):
    """The evaluation was cancelled by its caller. The step must not proceed."""


class StepError(Exception):
    """A step must not proceed unchanged. After a check with stage ``post`` nothing in here quotes the output.

    ``str(error)`` is what a model may see: what happened and what to do differently, never how a control decides.
    """

    def __init__(
        self,
        message: str,
        *,
        step: str,
        stage: "Stage",
        agent: Optional[str] = None,
        controls: Sequence[str] = (),
        verdict: Optional["EvaluateResponse"] = None,
        limits: Sequence["Limit"] = (),
        halt: Optional["Halt"] = None,
        retry_after: Optional[float] = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.step = step
        self.stage = stage
        self.agent = agent
        #: Names of the controls that caused it.
        self.controls: Tuple[str, ...] = tuple(controls)
        #: None when the service did not answer. After the step ran, without explanations of evaluators.
        self.verdict = verdict
        #: The full reason, for logs and people: names of controls, patterns, errors.
        self.reason: Optional[str] = (
            verdict.reason if verdict is not None and verdict.HasField("reason") else None
        )
        self.limits = tuple(limits)
        self.halt = halt
        #: Seconds after which the step may be repeated with a chance to pass; None if time alone does not help.
        self.retry_after = retry_after


class DeniedError(StepError):
    """A deny control matched, or could not be evaluated."""


class NotEvaluatedError(DeniedError):
    """The service did not evaluate the step, and without an answer nothing may proceed. ``error`` says why."""

    def __init__(self, message: str, *, error: ServiceError, **checked: Any) -> None:
        super().__init__(message, **checked)
        self.error = error
        self.reason = f"The step was not evaluated: {error.message}"


class ApprovalError(DeniedError):
    """A step that has to do with an approval."""

    def __init__(self, message: str, *, approval: "Approval", **checked: Any) -> None:
        super().__init__(message, **checked)
        self.approval = approval


class ApprovalRequiredError(ApprovalError):
    """A person must approve the step before it runs: once that is done, the same call passes."""


class ApprovalDeniedError(ApprovalError):
    """A person did not approve the step. ``approval.reason`` is what the person says about it."""


class ApprovalExpiredError(ApprovalError):
    """The approval of the step has expired, or was cancelled: see ``approval.state`` and ``approval.reason``."""


class SteerError(StepError):
    """A steer control matched: the step may be retried after the required actions."""

    def __init__(self, message: str, *, steering: str, required_actions: Sequence[str], **checked: Any) -> None:
        super().__init__(message, **checked)
        #: What the agent should do differently.
        self.steering = steering
        #: Actions required of the agent before a retry.
        self.required_actions = tuple(required_actions)


class StepDataError(TypeError):
    """The input or the output of a guarded tool cannot be checked as it is. With stage ``pre`` the tool did not run; with
    stage ``post`` it ran, and its result is withheld. The message names the option that mends it."""

    def __init__(self, message: str, step: str, stage: "Stage") -> None:
        super().__init__(message)
        self.message = message
        self.step = step
        self.stage = stage
