"""What the tests share: the service that they run against, with the agents of test/clients/python.test.ts."""

import asyncio
import os
import socket
import threading
import unittest
from typing import Any
from urllib.parse import urlsplit

from control_enforcement import AsyncClient, Client

#: Address of a running service, and a key for it.
URL = os.environ["CONTROL_ENFORCEMENT_URL"]
KEY = os.environ["CONTROL_ENFORCEMENT_API_KEY"]
ADMIN_KEY = os.environ["CONTROL_ENFORCEMENT_ADMIN_KEY"]
AGENT = "python-bot-01"
#: Time of evaluations whose limit is not what is tested, in seconds.
PATIENT = 120.0


def settings(**more: Any) -> Any:
    return {"base_url": URL, "agent": AGENT, "api_key": KEY, "timeout": PATIENT, **more}


class ServiceTest(unittest.TestCase):
    """A test with a client that is closed after it."""

    maxDiff = None

    def client(self, **more: Any) -> Client:
        client = Client(**settings(**more))
        self.addCleanup(client.close)
        return client

    def run_async(self, work: Any, **more: Any) -> Any:
        """Runs a coroutine function with an AsyncClient."""

        async def run() -> Any:
            async with AsyncClient(**settings(**more)) as client:
                return await work(client)

        return asyncio.run(run())


class Door:
    """An address before the service. It closes its first connections, and lets those after them pass."""

    def __init__(self, closed: int) -> None:
        self._closed = closed
        #: Set once a client has replied to what the service sent: it is connected.
        self.connected = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._socket.close()

    def _accept(self) -> None:
        service = urlsplit(URL)
        while True:
            try:
                inner, _ = self._socket.accept()
            except OSError:
                return
            if self._closed > 0:
                self._closed -= 1
                inner.close()
                continue
            outer = socket.create_connection((service.hostname, service.port))
            heard = threading.Event()
            for given in ((inner, outer, heard, False), (outer, inner, heard, True)):
                threading.Thread(target=self._pass, args=given, daemon=True).start()

    def _pass(self, one: socket.socket, other: socket.socket, heard: threading.Event, is_service: bool) -> None:
        try:
            while data := one.recv(65_536):
                if is_service:
                    heard.set()
                elif heard.is_set():
                    self.connected.set()
                other.sendall(data)
        except OSError:
            pass
        finally:
            one.close()
            other.close()
