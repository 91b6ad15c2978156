"""The few calls of Hindsight's management API that the other examples make, with
nothing but Python's own library. `GET /openapi.json` describes all of them."""

import datetime
import json
import os
import pathlib
import urllib.error
import urllib.parse
import urllib.request
import uuid


class Management:
    def __init__(self):
        self.base = os.environ.get("HINDSIGHT_ADMIN", "http://127.0.0.1:8081")
        # Made at the first start of `hindsight serve`, readable to you alone.
        file = pathlib.Path(os.environ.get("HINDSIGHT_DATA_DIR", "~/.local/share/hindsight"), "admin-token")
        self.token = os.environ.get("HINDSIGHT_ADMIN_TOKEN") or file.expanduser().read_text().strip()

    def post(self, path, body=None, **query):
        url = f"{self.base}/api/v1/{path}?{urllib.parse.urlencode(query)}"
        request = urllib.request.Request(url, method="POST", data=json.dumps(body or {}).encode())
        request.add_header("Authorization", "Bearer " + self.token)
        request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=90) as response:
                return json.load(response)
        except urllib.error.HTTPError as e:  # a problem document: what is wrong, and the next step
            raise RuntimeError(f"{path}: {e.read().decode()}") from None

    def close(self, session):
        """Ends a conversation and waits until Hindsight has looked back at it;
        returns the memories. Left alone, that happens after 10 minutes of silence."""
        return self.post(f"sessions/{session}/close", wait="60s")["memories"]

    def search(self, user, words):
        """What the user's memories say that has to do with these words."""
        results = self.post("memories/search", {"query": words, "scopes": ["user:" + user]})["results"]
        return [r["memory"]["text"] for r in results]

    def promote(self, memory, scope):
        """Opens a solution or an error lesson to whoever reads the scope."""
        return self.post(f"memories/{memory}/promote", {"scope": scope})


class Conversation:
    """A conversation that doesn't pass the proxy. The steps of a turn are collected
    and reported in one call when it is over."""

    def __init__(self, management, user):
        self.management, self.user = management, user
        self.session = str(uuid.uuid4())  # your own name for it; any will do
        self.steps = []

    def add(self, kind, payload):
        # The time's offset matters: it decides which day "tomorrow" is.
        self.steps.append({"type": kind, "time": datetime.datetime.now().astimezone().isoformat(), "payload": payload})

    def report(self):
        # What was sent before isn't recorded twice: after an error, report again.
        answer = self.management.post(f"sessions/{self.session}/events", self.steps, user=self.user)
        self.session, self.steps = answer["session"], []

    def close(self):
        return [m["text"] for m in self.management.close(self.session)]
