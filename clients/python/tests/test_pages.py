"""Runs the examples of the pages, and compares what they print."""

import contextlib
import io
import re
import unittest
from pathlib import Path

from support import URL

FOLDER = Path(__file__).resolve().parents[3]
EXAMPLE = re.compile(r"```python\n(.*?)```\n\n```text\n(.*?)```", re.DOTALL)


class Examples(unittest.TestCase):
    def test_pages(self):
        for page, least in (("clients/python/README.md", 1), ("docs/python.md", 3)):
            found = EXAMPLE.findall((FOLDER / page).read_text(encoding="utf-8"))
            self.assertGreaterEqual(len(found), least)
            for source, expected in found:
                printed = io.StringIO()
                with self.subTest(page, source=source[:80]), contextlib.redirect_stdout(printed):
                    program = compile(source.replace("http://localhost:8000", URL), page, "exec")
                    exec(program, {"__name__": "__main__"})
                    self.assertEqual(printed.getvalue(), expected)


if __name__ == "__main__":
    unittest.main()
