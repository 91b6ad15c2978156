"""Asks the model through Hindsight with the openai package.

    pip install openai
    python chat.py "Please remember that my badge is B4411."
    python chat.py "Which badge do I have?"

Each run is a process and a conversation of its own. What the second one knows
of the first comes from the memory.
"""

import os
import sys

from openai import OpenAI

# The two things that are Hindsight's: the address, and whose memory it is.
client = OpenAI(
    base_url=os.environ.get("OPENAI_BASE_URL", "http://127.0.0.1:8080/v1"),
    default_headers={"Hindsight-User": os.environ.get("CHAT_USER", "ann")},
)


def main(words):
    # with_raw_response is there for the headers alone; without it the call
    # returns the parsed answer, as always.
    raw = client.chat.completions.with_raw_response.create(
        model=os.environ.get("MODEL", "gpt-4o-mini"),
        messages=[{"role": "user", "content": words}],
    )
    print("model:    ", raw.parse().choices[0].message.content)
    print("hindsight:", raw.headers["hindsight-status"], raw.headers.get("hindsight-memories", ""))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit('say something: python chat.py "Which badge do I have?"')
    main(sys.argv[1])
