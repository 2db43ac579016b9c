"""What a failed call means for the evaluations that it carried, and for callers."""

from __future__ import annotations

import random
from typing import Any, Callable

import grpc

from . import v1
from .errors import ServiceError

Code = grpc.StatusCode
_CODES = {code.value[0]: code for code in Code}

#: Upper bound of the first pause, in seconds.
_FIRST_PAUSE = 0.025
#: Upper bound of every pause: a service that is back is detected within this time.
_LONGEST_PAUSE = 2.0
#: What gRPC says of a connection that broke, in place of a status of the service.
_BROKEN = ("Socket closed", "Connection reset", "RST_STREAM", "GOAWAY", "Broken pipe", "recvmsg:", "keepalive", "Stream removed")
#: What it says of an address where nothing listens.
_REFUSED = "Connection refused"


def pause_seconds(failures: int, at_least: float = 0.0, uniform: Callable[[], float] = random.random) -> float:
    """The pause before the next attempt: random up to a bound that doubles with each failure, so that clients that lost
    the same server do not return at once. ``failures`` counts from 0; the service asks for ``at_least``."""
    bound = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** min(failures, 16))
    return float(min(at_least, _LONGEST_PAUSE) + uniform() * bound)


def remedy_for(error: ServiceError) -> str:
    """How to treat evaluations after the call or stream that carried them failed.

    ``fail``: the service would answer the same for any. ``again``: they are not the cause. ``reconnect``: the connection
    broke; one by one if it happens twice. ``suspect``: the service failed, possibly because of one: as before, but not
    forever. ``alone``: one is the cause: one by one, so that only that one fails.
    """
    code = error.code
    if code is Code.UNAVAILABLE:
        return "reconnect" if is_broken(error) else "again"
    if code is Code.RESOURCE_EXHAUSTED:
        return "again" if "RATE_LIMITED" in error.reasons else "alone"
    if code in (Code.UNAUTHENTICATED, Code.PERMISSION_DENIED, Code.UNIMPLEMENTED):
        return "fail"
    if code is Code.FAILED_PRECONDITION:
        return "fail" if error.is_local else "alone"
    if code in (Code.ABORTED, Code.CANCELLED, Code.DEADLINE_EXCEEDED):
        return "reconnect"
    if code in (Code.INTERNAL, Code.UNKNOWN):
        return "reconnect" if is_broken(error) else "suspect"
    return "alone"


def may_continue(error: ServiceError) -> bool:
    """Whether the same call of a stream may succeed later."""
    return remedy_for(error) in ("again", "reconnect", "suspect")


def is_transient(error: ServiceError) -> bool:
    """Whether the status of one evaluation may differ in a retry."""
    return error.code is Code.UNAVAILABLE or (
        error.code is Code.RESOURCE_EXHAUSTED and "RATE_LIMITED" in error.reasons
    )


def is_unavailability(error: ServiceError) -> bool:
    """Whether the answer is missing because of the state of the service, to which ``on_unavailable`` applies. Excludes all
    that a request could cause itself, such as its size: otherwise requests could bypass a control."""
    return error.code is Code.DEADLINE_EXCEEDED or is_transient(error)


def is_draining(error: ServiceError) -> bool:
    return error.code is Code.UNAVAILABLE and "DRAINING" in error.reasons


def is_refusal(error: ServiceError) -> bool:
    """Whether nothing listens at the address of the service."""
    return error.code is Code.UNAVAILABLE and not error.reasons and _REFUSED in error.message


def is_broken(error: ServiceError) -> bool:
    return not error.reasons and not is_refusal(error) and any(text in error.message for text in _BROKEN)


def service_error(error: grpc.RpcError) -> ServiceError:
    """The error of a failed call. A mistake in the address or the certificates is told as one, with its cure."""
    message = str(error.details() or "the call failed without a message")
    cure = _cure_of(message) if error.code() is Code.UNAVAILABLE else None
    if cure is not None:
        return ServiceError(Code.FAILED_PRECONDITION, cure, is_local=True)
    if "failed to connect" in message and message.endswith("Socket closed"):
        # A server that stops does the same: it is no reason to give up.
        message += " (if the server speaks TLS, use https:// in base_url)"
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            status = v1.message_class("google.rpc.Status").FromString(value)
            return _error_of(error.code(), message, status.details)
    return ServiceError(error.code(), message)


def status_error(status: Any) -> ServiceError:
    """The status of one evaluation as the error of a separate call."""
    return _error_of(_CODES.get(status.code, Code.UNKNOWN), status.message, status.details)


def _error_of(code: grpc.StatusCode, message: str, details: Any) -> ServiceError:
    reasons, hint, retry_after = [], "", 0.0
    for one in details:
        name = one.type_url.rpartition("/")[2]
        if name == "google.rpc.ErrorInfo":
            info = v1.message_class(name).FromString(one.value)
            reasons.append(info.reason)
            hint = hint or info.metadata.get("hint", "")
        elif name == "google.rpc.RetryInfo":
            delay = v1.message_class(name).FromString(one.value).retry_delay
            retry_after = delay.seconds + delay.nanos / 1e9
    if hint and not message.endswith(hint):
        message = f"{message} Hint: {hint}"
    return ServiceError(code, message, reasons=reasons, retry_after=retry_after)


def _cure_of(message: str) -> "str | None":
    """The cure of a mistake that every repetition would meet again. OpenSSL and BoringSSL print the same with other letters."""
    said = message.upper().replace("_", " ")
    if any(text in said for text in ("CERTIFICATE VERIFY FAILED", "HOSTNAME VERIFICATION", "IS NOT IN PEER CERTIFICATE")):
        return (
            f"certificate of the server not accepted ({message}): give `ca` the certificate of the server or of its "
            "authority, and use the name in the certificate as the host of base_url"
        )
    if any(text in said for text in ("WRONG VERSION NUMBER", "ALERT PROTOCOL VERSION", "CANNOT CHECK PEER")):
        return "the server does not speak TLS: use http:// in base_url"
    return None
