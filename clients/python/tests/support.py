"""What the tests share: the service that they run against, with the agents of test/clients/python.test.ts."""

import asyncio
import os
import unittest
from typing import Any

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
