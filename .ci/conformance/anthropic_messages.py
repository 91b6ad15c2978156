"""The official anthropic package, unmodified, no header of ours: plain, streamed,
raw, tool loops, thinking blocks passed back, parallel tools, images, cache
markers, count_tokens; the second session knows what the first one taught."""

import asyncio

import anthropic
from openai_chat import PIXEL
from stack import MODEL, foreign, plain, run, stack, until

CITY = {"type": "object", "properties": {"city": {"type": "string"}}}
TOOLS = [
    {"name": "deploy", "description": "Deploys the service.", "input_schema": {"type": "object", "properties": {"port": {"type": "integer"}}}},
    {"name": "get_forecast", "description": "The forecast.", "input_schema": CITY},
    {"name": "get_clock", "description": "The time.", "input_schema": CITY},
]
TWO_TOOLS = '[[think Both are needed.]] Compare them: [[tool get_forecast {"city":"Oslo"}]] [[tool get_clock {"city":"北京"}]]'
SEA = "How deep is the Mariana Trench?"  # nothing that is taught here answers it
PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL.partition(",")[2]}}
MARK = {"cache_control": {"type": "ephemeral"}}
BLOCK = "<hindsight-notes:"


def sdk(base, kind=anthropic.Anthropic, **kw):
    return kind(base_url=base.removesuffix("/v1"), api_key="sk-ant-conformance", **kw)


def user(content):
    return {"role": "user", "content": content}


def said(m):
    return "".join(b.text for b in m.content if b.type == "text")


def calls(m):
    return [b for b in m.content if b.type == "tool_use"]


def results(m):
    """The user message with the results of an answer's calls."""
    out = []
    for c in calls(m):
        a = c.input
        text = f"{c.name} {a['city']}: fine." if "city" in a else f"ok: deployed, listening on {a['port']}." \
            if a["port"] == 8081 else f"Error: port {a['port']} is already in use by nginx; try 8081"
        out.append({"type": "tool_result", "tool_use_id": c.id, "content": text})
    return user(out)


