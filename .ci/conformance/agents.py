"""Agent clients from the registry, unmodified, no header of ours: `agents.py BIN
[NAME…]`, BIN being the folder of their commands.

Each does a task of several tool rounds with the scripted model, once directly
and once through the proxy: it ends the same way. The second session of the same
user knows what the first one was told, another user's doesn't, a resumed one
stays the same session, and side calls (titles, compaction) leave nothing. The
clients run without the network: every proxy variable points to a closed port,
only this host is excepted.
"""

import functools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from stack import MODEL, run, stack, until

LIMIT = 90  # seconds that a client may take
BLOCK = "<hindsight-notes:"


class Agent:
    """A client: how it is set up and called, and what its shell tool is named."""

    def __init__(self, bin, home, base, key):
        self.bin, self.base, self.key = pathlib.Path(bin), base, key
        self.root = base.removesuffix("/v1")
        self.home, self.work = pathlib.Path(home), pathlib.Path(home, "work")
        self.work.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", self.work], check=True)
        self.setup()

    def setup(self):
        pass

    def env(self):
        return {}

    def file(self, path, text):
        f = self.home / path
        f.parent.mkdir(parents=True, exist_ok=True)
        f.write_text(text)

    def order(self, command):
        """What makes the scripted model call the client's shell."""
        return f"[[tool {self.shell} {json.dumps(self.arguments(command))}]]"

    def arguments(self, command):
        return {"command": command, "description": "A step"}

    def main(self, seen):
        """The main requests among those that reached the model: the ones with tools."""
        return [r for r in seen if r["method"] == "POST" and json.loads(r["body"]).get("tools")]

    def say(self, words, resume=False):
        """Runs the client on the words, to its end, and returns what it printed."""
        closed = "http://127.0.0.1:9"
        env = {
            "PATH": os.environ["PATH"], "HOME": str(self.home), "TMPDIR": str(self.home), "LANG": "C.UTF-8", "TERM": "dumb",
            "HTTP_PROXY": closed, "HTTPS_PROXY": closed, "http_proxy": closed, "https_proxy": closed,
            "NO_PROXY": "127.0.0.1,localhost", "no_proxy": "127.0.0.1,localhost", "NO_COLOR": "1",
        } | self.env()
        command = [str(self.bin / self.command), *self.args(words, resume)]
        # A group of its own, so that a client that hangs is ended with its children.
        p = subprocess.Popen(command, cwd=self.work, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, process_group=0)
        try:
            out, err = p.communicate(timeout=LIMIT)
        except BaseException as e:
            os.killpg(p.pid, 9)
            out, err = p.communicate()
            if isinstance(e, subprocess.TimeoutExpired):
                raise AssertionError(f"{self.command} takes longer than {LIMIT} s\n{out}\n{err}") from None
            raise
        assert p.returncode == 0, f"{self.command} ended with {p.returncode}\n{out}\n{err}"
        return out


class ClaudeCode(Agent):
    command, shell, app = "claude", "Bash", "Claude Code"
    compacts = "CRITICAL: Respond with TEXT ONLY"

    def env(self):
        return {
            "ANTHROPIC_BASE_URL": self.root, "ANTHROPIC_API_KEY": self.key, "ANTHROPIC_MODEL": "claude-sonnet-5",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1", "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_AUTOUPDATER": "1", "IS_SANDBOX": "1",
        }

    def args(self, words, resume):
        return ["-p", "--dangerously-skip-permissions", *(["-c"] if resume else []), words]

    def compact(self):
        self.say("/compact", resume=True)


class ClaudeCodeOld(ClaudeCode):
    """The models before put the reminders into the user's message instead of behind it."""
    app = "Claude Code, a model of last year"

    def env(self):
        return super().env() | {"ANTHROPIC_MODEL": "claude-sonnet-4-5"}


