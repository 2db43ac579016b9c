"""The event loop in which clients that block do their work: one thread for all of a process."""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from concurrent.futures import Future
from typing import Any, Coroutine, Optional

_lock = threading.Lock()
_loop: Optional[asyncio.AbstractEventLoop] = None
_owner = 0
#: Whether the interpreter ends: the loop does nothing any more, so that a wait for it would never end.
_is_over = False
#: The process that has opened connections; 0 if none has, in this process and those that it was forked from. Closing them changes
#: nothing: threads of gRPC go on for a while, and a fork in that time leaves their locks held.
_connected = 0
#: With it, gRPC keeps to work in a process that was forked from one with connections.
_FORK_SUPPORT = "GRPC_ENABLE_FORK_SUPPORT"


def background_loop() -> asyncio.AbstractEventLoop:
    """The loop, which runs from its first use to the end of the process."""
    global _loop, _owner
    with _lock:
        if _is_over:
            raise RuntimeError("the interpreter ends: clients cannot be used any more")
        if _loop is None or _owner != os.getpid():
            has_support = os.environ.get(_FORK_SUPPORT, "").lower() in ("1", "true", "yes")
            if _connected not in (0, os.getpid()) and not has_support:
                # Its calls could never end, or gRPC could end the process.
                raise RuntimeError(
                    "this process was forked after a client had connected, which gRPC does not survive, closed or not: use "
                    'clients only after the fork, start processes with "spawn" or "forkserver", or set '
                    f"{_FORK_SUPPORT}=1 before the program starts"
                )
            loop = asyncio.new_event_loop()
            threading.Thread(target=_run, args=(loop,), name="control-enforcement", daemon=True).start()
            _loop, _owner = loop, os.getpid()
        return _loop


def note_connection() -> None:
    """Told of each connection that is opened, in the loop."""
    global _connected
    _connected = os.getpid()


def submit(work: Coroutine[Any, Any, Any]) -> "Future[Any]":
    try:
        return asyncio.run_coroutine_threadsafe(work, background_loop())
    except RuntimeError:
        work.close()
        raise


def wait_for(future: "Future[Any]") -> Any:
    """The result. What interrupts the thread that waits also ends the work."""
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


def is_over() -> bool:
    return _is_over


def is_background_thread() -> bool:
    try:
        return asyncio.get_running_loop() is _loop
    except RuntimeError:
        return False


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    loop.run_forever()


@atexit.register
def _stop() -> None:
    """gRPC must not be in the middle of its work when the interpreter ends."""
    global _is_over
    _is_over = True
    if _loop is not None and _owner == os.getpid():
        _loop.call_soon_threadsafe(_loop.stop)
