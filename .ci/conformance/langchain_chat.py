"""langchain-openai and langgraph, unmodified, no header of ours: invoke, batch,
stream, async, a bind_tools loop, a graph with a tool node and a checkpointer;
the second session knows what the first one taught."""

import asyncio
import importlib.metadata

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from stack import MODEL, run, stack, until

TWO_TOOLS = 'Compare them: [[tool get_forecast {"city":"Oslo"}]] [[tool get_forecast {"city":"北京"}]]'


@tool
def deploy(port: int) -> str:
    """Deploys the service."""
    return f"ok: deployed, listening on {port}." if port == 8081 else \
        f"Error: port {port} is already in use by nginx; try 8081"


@tool
def get_forecast(city: str) -> str:
    """Tells the forecast."""
    return f"{city}: rain."


class Checks:
    def __init__(self, s):
        self.s, self.llm, self.direct = s, self.chat(s.base), self.chat(s.model_base)

    @staticmethod
    def chat(base):
        return ChatOpenAI(base_url=base, api_key="sk-conformance", model=MODEL)

    def teach(self):
        """a first session: invoke, stream, a bind_tools loop; it is one session and is reflected"""
        llm = self.llm.bind_tools([deploy])
        h = [SystemMessage("You help."), HumanMessage("My name is Ann and my badge is B4411.")]
        h.append(self.llm.invoke(h))
        assert h[-1].usage_metadata["total_tokens"] > 0, h[-1]
        h.append(HumanMessage("I prefer tabs over spaces."))
        whole = None
        for chunk in self.llm.stream(h):
            whole = chunk if whole is None else whole + chunk
        assert whole.content == self.direct.invoke(h).content, whole
        h += [AIMessage(whole.content), HumanMessage("Please deploy the web service.")]
        while (m := llm.invoke(h)).tool_calls:
            h += [m, *(deploy.invoke(c) for c in m.tool_calls)]
        assert isinstance(h[-1], ToolMessage) and "8081" in m.content and "8080" in m.content, (h, m)
        until("the session is listed", self.s.sessions)
        assert len(self.s.sessions()) == 1, self.s.sessions()
        self.s.learned("Ann", "tabs", "8081")

    def second(self):
        """a second session knows: invoke and stream"""
        answer = self.llm.invoke("What is my name?").content
        assert "Ann" in answer, answer
        answer = "".join(c.content for c in self.llm.stream("Which badge do I have?"))
        assert "B4411" in answer, answer
        sea = "How deep is the Mariana Trench?"
        assert self.llm.invoke(sea).content == self.direct.invoke(sea).content

    def several(self):
        """batch and async: ainvoke and astream at the same time"""
        items = [m.content for m in self.llm.batch([f"Item {i} is blue." for i in range(3)])]
        assert items == [f"All right, noted: Item {i} is blue." for i in range(3)], items

        async def stream(text):
            return "".join([c.content async for c in self.llm.astream(text)])

        async def both():
            return await asyncio.gather(self.llm.ainvoke("What is my name?"), stream("Which badge do I have?"))

        name, badge = asyncio.run(both())
        assert "Ann" in name.content and "B4411" in badge, (name, badge)

    def graph(self):
        """langgraph: parallel tools, a checkpointer; two threads with one opener are two sessions"""
        llm = self.llm.bind_tools([get_forecast])
        g = StateGraph(MessagesState)
        g.add_node("model", lambda state: {"messages": [llm.invoke(state["messages"])]})
        g.add_node("tools", ToolNode([get_forecast]))
        g.add_edge(START, "model")
        g.add_conditional_edges("model", tools_condition)
        g.add_edge("tools", "model")
        app = g.compile(checkpointer=InMemorySaver())

        def say(thread, text):
            return app.invoke({"messages": [HumanMessage(text)]}, {"configurable": {"thread_id": thread}})["messages"]

        self.s.settle()
        before = {x["id"] for x in self.s.sessions()}
        for thread, word in (("1", "apples"), ("2", "pears")):
            said = say(thread, TWO_TOOLS)
            assert len(said[1].tool_calls) == 2 and "rain" in said[-1].content, said
            said = say(thread, f"My favourites are {word}.")
            assert said[-1].content.startswith("All right"), said
        said = say("2", "Which badge do I have?")
        assert "B4411" in said[-1].content, said

        def turns():
            return sorted(x["turns"] for x in self.s.sessions() if x["id"] not in before)
        until("two sessions of two and three turns", lambda: turns() == [2, 3])


def main():
    print(*(f"{p} {importlib.metadata.version(p)}" for p in ("langchain-openai", "langchain-core", "langgraph", "openai")))
    with stack() as s:
        c = Checks(s)
        run("langchain_chat", [c.teach, c.second, c.several, c.graph])


main()
