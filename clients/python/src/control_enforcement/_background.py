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


def background_loop() -> asyncio.AbstractEventLoop:
    """The loop, which runs from its first use to the end of the process."""
    global _loop, _owner
    with _lock:
        if _loop is None or _owner != os.getpid():
            loop = asyncio.new_event_loop()
            threading.Thread(target=_run, args=(loop,), name="control-enforcement", daemon=True).start()
            _loop, _owner = loop, os.getpid()
        return _loop


def submit(work: Coroutine[Any, Any, Any]) -> "Future[Any]":
    return asyncio.run_coroutine_threadsafe(work, background_loop())


def wait_for(future: "Future[Any]") -> Any:
    """The result. What interrupts the thread that waits also ends the work."""
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


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
    if _loop is not None and _owner == os.getpid():
        _loop.call_soon_threadsafe(_loop.stop)
