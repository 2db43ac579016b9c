"""The errors of steps that must not proceed."""

from __future__ import annotations

import math
from typing import Any, Dict, List, Optional, Sequence

from . import v1
from ._verdict import Decision, is_denying
from .errors import (
    ApprovalDeniedError,
    ApprovalExpiredError,
    ApprovalRequiredError,
    DeniedError,
    NotEvaluatedError,
    SteerError,
    StepError,
)
from .types import Evaluation, Modification


def raise_unless_safe(
    evaluation: Evaluation, *, agent: Optional[str], step: str, stage: Any, accepts: Sequence[str]
) -> Optional[Modification]:
    """Raises the error of a step that must not proceed. Returns the modification without which it must not, if ``accepts``
    has it; None if it may proceed unchanged."""
    if evaluation.is_safe:
        return None
    if evaluation.modification is not None and "modify" in accepts:
        return evaluation.modification
    raise refusal_of(evaluation, agent=agent, step=step, stage=stage)


def refusal_of(evaluation: Evaluation, *, agent: Optional[str], step: str, stage: Any) -> StepError:
    """The error of a step that must not proceed."""
    checked: Dict[str, Any] = {"agent": agent, "step": step, "stage": stage}
    when = "before" if stage == "pre" else "after"
    if not evaluation.evaluated:
        assert evaluation.error is not None
        message = f'Step "{step}" could not be checked {when} it ran, so it counts as denied. Try again later.'
        return NotEvaluatedError(message, error=evaluation.error, **checked)
    verdict: Any = evaluation.verdict
    checked.update(
        verdict=_without_explanations(verdict) if stage == "post" else verdict,
        limits=evaluation.limits,
        halt=evaluation.halt,
        retry_after=evaluation.retry_after,
    )
    if evaluation.outcome == "steer":
        return _steered(verdict, checked, when)
    names = [one.control_name for one in [*verdict.matches, *verdict.errors] if is_denying(one)]
    checked["controls"] = names
    message = f'Step "{step}" was denied {when} it ran{_by(names)}. {_advice_of(evaluation)}'
    return _not_approved(evaluation, checked, names) or DeniedError(message, **checked)


def _steered(verdict: Any, checked: Dict[str, Any], when: str) -> SteerError:
    steering = [one for one in verdict.matches if one.action == Decision.DECISION_STEER]
    names = [one.control_name for one in steering]
    contexts = [one.steering_context for one in steering if one.HasField("steering_context")]
    guidance = "\n".join(one.message for one in contexts)
    actions = list(dict.fromkeys(action for one in contexts for action in one.required_actions))
    required = f" Required before it is repeated: {'; '.join(actions)}." if actions else ""
    advice = f": {guidance}" if guidance else "."
    message = f'Step "{checked["step"]}" was steered {when} it ran{_by(names)}{advice}{required}'
    return SteerError(message, steering=guidance, required_actions=actions, **{**checked, "controls": names})


def _not_approved(evaluation: Evaluation, checked: Dict[str, Any], names: List[str]) -> Optional[DeniedError]:
    approval = evaluation.approval
    if approval is None:
        return None
    step = f'Step "{checked["step"]}"'
    because = "" if approval.reason is None else f": {approval.reason}"
    if evaluation.outcome == "ask":
        return ApprovalRequiredError(
            f"{step} did not run, because a person must approve it (approval {approval.id}){_by(names)}. "
            "Repeat it once it is approved.",
            approval=approval,
            **checked,
        )
    if approval.state == "denied":
        return ApprovalDeniedError(
            f"{step} did not run: its approval ({approval.id}) was denied{because}. Do not repeat it unchanged.",
            approval=approval,
            **checked,
        )
    if approval.state in ("expired", "cancelled"):
        what = "has expired" if approval.state == "expired" else "was cancelled"
        message = f"{step} did not run: its approval ({approval.id}) {what}{because}."
        return ApprovalExpiredError(message, approval=approval, **checked)
    return None


def _advice_of(evaluation: Evaluation) -> str:
    if evaluation.halt is not None:
        return f"Such steps are halted: {evaluation.halt.reason}"
    if evaluation.retry_after is None:
        return "A policy forbids it: do not repeat it unchanged."
    return f"A limit is reached: repeat it no earlier than in {math.ceil(evaluation.retry_after)} s."


def _by(names: Sequence[str]) -> str:
    return " by " + ", ".join(f'"{name}"' for name in names) if names else ""


def _without_explanations(verdict: Any) -> Any:
    """A verdict without explanations of evaluators, because they quote the data."""
    bare = v1.EvaluateResponse()
    bare.CopyFrom(verdict)
    bare.ClearField("reason")
    for one in [*bare.matches, *bare.errors, *bare.non_matches]:
        matched, confidence = one.result.matched, one.result.confidence
        one.result.Clear()
        one.result.matched, one.result.confidence = matched, confidence
    return bare
