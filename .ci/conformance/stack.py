"""The released binary in front of the scripted model, for the SDK suites.

A suite is a list of checks that share one stack and run in order; each that
fails is shown with its traceback, and the suite ends with a line that counts
them. `python stack.py COMMAND…` starts a stack for a suite in another language
and tells it where it is by HINDSIGHT_BASE, HINDSIGHT_ADMIN, HINDSIGHT_TOKEN,
MODEL_BASE, HINDSIGHT_BINARY and HINDSIGHT_DATA_DIR.
"""

import contextlib
import json
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOKEN = "conformance-token"
MODEL = "scripted-1"


def free_port():
    """A port below those that the kernel gives to outgoing connections: nobody else takes it meanwhile."""
    while True:
        with socket.socket() as s, contextlib.suppress(OSError):
            s.bind(("127.0.0.1", random.randrange(10000, 32000)))
            return s.getsockname()[1]


def until(what, done, seconds=30):
    """Waits for a condition and returns its value; the work it waits for has no other sign."""
    end = time.monotonic() + seconds
    while not (value := done()):
        if time.monotonic() > end:
            raise AssertionError(f"not after {seconds} s: {what}")
        time.sleep(0.05)
    return value


class Stack:
    """The binary in front of the scripted model, on one data directory."""

    def __init__(self, model, model_base, folder, env):
        self.model, self.model_base, self.folder, self.env = model, model_base, folder, env
        self.proc = None

    def start(self, memory="on"):
        port, admin = free_port(), free_port()
        env = {k: v for k, v in os.environ.items() if not k.startswith(("HINDSIGHT_", "LLM_API_", "VECTOR_DB_"))}
        env |= {
            "LLM_API_BASE": self.model_base,
            "LLM_API_KEY": "sk-reflection",
            "HINDSIGHT_DATA_DIR": self.folder + "/data",
            "HINDSIGHT_LISTEN": f"127.0.0.1:{port}",
            "HINDSIGHT_ADMIN_LISTEN": f"127.0.0.1:{admin}",
            "HINDSIGHT_ADMIN_TOKEN": TOKEN,
            "HINDSIGHT_SESSION_IDLE": "1s",
            "HINDSIGHT_SESSION_PER_HOUR": "0",  # a suite is what the guard against runaways is for
            "HINDSIGHT_LOG_LEVEL": "warn",
        } | self.env
        self.base, self.admin = f"http://127.0.0.1:{port}/v1", f"http://127.0.0.1:{admin}"
        self.proc = subprocess.Popen([str(ROOT / "bin/hindsight"), "serve"], env=env, stdin=subprocess.DEVNULL)
        until(f"memory is {memory}", lambda: self.memory() == memory)

    def memory(self):
        if self.proc.poll() is not None:
            raise AssertionError(f"hindsight stopped at its start with exit code {self.proc.returncode}")
        try:
            with urllib.request.urlopen(self.admin + "/readyz", timeout=5) as r:
                return json.load(r).get("memory")
        except OSError:
            return None

    def stop(self):
        self.proc.send_signal(signal.SIGTERM)
        try:
            code = self.proc.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.proc.kill()
            self.proc.wait()
            raise AssertionError("hindsight doesn't stop within 20 s of SIGTERM") from None
        if code != 0:
            raise AssertionError(f"hindsight stopped with exit code {code}")

    def stop_model(self):
        self.model.stdin.close()
        self.model.wait(timeout=10)

    def api(self, path, method="GET", body=None):
        data = json.dumps(body).encode() if body is not None else None
        req = urllib.request.Request(self.admin + path, method=method, data=data)
        req.add_header("Authorization", "Bearer " + TOKEN)
        if data:
            req.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(req, timeout=60) as r:
            return json.load(r)

    def sessions(self):
        return self.api("/api/v1/sessions?limit=1000")["sessions"]

    def memories(self):
        return [m["text"] for m in self.api("/api/v1/memories?limit=200")["memories"]]

    def learned(self, *words):
        """Waits until idle sessions are reflected and each word stands in some memory."""
        def missing():
            kept = self.memories()
            return [w for w in words if not any(w in text for text in kept)]
        try:
            until("learned", lambda: not missing())
        except AssertionError:
            raise AssertionError(f"not learned within 30 s: {missing()}, kept: {self.memories()}") from None
        return self.memories()

    def settle(self):
        """Waits until the sessions so far are over: 20 open at once mean, by design, that
        several people are there, and requests that name nobody get no memory from then on."""
        calm = 0  # looks in a row without an open session; a new one is listed within 250 ms
        def over():
            nonlocal calm
            calm = 0 if any(x["state"] == "open" for x in self.sessions()) else calm + 1
            return calm > 6
        until("no session is open", over)

    def seen(self, since=0):
        """What reached the model after its first `since` requests, reflection's own calls aside."""
        lines = pathlib.Path(self.folder, "seen.jsonl").read_text().splitlines()
        return [r for r in map(json.loads, lines) if "hindsight_memories" not in r["body"]][since:]

    def exchange(self, id):
        """An exchange as it is recorded, None while it isn't: that is a moment after its last byte."""
        for s in self.sessions():
            for x in self.api(f"/api/v1/sessions/{s['id']}")["exchanges"]:
                if x["id"] == id:
                    return x
        return None


