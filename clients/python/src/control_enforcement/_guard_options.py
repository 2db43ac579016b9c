"""The options of guarded tools."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Collection, Dict, Mapping, Optional, Sequence, Tuple

from .errors import StepError
from .types import Cancellation, EvaluationOptions, WaitForLimits


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
    ignored: Optional[Collection[str]] = None
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

    def given(self, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> EvaluationOptions:
        """The options of the evaluations of one call: some are functions of its arguments."""
        cancellation: Optional[Cancellation] = of_call(self.cancellation, args, kwargs)
        return EvaluationOptions(
            timeout=self.timeout,
            min_revision=self.min_revision,
            target=self.target,
            on_unavailable=self.on_unavailable,
            cancellation=cancellation,
            traceparent=of_call(self.traceparent, args, kwargs),
            session_id=of_call(self.session_id, args, kwargs),
            step_id=of_call(self.step_id, args, kwargs),
        )


def of_call(value: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
    return value(*args, **kwargs) if callable(value) and not isinstance(value, (Mapping, Cancellation)) else value
