"""Streamed text, checked in windows."""

import asyncio
import random
import re
import threading
import unittest

from control_enforcement import DeniedError, StepDataError, guard_text_stream
from control_enforcement._flow import inline
from control_enforcement._text_windows import TextWindows
from support import PATIENT, ServiceTest

SECRET = re.compile(r"sk-[a-z]+")


async def redacted(text):
    return SECRET.sub("[key]", text)


async def denied(text):
    if re.search(r"sk-[a-z]{4}", text):
        raise PermissionError
    return text


def cut_texts():
    """Texts, cut anywhere, and sizes of windows."""
    fixed = random.Random(37)
    for _ in range(300):
        text = "".join(fixed.choice(["sk-abcdef ", "sk-", " ", "😀", "word "]) for _ in range(fixed.randint(0, 20)))
        cuts = sorted(fixed.randint(0, len(text)) for _ in range(fixed.randint(0, 8)))
        yield text, [text[one:other] for one, other in zip([0, *cuts], [*cuts, len(text)])], fixed.randint(1, 40)


class Windows(unittest.TestCase):
    def test_they_release_what_a_control_makes_of_the_whole(self):
        for text, parts, size in cut_texts():
            windows = TextWindows(redacted, size, 60, 30)
            released = [inline(windows.add(part)) for part in parts] + [inline(windows.end(redacted))]
            self.assertEqual("".join(released), inline(redacted(text)), parts)

    def test_they_release_nothing_of_what_is_refused(self):
        for text, parts, size in cut_texts():
            windows = TextWindows(denied, size, 60, 30)
            place = re.search(r"sk-[a-z]{4}", text)
            try:
                for part in parts:
                    inline(windows.add(part))
                inline(windows.end(denied))
                self.assertIsNone(place)
            except PermissionError:
                self.assertLessEqual(len(windows.released), place.start())
            self.assertTrue(text.startswith(windows.released))

    def test_time_releases_what_no_control_changes(self):
        windows = TextWindows(redacted, 400, 0, 10)
        self.assertIsNone(windows.time_left())
        self.assertEqual(inline(windows.add("the key is sk-ab")), "")
        self.assertEqual(windows.time_left(), 0)
        self.assertEqual(inline(windows.time_is_over()), "the key is ")
        self.assertIsNone(windows.time_left())
        inline(windows.add("cdef, which is secret"))
        inline(windows.end(redacted))
        self.assertEqual(windows.released, "the key is [key], which is secret")


class Streams(ServiceTest):
    def test_texts(self):
        client = self.client()
        for guarding in (client, client.session()):
            shown = guard_text_stream(guarding, iter(["my sk-", "abc", "def is out"]), max_chars=4, overlap_chars=9)
            self.assertEqual("".join(shown), "my [redacted] is out")
        shown = guard_text_stream(client, ["fine, but ", "secret-", "1"], max_chars=4, overlap_chars=8)
        seen = []
        with self.assertRaises(DeniedError) as caught:
            for one in shown:
                seen.append(one)
        self.assertNotIn("secret", "".join(seen))
        self.assertNotIn("secret-1", str(caught.exception))
        released = guard_text_stream(client, ["sk-", "abc"], max_chars=1, overlap_chars=0)
        self.assertEqual(next(released), "sk-")
        with self.assertRaisesRegex(StepDataError, "may be shown with changes only, and has begun already"):
            list(released)

    def test_text_is_not_held_by_a_slow_source(self):
        shown = threading.Event()

        def source():
            yield "short"
            self.assertTrue(shown.wait(PATIENT))
            yield ", and more"

        stream = guard_text_stream(self.client(), source(), max_delay=0)
        self.assertEqual(next(stream), "short")
        shown.set()
        self.assertEqual("".join(stream), ", and more")

    def test_async_texts(self):
        async def work(client):
            shown = asyncio.Event()
            closed = []

            async def source():
                try:
                    yield "short"
                    await shown.wait()
                    yield " sk-abc"
                finally:
                    closed.append(True)

            stream = guard_text_stream(client, source(), max_delay=0)
            self.assertEqual(await stream.__anext__(), "short")
            shown.set()
            self.assertEqual("".join([one async for one in stream]), " [redacted]")
            shown.clear()
            async for _ in guard_text_stream(client.session(), source(), max_delay=0):
                break
            left = guard_text_stream(client, source(), max_delay=0)
            await left.__anext__()
            reading = asyncio.ensure_future(left.__anext__())
            await asyncio.sleep(0)
            reading.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await reading
            self.assertGreaterEqual(len(closed), 2)
            with self.assertRaisesRegex(TypeError, "async iterator"):
                guard_text_stream(client, ["text"])

        self.run_async(work)

    def test_a_stream_that_ends_early(self):
        client = self.client()
        closed = threading.Event()

        def source(error=None):
            try:
                while error is None:
                    yield "and on "
                yield "it "
                raise error
            finally:
                closed.set()

        stream = guard_text_stream(client, source(), max_chars=4, overlap_chars=0)
        self.assertEqual(next(stream), "and on ")
        stream.close()
        self.assertTrue(closed.wait(PATIENT))
        with self.assertRaisesRegex(OSError, "no network"):
            list(guard_text_stream(client, source(OSError("no network"))))
        with self.assertRaisesRegex(TypeError, "must give texts, not bytes"):
            list(guard_text_stream(client, [b"text"]))
        for sizes in ({"max_chars": 0}, {"max_delay": -1}, {"overlap_chars": 100_001}):
            with self.assertRaises(ValueError):
                guard_text_stream(client, [], **sizes)


if __name__ == "__main__":
    unittest.main()
