"""Evaluates the steps of AI agents with the Control Enforcement Service, over gRPC."""

from ._flow import LOG as logger
from ._text_stream import guard_text_stream
from ._keys import ApiKey, key_from_file
from ._verdict import is_safe, outcome_of
from .aio import AsyncClient
from ._base import Session
from .client import Client
from .errors import (
    ApprovalDeniedError,
    ApprovalError,
    ApprovalExpiredError,
    ApprovalRequiredError,
    CancelledError,
    DeniedError,
    NotEvaluatedError,
    ServiceError,
    SteerError,
    StepDataError,
    StepError,
)
from .types import (
    Approval,
    Cancellation,
    Evaluation,
    Halt,
    Limit,
    Modification,
    PatchOperation,
    Request,
    ServerInfo,
    Step,
    StreamResult,
    WaitForApproval,
    WaitForLimits,
    WatchedControls,
)

__all__ = [
    "ApiKey",
    "Approval",
    "ApprovalDeniedError",
    "ApprovalError",
    "ApprovalExpiredError",
    "ApprovalRequiredError",
    "AsyncClient",
    "Cancellation",
    "CancelledError",
    "Client",
    "DeniedError",
    "Evaluation",
    "Halt",
    "Limit",
    "Modification",
    "NotEvaluatedError",
    "PatchOperation",
    "Request",
    "ServerInfo",
    "ServiceError",
    "Session",
    "SteerError",
    "Step",
    "StepDataError",
    "StepError",
    "StreamResult",
    "WaitForApproval",
    "WaitForLimits",
    "WatchedControls",
    "guard_text_stream",
    "is_safe",
    "key_from_file",
    "logger",
    "outcome_of",
]