@contextlib.contextmanager
def stack(delay="0s", reflect=False, **env):
    """A running stack. delay is the scripted model's pause between two chunks of a
    stream, env the binary's settings. reflect names the model as an endpoint for
    reflection, without which sessions of other formats than chat are reflected by rules."""
    with tempfile.TemporaryDirectory(prefix="hindsight-conformance-") as folder:
        model = subprocess.Popen(
            ["go", "run", "./internal/fakellm/fakellmd", "-delay", delay, "-record", folder + "/seen.jsonl"],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        try:
            base = model.stdout.readline().strip()
            if not base:
                raise AssertionError("the scripted model did not start")
            if reflect:
                env |= {"HINDSIGHT_REFLECT_MODEL": MODEL, "HINDSIGHT_REFLECT_API_BASE": base, "HINDSIGHT_REFLECT_API_KEY": "sk-reflection"}
            s = Stack(model, base, folder, env)
            try:
                s.start()
                yield s
            finally:
                if s.proc and s.proc.poll() is None:
                    s.stop()
        finally:
            model.stdin.close()  # its sign to stop
            model.wait(timeout=10)


def plain(body):
    """An answer without what differs between any two: the second in which it was made."""
    return re.sub(rb'"(created|created_at)":\s*\d+', rb'"\1":0', body)


def foreign(headers):
    """Answer headers that the upstream decides: without ours, the clock's and those of one connection."""
    ours = ("hindsight-", "date", "connection", "transfer-encoding", "content-length", "keep-alive")
    return {k.lower(): v for k, v in headers.items() if not k.lower().startswith(ours)}


def run(suite, checks):
    """Runs checks in order and exits 1 if one failed."""
    passed = failed = 0
    for check in checks:
        start = time.monotonic()
        name = check.__doc__ or check.__name__
        try:
            check()
            passed += 1
            print(f"ok    {name} ({time.monotonic() - start:.1f} s)", flush=True)
        except Exception:  # a check may fail in any way; the others still say something
            failed += 1
            print(f"FAIL  {name}\n{traceback.format_exc()}", flush=True)
    print(f"{suite}: {passed} passed, {failed} failed", flush=True)
    if failed:
        raise SystemExit(1)


# A suite that is told to end still stops what it started.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))

if __name__ == "__main__":
    with stack(delay="20ms", reflect=True) as s:
        raise SystemExit(subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, env=dict(
            os.environ, HINDSIGHT_BASE=s.base, HINDSIGHT_ADMIN=s.admin,
            HINDSIGHT_TOKEN=TOKEN, MODEL_BASE=s.model_base,
            HINDSIGHT_BINARY=str(ROOT / "bin/hindsight"), HINDSIGHT_DATA_DIR=s.folder + "/data",
        )).returncode)