class Codex(Agent):
    command, shell, app = "codex", "exec_command", "Codex"
    compacts, more = "CONTEXT CHECKPOINT COMPACTION", ()

    def setup(self):
        self.file(".codex/config.toml", f"""
model = "{MODEL}"
model_provider = "scripted"
check_for_update_on_startup = false
analytics.enabled = false

[model_providers.scripted]
name = "scripted"
base_url = "{self.base}"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
""")

    def env(self):
        return {"SCRIPTED_KEY": self.key}

    def arguments(self, command):
        return {"cmd": command}

    def args(self, words, resume):
        return ["exec", *(["resume", "--last"] if resume else []), "--skip-git-repo-check",
                "--dangerously-bypass-approvals-and-sandbox", *self.more, words]

    def compact(self):
        self.more = ("-c", "model_auto_compact_token_limit=1000")
        self.say("Thanks for that.", resume=True)
        self.more = ()


class OpenCode(Agent):
    command, shell, app = "opencode", "bash", "opencode"

    def setup(self):
        self.file(".config/opencode/opencode.json", json.dumps({
            "autoupdate": False, "share": "disabled", "model": f"scripted/{MODEL}",
            "provider": {"scripted": {
                "npm": "@ai-sdk/openai-compatible", "name": "scripted",
                "options": {"baseURL": self.base, "apiKey": self.key}, "models": {MODEL: {"name": MODEL}},
            }},
        }))

    def env(self):
        return {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1"}

    def args(self, words, resume):
        return ["run", *(["-c"] if resume else []), words]


class QwenCode(Agent):
    command, shell, app = "qwen", "run_shell_command", "Qwen Code"

    def setup(self):
        self.file(".qwen/settings.json", json.dumps({
            "general": {"enableAutoUpdate": False, "checkpointing": {"enabled": False}},
            "privacy": {"usageStatisticsEnabled": False}, "telemetry": {"enabled": False},
        }))

    def env(self):
        return {"OPENAI_BASE_URL": self.base, "OPENAI_API_KEY": self.key, "OPENAI_MODEL": MODEL, "QWEN_CODE_SUPPRESS_YOLO_WARNING": "1"}

    def arguments(self, command):
        return super().arguments(command) | {"is_background": False}

    def main(self, seen):
        """After a turn a sub-agent looks for memories, with tools of its own."""
        return [r for r in super().main(seen) if "memory extraction subagent" not in r["body"]]

    def args(self, words, resume):
        return ["--auth-type", "openai", "-y", *(["-c"] if resume else []), "-p", words]


def settled(text):
    """A client's output without what differs between any two runs."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "ID", text)
    text = re.sub(r"Chunk ID: \w+", "Chunk ID", text)
    text = re.sub(r"Wall time: [\d.]+", "Wall time", text)
    return re.sub(r"Process Group PGID: .*", "PGID", text).strip()


def last(request):
    """The last message of a request that isn't a system message, as JSON."""
    body = json.loads(request["body"] or "{}")
    said = [m for m in body.get("messages") or body.get("input") or [] if m.get("role") != "system"]
    return json.dumps(said[-1:])


class Checks:
    def __init__(self, s, bin, kind, folder):
        self.s, self.bin, self.kind, self.folder = s, bin, kind, pathlib.Path(folder)
        self.ann = self.agent("ann", s.base, "sk-ann")

    def agent(self, name, base, key):
        return self.kind(self.bin, self.folder / name, base, key)

    def checks(self):
        for check in (self.task, self.second, self.resumed, *([self.compacted] if hasattr(self.ann, "compact") else []), self.other):
            f = functools.partial(check)
            f.__doc__ = f"{self.kind.app}: {check.__doc__}"
            yield f

    def task(self):
        """a task of three tool rounds ends the same way with and without the proxy; one session, one turn"""
        def do(agent):
            steps = ["echo one > a.txt; echo 二 > b.txt", "cat a.txt b.txt > c.txt", "wc -c < c.txt"]
            since = len(self.s.seen())
            out = agent.say("My badge is B4411. " + " [[then]] ".join(map(agent.order, steps)))
            assert "The tool says:" in out and re.search(r"\b8\b", out), out
            files = {f.name: f.read_text() for f in sorted(agent.work.glob("*.txt"))}
            return settled(out.replace(str(agent.home), "HOME")), files, len(agent.main(self.s.seen(since)))

        direct, ours = do(self.agent("direct", self.s.model_base, "sk-ann")), do(self.ann)
        assert direct == ours, (direct, ours)
        assert ours[1] == {"a.txt": "one\n", "b.txt": "二\n", "c.txt": "one\n二\n"} and ours[2] == 4, ours
        until("the session is listed", self.s.sessions)
        assert [x["turns"] for x in self.s.sessions()] == [1], self.s.sessions()
        self.first = self.s.sessions()[0]["id"]
        self.s.learned("B4411")

    def second(self):
        """the second session knows what the first one was told; no side call gets it or leaves anything"""
        kept, since = self.s.memories(), len(self.s.seen())
        out = self.ann.say("Which badge do I have?")
        assert "B4411" in out, out
        given = [r for r in self.s.seen(since) if BLOCK in r["body"]]
        main = self.ann.main(self.s.seen(since))
        assert given == main and len(main) == 1, [(r["path"], r["body"][-400:]) for r in self.s.seen(since)]
        until("the second session is listed", lambda: len(self.s.sessions()) > 1)
        assert sorted(x["turns"] for x in self.s.sessions()) == [1, 1], self.s.sessions()
        self.s.settle()
        assert self.s.memories() == kept, self.s.memories()

    def resumed(self):
        """a conversation that is resumed by another process is the same session"""
        turns = sum(x["turns"] for x in self.s.sessions())
        out = self.ann.say("My locker is L77.", resume=True)
        assert "noted" in out, out
        until("the turn is recorded", lambda: sum(x["turns"] for x in self.s.sessions()) == turns + 1)
        assert len(self.s.sessions()) == 2, self.s.sessions()
        self.s.learned("L77")

    def compacted(self):
        """a compaction is a side call: no session, no memory of its summary; the conversation goes on behind it"""
        self.s.settle()
        kept, since = self.s.memories(), len(self.s.seen())
        self.ann.compact()
        seen = [r for r in self.s.seen(since) if self.ann.compacts in last(r)]
        assert seen and not any(BLOCK in r["body"] for r in seen), f"{len(seen)} compactions"
        self.s.settle()
        assert len(self.s.sessions()) == 2, self.s.sessions()
        assert sorted(self.s.memories()) == sorted(kept), (kept, self.s.memories())
        self.ann.say("I prefer tabs over spaces.", resume=True)
        self.s.learned("tabs")
        assert len(self.s.sessions()) == 2, self.s.sessions()

    def other(self):
        """another user is told nothing of it"""
        ben = self.agent("ben", self.s.base, "sk-ben")
        since = len(self.s.seen())
        out = ben.say("Which badge do I have?")
        assert "I don't know that yet." in out, out
        assert not any(BLOCK in r["body"] for r in self.s.seen(since))


def main():
    bin, *names = sys.argv[1:]
    kinds = [k for k in (ClaudeCode, ClaudeCodeOld, Codex, OpenCode, QwenCode) if not names or k.command in names]
    for lock in json.loads(pathlib.Path(__file__).with_name("agents").joinpath("package.json").read_text())["dependencies"].items():
        print(*lock)
    checks = []
    for kind in kinds:
        def suite(kind=kind):
            with tempfile.TemporaryDirectory(prefix="hindsight-agent-") as folder, stack(reflect=True) as s:
                yield from Checks(s, bin, kind, folder).checks()
        checks.append(suite)
    run("agents", (check for suite in checks for check in suite()))


main()
