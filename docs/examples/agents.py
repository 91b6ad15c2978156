"""Two agents work for one person: what is private to one, and what they share.

    pip install openai
    export HINDSIGHT_GRANTS='[{"tenant": "default", "scope": "shared", "to": "users"}]'   # for hindsight serve
    python agents.py

Hindsight-User says whose memory it is, Hindsight-Agent which agent is at work:

- Facts about the person go to the scope user:ann. Each of her agents is given them.
- Solutions and error lessons that an agent learned at its work go to the scope
  user:ann/agent:coder. No other agent is given them,
- until somebody promotes one to a scope that a grant opens, here `shared`.

The management API, which the last step uses, is for you and not for the agents.
"""

import os

from management import Management
from openai import OpenAI

USER = os.environ.get("CHAT_USER", "ann")


class Agent:
    def __init__(self, name):
        self.name = name
        self.client = OpenAI(
            base_url=os.environ.get("OPENAI_BASE_URL", "http://127.0.0.1:8080/v1"),
            default_headers={"Hindsight-User": USER, "Hindsight-Agent": name},
        )

    def say(self, words):
        """A conversation of one turn. Returns its session."""
        raw = self.client.chat.completions.with_raw_response.create(
            model=os.environ.get("MODEL", "gpt-4o-mini"), messages=[{"role": "user", "content": words}]
        )
        print(f"{self.name:7}< {words}")
        print(f"{self.name:7}> {raw.parse().choices[0].message.content}   [{raw.headers['hindsight-status']}]")
        return raw.headers["hindsight-session"]

    def learn(self, words):
        """A conversation that ends at once. Returns the memories that it left."""
        kept = Management().close(self.say(words))
        for m in kept:
            print(f"        kept for {m['scope']}: {m['text']}")
        return kept


coder, writer = Agent("coder"), Agent("writer")

print("# A fact about the person, told to one agent, is there for the other.")
writer.learn("I live in Lisbon.")
coder.say("Where do I live?")

print("# What the coder learned at its work stays with the coder.")
lessons = coder.learn("The fix was to clear the gradle cache before the build.")
coder.say("How do I fix the gradle build?")
writer.say("How do I fix the gradle build?")

print("# Promoted, it reaches the writer too.")
for m in lessons:
    if m["type"] in ("solution", "error_lesson"):  # nothing else may cross to others
        Management().promote(m["id"], "shared")
writer.say("What was the fix of the gradle build?")
