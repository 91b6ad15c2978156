"""A LlamaIndex handler that reports to Hindsight what doesn't pass the proxy.

    pip install llama-index-core llama-index-llms-openai-like
    python llamaindex_events.py "My name is Ann. Please deploy the web service."
    python llamaindex_events.py "Which port did deploy work on?"

Where you can, let the model's requests go through Hindsight instead: then
`OpenAILike(api_base="http://127.0.0.1:8080/v1")` is all there is to do. The
handler is for models that Hindsight can't stand in front of; the application
then asks for the memories itself, before the turn.
"""

import asyncio
import json
import os
import sys
from typing import Any

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events.llm import LLMChatEndEvent, LLMChatStartEvent
from llama_index.llms.openai_like import OpenAILike
from management import Conversation, Management


class HindsightHandler(BaseEventHandler):
    """LlamaIndex goes on when a handler raises: the application doesn't fail when
    Hindsight is away."""

    conversation: Any
    llm: Any

    def handle(self, event, **kwargs):
        if isinstance(event, LLMChatStartEvent):
            self.asked(event.messages)
        elif isinstance(event, LLMChatEndEvent):
            self.answered(event.response)

    def asked(self, messages):
        """What came since the model spoke last: a person's words, or the results of tools."""
        fresh = []
        for m in messages:
            fresh = [] if m.role == "assistant" else [*fresh, m]
        for m in fresh:
            if m.role == "user":
                self.conversation.add("user_input", m.content)
            elif m.role == "tool":
                self.conversation.add("tool_result", {"call_id": m.additional_kwargs["tool_call_id"], "text": m.content})

    def answered(self, response):
        calls = self.llm.get_tool_calls_from_response(response, error_on_no_tool_call=False)
        for call in calls:
            self.conversation.add("tool_call", {
                "name": call.tool_name, "call_id": call.tool_id, "text": json.dumps(call.tool_kwargs)})
        if not calls:  # the turn is over
            self.conversation.add("final_output", response.message.content)
            self.conversation.report()


def deploy(port: int) -> str:
    """Deploys the web service on a port."""
    return "ok: deployed, listening on 8081." if port == 8081 else f"Error: port {port} is taken by nginx; try 8081"


async def main(words):
    user, management = os.environ.get("CHAT_USER", "ann"), Management()
    known = management.search(user, words)
    print("known:", *known, sep="\n  ")

    llm = OpenAILike(
        api_base=os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1"),
        api_key=os.environ["OPENAI_API_KEY"],
        model=os.environ.get("MODEL", "gpt-4o-mini"),
        is_chat_model=True,
        is_function_calling_model=True,
    )
    conversation = Conversation(management, user)
    get_dispatcher().add_event_handler(HindsightHandler(conversation=conversation, llm=llm))
    agent = FunctionAgent(tools=[deploy], llm=llm, system_prompt="You know from earlier:\n" + "\n".join(known))
    print("model:", await agent.run(words))

    # Left out, Hindsight takes 10 minutes of silence for the end.
    print("kept:", *conversation.close(), sep="\n  ")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit('say something: python llamaindex_events.py "Which port did deploy work on?"')
    asyncio.run(main(sys.argv[1]))
