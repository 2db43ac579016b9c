"""What a verdict of the service allows."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any, Iterable, List, Mapping, Optional, Tuple

from . import v1
from ._step_json import json_form, parse_json
from .errors import ServiceError
from .types import Approval, Evaluation, Halt, Limit, Modification, PatchOperation

Outcome: Any = v1.Outcome
Decision: Any = v1.Decision

OUTCOMES = {
    "allow": Outcome.OUTCOME_ALLOW,
    "deny": Outcome.OUTCOME_DENY,
    "steer": Outcome.OUTCOME_STEER,
    "ask": Outcome.OUTCOME_ASK,
    "modify": Outcome.OUTCOME_MODIFY,
}
_STATES = {
    v1.ApprovalState.APPROVAL_STATE_APPROVED: "approved",
    v1.ApprovalState.APPROVAL_STATE_DENIED: "denied",
    v1.ApprovalState.APPROVAL_STATE_EXPIRED: "expired",
    v1.ApprovalState.APPROVAL_STATE_CANCELLED: "cancelled",
    v1.ApprovalState.APPROVAL_STATE_USED: "used",
}
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def is_safe(verdict: Any) -> bool:
    """Whether a step may proceed unchanged: only when the service says so and nothing in the verdict says otherwise, but
    for matches that a person has approved. An outcome or a decision that this client does not know is of a later service,
    and never safe."""
    return (
        verdict.is_safe is True
        # Services before version 7.6 leave it unspecified.
        and verdict.outcome in (Outcome.OUTCOME_UNSPECIFIED, Outcome.OUTCOME_ALLOW)
        and all(
            one.action == Decision.DECISION_OBSERVE
            or (one.action == Decision.DECISION_DENY and _is_approved(one.control_id, verdict))
            for one in verdict.matches
        )
        and not any(map(is_denying, verdict.errors))
    )


def outcome_of(verdict: Any) -> str:
    """The verdict in one word. Everything that is not understood is ``deny``."""
    if is_safe(verdict):
        return "allow"
    if verdict.outcome == Outcome.OUTCOME_ASK:
        return "ask" if verdict.HasField("approval") else "deny"
    if verdict.outcome == Outcome.OUTCOME_MODIFY:
        return "modify" if verdict.HasField("modification") else "deny"
    if verdict.outcome in (Outcome.OUTCOME_STEER, Outcome.OUTCOME_UNSPECIFIED):
        results = [*verdict.matches, *verdict.errors]
        is_steered = any(one.action == Decision.DECISION_STEER for one in verdict.matches)
        return "steer" if is_steered and not any(map(is_denying, results)) else "deny"
    return "deny"


def is_denying(result: Any) -> bool:
    """Whether a control would deny the step, alone or because it could not be evaluated."""
    return result.action not in (Decision.DECISION_STEER, Decision.DECISION_OBSERVE)


def evaluated_by(verdict: Any) -> Evaluation:
    """An evaluation by the service."""
    safe = is_safe(verdict)
    outcome: Any = outcome_of(verdict)
    modification = _modification_of(verdict) if outcome == "modify" else None
    if outcome == "modify" and modification is None:
        # A change that this client does not understand is none.
        outcome = "deny"
    return Evaluation(
        evaluated=True,
        is_safe=safe,
        outcome=outcome,
        reason=verdict.reason if not safe and verdict.HasField("reason") else None,
        decision_id=verdict.decision_id,
        limits=tuple(map(_limit_of, verdict.limits)),
        halt=_halt_of(verdict),
        approval=_approval_of(verdict),
        modification=modification,
        retry_after=None if safe else _retry_after_of(verdict),
        verdict=verdict,
    )


def not_evaluated(error: ServiceError, is_allowed: bool) -> Evaluation:
    """An evaluation without an answer."""
    return Evaluation(
        evaluated=False,
        is_safe=is_allowed,
        outcome="deny",
        reason=f"The step was not evaluated: {error.message}",
        error=error,
    )


def approval_after(approval: Approval, message: Any) -> Approval:
    """An approval of a verdict after what the service says of it later."""
    deny = v1.ApprovalDecision.APPROVAL_DECISION_DENY
    comments = [vote.comment for vote in message.votes if vote.decision == deny and vote.HasField("comment")]
    reason = comments[-1] if comments else message.end_reason if message.HasField("end_reason") else None
    state = _STATES.get(message.state, "pending")
    return replace(approval, state=state, reason=reason)


def _approval_of(verdict: Any) -> Optional[Approval]:
    if not verdict.HasField("approval"):
        return None
    notice = verdict.approval
    return Approval(
        id=notice.id,
        state=_STATES.get(notice.state, "pending"),
        expires_at=_time_of(notice.expires_at),
        step_sha256=notice.step_sha256,
        controls=tuple((one.control_id, one.control_name) for one in notice.controls),
    )


def _is_approved(control_id: int, verdict: Any) -> bool:
    """Whether the match of a control is one that a person has approved."""
    if not verdict.HasField("approval") or _STATES.get(verdict.approval.state) not in ("approved", "used"):
        return False
    return any(one.control_id == control_id for one in verdict.approval.controls)


def _halt_of(verdict: Any) -> Optional[Halt]:
    if not verdict.HasField("halt"):
        return None
    halt = verdict.halt
    return Halt(halt.halt_id, halt.reason, _time_of(halt.expires_at) if halt.HasField("expires_at") else None)


def _limit_of(one: Any) -> Limit:
    return Limit(
        control_id=one.control_id,
        control_name=one.control_name,
        evaluator=one.evaluator_name,
        limit=one.limit,
        remaining=one.remaining,
        resets_after=_seconds_of(one, "resets_after"),
        retry_after=_seconds_of(one, "retry_after"),
        window=_seconds_of(one, "window"),
        degraded=one.degraded,
        key=one.key,
    )


def _retry_after_of(verdict: Any) -> Optional[float]:
    """Seconds after which the step may pass; None if time alone does not help one of the controls that stop it."""
    stopping = [one for one in [*verdict.matches, *verdict.errors] if one.action != Decision.DECISION_OBSERVE]
    times = [_longest(limit for limit in verdict.limits if limit.control_id == one.control_id) for one in stopping]
    return max(times) if times and 0 not in times else None


def _longest(limits: Iterable[Any]) -> float:
    return max((_seconds_of(one, "retry_after") or 0.0 for one in limits), default=0.0)


def _seconds_of(message: Any, name: str) -> Optional[float]:
    """A duration, rounded up to milliseconds."""
    if not message.HasField(name):
        return None
    duration = getattr(message, name)
    return float(duration.seconds + math.ceil(duration.nanos / 1e6) / 1000)


def _time_of(timestamp: Any) -> datetime:
    try:
        return _EPOCH + timedelta(seconds=timestamp.seconds, microseconds=timestamp.nanos // 1000)
    except OverflowError:
        return datetime.max.replace(tzinfo=timezone.utc)


def _modification_of(verdict: Any) -> Optional[Modification]:
    """The modification of a verdict; None for one that is not understood."""
    message = verdict.modification
    try:
        step = parse_json(message.step_json)
        if not isinstance(step, dict) or not isinstance(step.get("name"), str) or not message.patch:
            return None
        # Values are those of the changed step, which has all digits of their numbers; the message has doubles.
        patch = tuple(_operation_of(one, step) for one in message.patch)
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    return Modification(patch, step, tuple(message.control_ids))


def _operation_of(one: Any, step: Any) -> PatchOperation:
    if one.op == "remove":
        return PatchOperation("remove", one.path)
    if one.op != "replace":
        raise ValueError(f"the operation {one.op} is not known")
    value = step
    for name in _names_of(one.path):
        value = value[_index_of(name, value)] if isinstance(value, list) else value[name]
    return PatchOperation("replace", one.path, value)


def changed_by(patch: Tuple[PatchOperation, ...], member: str, value: Any) -> Any:
    """Data of a step after its changes. Only what is on the paths of the changes is copied; everything else is the same
    object as before. Raises a TypeError for changes beyond the member, and of what is neither dict nor list: a step must
    not proceed with a part of its changes."""
    for one in patch:
        root, *names = _names_of(one.path)
        if root != member:
            raise TypeError(f"it changes {one.path}, not only the {member}")
        value = _changed_at(value, names, one)
    json_form(value, member)
    return value


def _changed_at(value: Any, names: List[str], change: PatchOperation) -> Any:
    if not names:
        if change.op == "remove":
            raise TypeError(f"it removes {change.path} as a whole")
        return change.value
    name, *rest = names
    if type(value) is list:
        try:
            index = _index_of(name, value)
        except LookupError:
            index = -1
        if index >= 0 and (rest or change.op == "replace"):
            return [*value[:index], _changed_at(value[index], rest, change), *value[index + 1 :]]
    elif isinstance(value, Mapping) and name in value:
        if not rest and change.op == "remove":
            return {key: one for key, one in value.items() if key != name}
        return {key: _changed_at(one, rest, change) if key == name else one for key, one in value.items()}
    raise TypeError(f"there is nothing at {change.path} that can be changed")


def _names_of(path: str) -> List[str]:
    """The parts of a JSON Pointer (RFC 6901)."""
    return [part.replace("~1", "/").replace("~0", "~") for part in path.split("/")[1:]]


def _index_of(name: str, items: List[Any]) -> int:
    if name.isascii() and name.isdigit() and str(int(name)) == name and int(name) < len(items):
        return int(name)
    raise LookupError(name)