class Checks:
    """Checks in their order: what the first ones teach, the later ones ask for."""

    def __init__(self, s):
        self.s, self.client, self.direct = s, sdk(s.base), sdk(s.model_base)

    def ask(self, messages, client=None, **kw):
        if isinstance(messages, str):
            messages = [user(messages)]
        return (client or self.client).messages.create(model=MODEL, max_tokens=1024, messages=messages, **kw)

    def streamed(self, messages, client=None, **kw):
        """The message that the package's own accumulator makes of the events."""
        if isinstance(messages, str):
            messages = [user(messages)]
        with (client or self.client).messages.stream(model=MODEL, max_tokens=1024, messages=messages, **kw) as stream:
            text = "".join(stream.text_stream)
            m = stream.get_final_message()
        assert said(m) == text and m.stop_reason and m.usage.output_tokens >= 0, m
        return m

    def loop(self, h, **kw):
        for _ in range(5):
            m = self.ask(h, **kw)
            h.append({"role": "assistant", "content": m.content})
            if m.stop_reason != "tool_use":
                return m
            h.append(results(m))
        raise AssertionError("the tool loop does not end")

    def teach(self):
        """a first session: streamed, plain, a tool loop; it is one session and is reflected"""
        kw = {"system": [{"type": "text", "text": "You help.", **MARK}]}
        h = [user("My name is Ann and my badge is B4411.")]
        first = self.streamed(h, **kw)
        assert said(first) == said(self.streamed(h, self.direct, **kw))
        h += [{"role": "assistant", "content": said(first)}, user([{"type": "text", "text": "I prefer tabs over spaces.", **MARK}])]
        h += [{"role": "assistant", "content": self.ask(h, **kw).content}, user("Please deploy the web service.")]
        told = said(self.loop(h, tools=TOOLS, **kw))
        assert "8081" in told and "8080" in told, told
        until("the session is listed", self.s.sessions)
        assert len(self.s.sessions()) == 1, self.s.sessions()
        self.s.learned("Ann", "tabs", "8081")

    def second(self):
        """a second session knows what the first one taught, and only what was asked"""
        assert "Ann" in said(self.streamed("What is my name?"))
        assert "B4411" in said(self.ask("Which badge do I have?"))
        assert calls(self.ask("Deploy on which port?", tools=TOOLS))[0].input == {"port": 8081}
        assert said(self.ask(SEA)) == said(self.ask(SEA, self.direct)), "an unrelated question was given notes"

    def raw(self):
        """with nothing to inject, what the model gets and what the client gets are the direct ones' bytes"""
        marked = [{"type": "text", "text": SEA, **MARK}]
        for content, kw in ((SEA, {}), (SEA, {"stream": True}), (marked, {"extra_body": {"seed": 9007199254740993, "x": {"a": 1e0}}}),
                            ([{"type": "text", "text": SEA}, PICTURE], {"system": marked, "stop_sequences": ["\u2028"]})):
            got = []
            for c in (self.direct, self.direct, self.client):  # the model counts cached tokens: from the second on they stay
                since = len(self.s.seen())
                r = c.messages.with_raw_response.create(model=MODEL, max_tokens=1024, messages=[user(content)], **kw)
                got.append((plain(r.http_response.read()), foreign(r.headers), self.s.seen(since)[0]["body"]))
            assert got[1] == got[2], got[1:]

    def markers(self):
        """four cache markers stay four, and where they were, with a block beside them"""
        since = len(self.s.seen())
        h = [user("Hello."), {"role": "assistant", "content": [{"type": "text", "text": "Hi.", **MARK}]},
             user([{"type": "text", "text": "Which badge do I have?", **MARK}])]
        m = self.ask(h, system=[{"type": "text", "text": "You help.", **MARK}], tools=[TOOLS[0], {**TOOLS[1], **MARK}])
        assert "B4411" in said(m), m  # the model refuses a fifth
        body = self.s.seen(since)[0]["body"]
        assert BLOCK in body and body.count('"cache_control"') == 4, body

    def thinking(self):
        """thinking blocks come back as they were, parallel calls and their results, plain and streamed"""
        for ask in (self.ask, self.streamed):
            for client in (self.direct, self.client):
                h, kw = [user(TWO_TOOLS)], {"tools": TOOLS, "thinking": {"type": "enabled", "budget_tokens": 1024}}
                m = ask(h, client, **kw)
                assert [(c.name, c.input["city"]) for c in calls(m)] == [("get_forecast", "Oslo"), ("get_clock", "北京")], m
                assert m.content[0].thinking == "Both are needed." and m.content[0].signature, m
                # The model refuses a thought that was changed, and results that don't come first.
                end = ask([*h, {"role": "assistant", "content": m.content}, results(m)], client, **kw)
                assert "get_clock 北京: fine." in said(end), end

    def beside(self):
        """words beside tool results: the block stands behind the results"""
        m = self.ask("Deploy it, please.", tools=TOOLS)
        r = results(m)
        r["content"].append({"type": "text", "text": "And which badge do I have?"})
        since = len(self.s.seen())
        end = self.ask([user("Deploy it, please."), {"role": "assistant", "content": m.content}, r], tools=TOOLS)
        assert "B4411" in said(end), (end, self.s.seen(since)[0]["body"])

    def images(self):
        """images: content stays an array, memory works beside them"""
        m = self.ask([user([PICTURE, {"type": "text", "text": "Which badge do I have?"}])])
        assert "B4411" in said(m), m
        alone = [user([PICTURE])]
        assert said(self.ask(alone)) == said(self.ask(alone, self.direct))

    def counted(self):
        """count_tokens passes: the client's tokens, no session"""
        self.s.settle()
        before = len(self.s.sessions())
        got, want = (c.messages.count_tokens(model=MODEL, messages=[user("Which badge do I have?")]) for c in (self.client, self.direct))
        assert got == want and got.input_tokens > 0, (got, want)
        self.s.settle()
        assert len(self.s.sessions()) == before

    def together(self):
        """the async client: plain and streamed requests at the same time"""
        async def all_of_them():
            async with sdk(self.s.base, anthropic.AsyncAnthropic) as c:
                async def streamed():
                    async with c.messages.stream(model=MODEL, max_tokens=64, messages=[user("What is my name?")]) as stream:
                        return await stream.get_final_message()
                return await asyncio.gather(streamed(), *(
                    c.messages.create(model=MODEL, max_tokens=64, messages=[user(f"Item {i} is blue.")]) for i in range(6)))

        self.s.settle()
        name, *items = map(said, asyncio.run(all_of_them()))
        assert "Ann" in name, name
        assert items == [f"All right, noted: Item {i} is blue." for i in range(6)], items

    def named(self):
        """metadata.user_id names the user: each has memories of their own, who names none gets none from now on"""
        bob, eve = {"metadata": {"user_id": "bob"}}, {"metadata": {"user_id": "eve"}}
        self.ask("My bicycle is green.", **bob)
        self.s.learned("bicycle is green")
        m = self.ask("How is my bicycle?", **bob)
        assert "green" in said(m), m
        since = len(self.s.seen())
        for kw in (eve, {}):
            assert "don't know" in said(self.ask("How is my bicycle?", **kw))
        assert not any(BLOCK in r["body"] for r in self.s.seen(since))

    def errors(self):
        """errors come as the SDK expects them"""
        for kind, call in (
            (anthropic.BadRequestError, lambda c: self.ask([user([{"type": "text", "text": ""}])], c)),
            (anthropic.NotFoundError, lambda c: c.models.retrieve("none")),
        ):
            bodies = []
            for c in (self.direct, self.client):
                try:
                    call(c)
                    raise AssertionError(f"no {kind.__name__}")
                except kind as e:
                    bodies.append(e.body)
            assert bodies[0] == bodies[1] and bodies[0]["error"]["message"], bodies

    def unreachable(self):
        """an upstream that is away is an error in Anthropic's shape"""
        self.s.stop_model()
        try:
            self.ask(SEA, sdk(self.s.base, max_retries=0))
            raise AssertionError("no error")
        except anthropic.InternalServerError as e:
            assert e.status_code == 502 and e.body["type"] == "error" and e.body["error"]["message"], (e.status_code, e.body)


def main():
    print("anthropic", anthropic.__version__)
    with stack(reflect=True) as s:
        c = Checks(s)
        run("anthropic_messages", [c.teach, c.second, c.raw, c.markers, c.thinking, c.beside, c.images, c.counted,
                                   c.together, c.named, c.errors, c.unreachable])


main()
