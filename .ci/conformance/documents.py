"""The programs that a page shows, in both languages, as they stand there:
`documents.py PAGE FOLDER MODULE…` runs the Python blocks of docs/PAGE.md that import
the modules, and, where FOLDER isn't -, the JavaScript ones there, beside their packages."""

import os
import pathlib
import re
import subprocess
import sys

from stack import MODEL, ROOT, TOKEN, run, stack, until

BLOCK = re.compile(r"^```(python|js)\n(.*?)^```", re.M | re.S)


class Checks:
    def __init__(self, s, page, folder, modules):
        self.s, self.name, self.folder, self.modules = s, page, folder, modules

    def told(self, text):
        """Runs a block in a process of its own and returns what it printed."""
        text = re.sub(r"gpt-4o-mini|claude-sonnet-5", MODEL, text.replace("http://127.0.0.1:8080", self.s.base.removesuffix("/v1")))
        text = text.replace("http://127.0.0.1:8081", self.s.admin)
        env = os.environ | {"OPENAI_API_KEY": "sk-conformance", "ANTHROPIC_API_KEY": "sk-conformance", "HINDSIGHT_TOKEN": TOKEN, "PYTHONDONTWRITEBYTECODE": "1"}
        if "import {" in text:
            file = pathlib.Path(self.folder, "document.mjs")
            file.write_text(text)
            command = ["node", str(file)]
        else:
            command = [sys.executable, "-c", text]
        p = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
        assert p.returncode == 0, f"{text}\n{p.stdout}\n{p.stderr}"
        return p.stdout

    def page(self, name):
        """Runs a page's programs: each prints something, and is seen to have done its work."""
        blocks = BLOCK.findall((ROOT / name).read_text())
        wanted = [t for lang, t in blocks if (lang == "js" and self.folder != "-")
                  or (lang == "python" and any(re.search(rf"^from {m}\b", t, re.M) for m in self.modules))]
        assert len(wanted) == len(self.modules) + (self.folder != "-"), [t[:60] for _, t in blocks]
        for text in wanted:
            before = len(self.sessions())
            out = self.told(text)
            assert out.strip(), f"{name}\n{text}"
            if self.name == "mcp":
                assert "Pip" in out and re.search('"result":"created"|"score":', out), out
            else:
                until("its session is listed", lambda: len(self.sessions()) == before + 1)

    def sessions(self):
        return [x for x in self.s.sessions() if x["scope"] == "user:ann"]

    def english(self):
        """each program of the page gets its answer"""
        self.page(f"docs/{self.name}.md")

    def chinese(self):
        """each program of the Chinese page too"""
        self.page(f"docs/{self.name}.zh-CN.md")


page, folder, *modules = sys.argv[1:]
with stack() as s:
    c = Checks(s, page, folder, modules)
    run(f"documents {page} {' '.join(modules)}", [c.english, c.chinese])
