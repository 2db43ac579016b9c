"""Steps, evaluations and what they consist of."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from datetime import datetime
from typing import (
    TYPE_CHECKING,
    Any,
    Awaitable,
    Callable,
    FrozenSet,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
    TypedDict,
    Union,
)

from .errors import ServiceError

if TYPE_CHECKING:
    from typing import Literal

    from .v1 import EvaluateResponse

    #: ``pre`` before a step runs, ``post`` after it ran.
    Stage = Literal["pre", "post"]
    #: The verdict in one word. What this client does not know is ``deny``.
    Outcome = Literal["allow", "deny", "steer", "ask", "modify"]
    #: Result for an evaluation that the service did not answer.
    OnUnavailable = Literal["deny", "allow"]
    #: What a call does whose step needs an approval.
    OnAsk = Literal["wait", "throw"]


@dataclass(frozen=True)
class Step:
    """A step that an agent takes. Its data are sent as JSON; integers keep all their digits."""

    name: str
    #: An object for a tool.
    input: Any = None
    #: None, and absent, before it ran.
    output: Any = None
    #: Step type, for example ``llm``.
    type: str = "tool"
    #: Further facts for controls.
    context: Optional[Mapping[str, Any]] = None
    #: Whether there is an output; needed for an output that is None.
    has_output: bool = False


@dataclass(frozen=True)
class Request:
    """A step to evaluate, for ``evaluate_stream``."""

    stage: "Stage"
    step: Step
    #: The agent of the client when absent.
    agent: Optional[str] = None


@dataclass(frozen=True)
class Limit:
    """State of a limit after a step. Times are in seconds."""

    control_id: int
    control_name: str
    #: ``rate``, ``budget``, ``concurrency``, ``loop`` or ``history``.
    evaluator: str
    #: In steps, or in the unit of a budget.
    limit: float
    remaining: float
    #: Until all of it is available again; None if that does not happen by itself.
    resets_after: Optional[float]
    #: After which the step may be repeated; None unless the limit is reached and time helps.
    retry_after: Optional[float]
    window: Optional[float]
    #: Why it was not applied as it is meant to be; empty if it was.
    degraded: str
    #: What is counted together, as lists show it.
    key: str


@dataclass(frozen=True)
class Halt:
    """A halt that denied a step."""

    halt_id: int
    reason: str
    #: When it ends by itself; None if it lasts until it is lifted.
    expires_at: Optional[datetime]


@dataclass(frozen=True)
class Approval:
    """The decision of a person that a step waits for, or that let it pass."""

    id: int
    #: ``pending``, ``approved``, ``denied``, ``expired``, ``cancelled`` or ``used``. One that this client does not know is
    #: ``pending``, which lets nothing pass.
    state: str
    expires_at: datetime
    #: SHA-256 of the step that it is about: of the changed one, if controls change it.
    step_sha256: str
    #: Ids and names of the controls that ask.
    controls: Tuple[Tuple[int, str], ...]
    #: What the approver says about a denial, or why it ended otherwise; None if that is not known.
    reason: Optional[str] = None


@dataclass(frozen=True)
class PatchOperation:
    """An operation of JSON Patch (RFC 6902) on a step: ``replace`` or ``remove``."""

    op: str
    path: str
    value: Any = None


@dataclass(frozen=True)
class Modification:
    """How a step is changed so that it may proceed. A number that no float holds is a Decimal."""

    patch: Tuple[PatchOperation, ...]
    #: The whole step that may proceed, as in JSON.
    step: Mapping[str, Any]
    #: The controls that changed it; empty if an approver did.
    control_ids: Tuple[int, ...]


@dataclass(frozen=True)
class Evaluation:
    """Result of an evaluation. Only ``is_safe`` lets a step proceed unchanged."""

    #: False if the service did not answer until the timeout: then there is an ``error`` and no ``verdict``.
    evaluated: bool
    is_safe: bool
    #: ``allow`` exactly when it is safe and evaluated; ``deny`` without an answer.
    outcome: "Outcome"
    #: Why not; None when it is safe.
    reason: Optional[str]
    decision_id: str = ""
    limits: Tuple[Limit, ...] = ()
    halt: Optional[Halt] = None
    approval: Optional[Approval] = None
    #: The step that may proceed instead; with the outcome ``modify`` only.
    modification: Optional[Modification] = None
    #: Seconds after which the step may pass; None when it is safe, and if time alone does not help.
    retry_after: Optional[float] = None
    verdict: Optional["EvaluateResponse"] = None
    error: Optional[ServiceError] = None


@dataclass(frozen=True)
class StreamResult:
    """Result of one request of ``evaluate_stream``: an evaluation, or the error of ``evaluate``."""

    index: int
    request: Request
    evaluation: Optional[Evaluation] = None
    error: Optional[BaseException] = None


@dataclass(frozen=True)
class WaitForLimits:
    """How an evaluation waits for a limit that its step has reached: at most so many seconds, and so many times."""

    max_wait: float
    max_retries: int = 10


AskDecision = Union[str, Awaitable[str]]


@dataclass(frozen=True)
class WaitForApproval:
    """How an evaluation waits for the decision of a person."""

    #: Most seconds that it waits; None for as long as the approval lives.
    max_wait: Optional[float] = None
    #: Called for each approval before it waits. Only with ``wait`` it does; what it raises, the evaluation raises.
    on_ask: Optional[Callable[[Approval, Step], AskDecision]] = None


@dataclass
class Cancellation:
    """Cancels evaluations: give it to calls as ``cancellation``, and call ``cancel`` from any thread."""

    _callbacks: List[Callable[[], Any]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _cancelled: bool = False

    @property
    def cancelled(self) -> bool:
        return self._cancelled

    def cancel(self) -> None:
        with self._lock:
            self._cancelled = True
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    def on_cancel(self, callback: Callable[[], Any]) -> Callable[[], None]:
        """Calls back once when it is cancelled, at once if it is already; returns what takes that back."""
        with self._lock:
            if not self._cancelled:
                self._callbacks.append(callback)

                def forget() -> None:
                    with self._lock:
                        if callback in self._callbacks:
                            self._callbacks.remove(callback)

                return forget
        callback()
        return lambda: None


class Options(TypedDict, total=False):
    """Options of one evaluation, given as keywords."""

    #: Most seconds from the call to the answer, retries included; those of the client when absent.
    timeout: Optional[float]
    #: Result for an evaluation that the service did not answer in time.
    on_unavailable: Optional["OnUnavailable"]
    #: Outcomes that the caller can act on, besides ``allow`` and ``deny``; ``steer`` when absent.
    accepts: Optional[Sequence["Outcome"]]
    #: Adds the controls that did not match, metadata and traces.
    full_detail: bool
    #: Use the controls of this revision or a later one.
    min_revision: int
    #: Id of the session (conversation, run, task) that the step belongs to, 1 to 255 characters.
    session_id: Optional[str]
    #: Id of the step, the same before and after it ran and when the call is repeated.
    step_id: Optional[str]
    #: Why the step failed, at most 4,096 characters; only with the stage ``post``.
    step_error: Optional[str]
    #: Position in a trace as in the header of W3C Trace Context.
    traceparent: Optional[str]
    #: Type and id of the target that the agent works on.
    target: Optional[Tuple[str, str]]
    #: Waits as long as the service says, and evaluates again, if nothing but limits denies or steers the step.
    wait_for_limits: Optional[WaitForLimits]
    #: Waits while a person decides about the step, and evaluates it again: that verdict is the result.
    wait_for_approval: Optional[WaitForApproval]
    #: Ends the evaluation when it is cancelled: the call raises a CancelledError.
    cancellation: Optional[Cancellation]


@dataclass(frozen=True)
class EvaluationOptions:
    """The same with their defaults."""

    timeout: Optional[float] = None
    on_unavailable: Optional["OnUnavailable"] = None
    accepts: Optional[Sequence["Outcome"]] = None
    full_detail: bool = False
    min_revision: int = 0
    session_id: Optional[str] = None
    step_id: Optional[str] = None
    step_error: Optional[str] = None
    traceparent: Optional[str] = None
    target: Optional[Tuple[str, str]] = None
    wait_for_limits: Optional[WaitForLimits] = None
    wait_for_approval: Optional[WaitForApproval] = None
    cancellation: Optional[Cancellation] = None


@dataclass(frozen=True)
class WatchedControls:
    """The controls of an agent."""

    #: Revision up to which they are current.
    revision: int
    #: All controls (``v1.AgentControl``) by id, in the order of ids descending. Not changed later.
    controls: Mapping[int, Any]
    #: Whether they differ from those before.
    changed: bool
    #: Time of ``time.monotonic()`` when the service last confirmed that there are no later ones.
    confirmed_at: float


@dataclass(frozen=True)
class ServerInfo:
    """What a service can do."""

    #: None for a service that does not tell.
    version: Optional[str]
    features: FrozenSet[str]
    #: Largest request message in bytes; None for a service that does not tell.
    max_message_bytes: Optional[int]
