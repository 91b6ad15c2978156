"""What stands in docs/examples, run as a newcomer would, each in processes of its
own: `examples.py FILE`, FILE being chat.mjs beside its packages. The second run
knows what the first one was told, another user's doesn't."""

import os
import pathlib
import subprocess
import sys

from stack import MODEL, ROOT, TOKEN, run, stack, until

FOLDER = ROOT / "docs/examples"


class Checks:
    def __init__(self, s, node_file):
        self.s, self.node_file = s, node_file

    def example(self, user, *command, base=None, code=0):
        """Runs a command as a user, through the proxy or at another base, and returns what it printed."""
        env = {k: os.environ[k] for k in ("PATH", "HOME", "GOPATH", "GOFLAGS", "GOCACHE", "GOMODCACHE", "GOTOOLCHAIN") if k in os.environ}
        env |= {
            "OPENAI_BASE_URL": base or self.s.base, "OPENAI_API_KEY": "sk-conformance", "MODEL": MODEL, "CHAT_USER": user,
            "HINDSIGHT_ADMIN": self.s.admin, "HINDSIGHT_ADMIN_TOKEN": TOKEN, "LANG": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1", "CGO_ENABLED": "0",
        }
        p = subprocess.run(command, cwd=ROOT, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
        assert p.returncode == code, f"{command} ended with {p.returncode}\n{p.stdout}\n{p.stderr}"
        return p.stdout + p.stderr

    def chat(self, name, *command):
        user = "ann-" + name
        said = self.example(user, *command, "Please remember that my badge is B4411.")
        assert "B4411" in said and "injected" not in said, said
        until("the badge is kept", lambda: any(
            "B4411" in m["text"] for m in self.s.api(f"/api/v1/memories?scope=user:{user}")["memories"]))
        told = self.example(user, *command, "Which badge do I have?")
        assert "B4411" in told and "injected" in told, told
        other = self.example("bob-" + name, *command, "Which badge do I have?")
        assert "B4411" not in other and "injected" not in other, other

    def curl(self):
        """chat.sh"""
        self.chat("curl", str(FOLDER / "chat.sh"))
        refused = self.example("ann-curl", str(FOLDER / "chat.sh"), 'He said "no".', code=2)
        assert "leave out quotes" in refused, refused

    def python(self):
        """chat.py"""
        self.chat("python", sys.executable, str(FOLDER / "chat.py"))

    def node(self):
        """chat.mjs"""
        self.chat("node", "node", self.node_file)

    def go(self):
        """go/main.go"""
        self.chat("go", "go", "run", "./docs/examples/go")

    def agents(self):
        """agents.py: the fact is shared, the lesson private until it is promoted"""
        def answers(printed):
            return [line for line in printed.splitlines() if ">" in line]

        def agents():
            return answers(self.example("ann-agents", sys.executable, str(FOLDER / "agents.py")))

        _, home, _, own, others, promoted = agents()
        assert home.startswith("coder") and "Lisbon" in home, home
        assert own.startswith("coder") and "gradle cache" in own, own
        assert others.startswith("writer") and "[none]" in others and "gradle" not in others, others
        assert promoted.startswith("writer") and "gradle cache" in promoted, promoted
        scopes = {m["scope"] for m in self.s.api("/api/v1/memories?limit=200")["memories"]}
        assert {"user:ann-agents", "user:ann-agents/agent:coder", "shared"} <= scopes, scopes
        assert "user:ann-agents/agent:writer" not in scopes, scopes
        *_, others, promoted = agents()
        assert "gradle cache" in others and "gradle cache" in promoted, (others, promoted)

    def events(self, name):
        file, user = str(FOLDER / f"{name}_events.py"), "ann-" + name

        def printed(words):
            parts = self.example(user, sys.executable, file, words, base=self.s.model_base)
            known, rest = parts.split("model:")
            answer, kept = rest.split("kept:")
            return known, answer, kept

        known, answer, kept = printed("My name is Ann. Please deploy the web service.")
        assert "Ann" not in known and "8081" in answer, (known, answer)
        assert "Ann" in kept and "port 8080 is taken" in kept and "8081" in kept, kept
        session, = [x for x in self.s.sessions() if x["scope"] == "user:" + user]
        events = [e["type"] for e in self.s.api(f"/api/v1/sessions/{session['id']}")["events"]]
        assert events == ["user_input", "tool_call", "tool_result", "tool_call", "tool_result", "final_output"], events
        known, _, _ = printed("What is my name?")
        assert "Ann" in known, known

    def langchain(self):
        """langchain_events.py"""
        self.events("langchain")

    def llamaindex(self):
        """llamaindex_events.py"""
        self.events("llamaindex")

    def listed(self):
        """both READMEs name each file"""
        files = sorted(str(f.relative_to(FOLDER)) for f in FOLDER.rglob("*") if f.is_file() and not f.name.startswith("README"))
        for readme in ("README.md", "README.zh-CN.md"):
            text = pathlib.Path(FOLDER, readme).read_text()
            missing = [f for f in files if f"]({f})" not in text]
            assert not missing, (readme, missing)


def main():
    grants = '[{"tenant": "acme", "scope": "shared", "to": "users"}]'
    # What is printed is checked here, not how fast: a busy machine gets its time for recall.
    with stack(reflect=True, HINDSIGHT_TENANT="acme", HINDSIGHT_GRANTS=grants, HINDSIGHT_RECALL_DEADLINE="5s") as s:
        c = Checks(s, sys.argv[1])
        run("examples", [c.curl, c.python, c.node, c.go, c.agents, c.langchain, c.llamaindex, c.listed])


main()
