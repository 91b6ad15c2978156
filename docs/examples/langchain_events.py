"""A LangChain callback that reports to Hindsight what doesn't pass the proxy.

    pip install langchain-openai
    python langchain_events.py "My name is Ann. Please deploy the web service."
    python langchain_events.py "Which port did deploy work on?"

Where you can, let the model's requests go through Hindsight instead: then
`ChatOpenAI(base_url="http://127.0.0.1:8080/v1")` is all there is to do. The
callback is for models that Hindsight can't stand in front of; the application
then asks for the memories itself, before the turn.
"""

import json
import os
import sys

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from management import Conversation, Management


class HindsightCallback(BaseCallbackHandler):
    """LangChain logs what a callback raises and goes on: the application doesn't
    fail when Hindsight is away."""

    def __init__(self, conversation):
        self.conversation = conversation

    def on_chat_model_start(self, serialized, messages, **kwargs):
        last = messages[0][-1]
        if last.type == "human":  # in a tool round the last message is the tool's
            self.conversation.add("user_input", last.text)

    def on_llm_end(self, response, **kwargs):
        message = response.generations[0][0].message
        for call in message.tool_calls:
            self.conversation.add("tool_call", {"name": call["name"], "call_id": call["id"], "text": json.dumps(call["args"])})
        if not message.tool_calls:  # the turn is over
            self.conversation.add("final_output", message.text)
            self.conversation.report()

    def on_tool_end(self, output, **kwargs):
        self.conversation.add("tool_result", {
            "call_id": output.tool_call_id, "text": output.text, "failed": output.status == "error"})


@tool
def deploy(port: int) -> str:
    """Deploys the web service on a port."""
    return "ok: deployed, listening on 8081." if port == 8081 else f"Error: port {port} is taken by nginx; try 8081"


def main(words):
    user, management = os.environ.get("CHAT_USER", "ann"), Management()
    known = management.search(user, words)
    print("known:", *known, sep="\n  ")

    conversation = Conversation(management, user)
    config = {"callbacks": [HindsightCallback(conversation)]}
    model = ChatOpenAI(model=os.environ.get("MODEL", "gpt-4o-mini")).bind_tools([deploy])
    history = [SystemMessage("You know from earlier:\n" + "\n".join(known)), HumanMessage(words)]
    while (answer := model.invoke(history, config)).tool_calls:
        history += [answer, *(deploy.invoke(call, config) for call in answer.tool_calls)]
    print("model:", answer.text)

    # Left out, Hindsight takes 10 minutes of silence for the end.
    print("kept:", *conversation.close(), sep="\n  ")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit('say something: python langchain_events.py "Which port did deploy work on?"')
    main(sys.argv[1])
