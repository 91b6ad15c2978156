"""The official openai package, unmodified, no header of ours, chat completions:
plain, streamed, async, raw, tool loops, parallel tools, images, structured
output, leaving and time-outs; the second session knows what the first one
taught; a restart in between loses nothing."""

import asyncio
import json

import openai
from stack import MODEL, foreign, plain, run, stack, until

DEPLOY = {"type": "function", "function": {
    "name": "deploy",
    "description": "Deploys the service.",
    "parameters": {"type": "object", "properties": {"port": {"type": "integer"}}},
}}
CITY = {"type": "object", "properties": {"city": {"type": "string"}}}
WEATHER = {"type": "function", "function": {"name": "get_forecast", "description": "The forecast.", "parameters": CITY}}
CLOCK = {"type": "function", "function": {"name": "get_clock", "description": "The time.", "parameters": CITY}}
TWO_TOOLS = 'Compare them: [[tool get_forecast {"city":"Oslo"}]] [[tool get_clock {"city":"北京"}]]'
PIXEL = ("data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNg"
         "YGBgAAAABQABh6FO1AAAAABJRU5ErkJggg==")
SEA = [{"role": "user", "content": "How deep is the Mariana Trench?"}]  # nothing that is taught here answers it


def sdk(base, kind=openai.OpenAI, **kw):
    return kind(base_url=base, api_key="sk-conformance", **kw)


def ask(client, messages, **kw):
    return client.chat.completions.create(model=MODEL, messages=messages, **kw).choices[0].message


def streamed(client, messages):
    text, usage = "", None
    for chunk in client.chat.completions.create(
        model=MODEL, messages=messages, stream=True, stream_options={"include_usage": True}
    ):
        if chunk.choices:
            text += chunk.choices[0].delta.content or ""
        usage = chunk.usage or usage
    assert usage and usage.total_tokens > 0, "the usage chunk is missing"
    return text


def tool_loop(client, history):
    for _ in range(5):
        m = ask(client, history, tools=[DEPLOY])
        history.append(m)
        if not m.tool_calls:
            return m.content
        for c in m.tool_calls:
            port = json.loads(c.function.arguments)["port"]
            result = f"ok: deployed, listening on {port}." if port == 8081 else \
                f"Error: port {port} is already in use by nginx; try 8081"
            history.append({"role": "tool", "tool_call_id": c.id, "content": result})
    raise AssertionError("the tool loop does not end")


class Checks:
    """Checks in their order: what the first ones teach, the later ones ask for."""

    def __init__(self, s):
        self.s, self.history = s, []
        self.client, self.direct = sdk(s.base), sdk(s.model_base)

    def raw(self):
        """raw answers are the upstream's, byte for byte, but for our headers"""
        def both(fetch):
            fetch(self.direct)  # the model counts cached tokens: from the second request on they stay
            return fetch(self.direct), fetch(self.client)

        def whole(c, **kw):
            r = c.chat.completions.with_raw_response.create(model=MODEL, messages=SEA, **kw)
            return r.headers, r.content

        def stream(c):
            with c.chat.completions.with_streaming_response.create(
                model=MODEL, messages=SEA, stream=True, stream_options={"include_usage": False}
            ) as r:
                return r.headers, b"".join(r.iter_bytes())

        for fetch in (whole, stream, lambda c: whole(c, n=2, seed=9007199254740993, logprobs=True,
                                                     extra_body={"enable_thinking": False, "vllm_xargs": {"a": 1e0}})):
            (dh, db), (ph, pb) = both(fetch)
            assert plain(pb) == plain(db), (pb, db)
            assert foreign(ph) == foreign(dh), (ph, dh)
            assert ph.get("hindsight-status") and ph.get("hindsight-exchange"), ph
            assert not any(h.startswith("hindsight-") for h in dh), dh

    def schema(self):
        """response_format with a schema reaches the model as it was sent"""
        fmt = {"type": "json_schema", "json_schema": {
            "name": "depth", "strict": True, "schema": {"type": "object", "properties": {"metres": {"type": "number"}}}}}
        for kw in ({"response_format": fmt}, {"response_format": {"type": "json_object"}}):
            got, want = (c.chat.completions.create(model=MODEL, messages=SEA, **kw) for c in (self.client, self.direct))
            assert got.id == want.id, "the model's id of an answer is the hash of the request's bytes"
            assert got.choices[0].message.content == want.choices[0].message.content

    def teach(self):
        """a first session: streamed, plain, a tool loop; it is one session and is reflected"""
        before = {x["id"] for x in self.s.sessions()}
        h = self.history = [{"role": "system", "content": "You help."},
                            {"role": "user", "content": "My name is Ann and my badge is B4411."}]
        first = streamed(self.client, h)
        assert first == streamed(self.direct, h), "the stream differs from the direct one"
        h += [{"role": "assistant", "content": first}, {"role": "user", "content": "I prefer tabs over spaces."}]
        h += [ask(self.client, h), {"role": "user", "content": "Please deploy the web service."}]
        told = tool_loop(self.client, h)
        assert "8081" in told and "8080" in told, told
        new = until("the session is listed", lambda: [x for x in self.s.sessions() if x["id"] not in before])
        assert len(new) == 1, new
        self.session = new[0]["id"]
        self.s.learned("Ann", "tabs", "8081")

    def restart(self):
        """a restart loses nothing, and the old conversation goes on where it was"""
        kept, count = sorted(self.s.memories()), len(self.s.sessions())
        self.s.stop()
        self.s.start()
        self.client = sdk(self.s.base)
        assert sorted(self.s.memories()) == kept, "the restart lost memories"
        turns = self.turns()
        self.history.append({"role": "user", "content": "Thanks for that."})
        ask(self.client, self.history)
        until("the turn is in the old session", lambda: self.turns() == turns + 1)
        assert len(self.s.sessions()) == count, "the restart split the session"

    def turns(self):
        return self.s.api(f"/api/v1/sessions/{self.session}")["turns"]

    def second(self):
        """a second session knows what the first one taught, and only what was asked"""
        answer = streamed(self.client, [{"role": "user", "content": "What is my name?"}])
        assert "Ann" in answer, answer
        answer = ask(self.client, [{"role": "user", "content": "Which badge do I have?"}]).content
        assert "B4411" in answer, answer
        m = ask(self.client, [{"role": "user", "content": "Deploy on which port?"}], tools=[DEPLOY])
        assert json.loads(m.tool_calls[0].function.arguments) == {"port": 8081}, m
        assert ask(self.client, SEA).content == ask(self.direct, SEA).content, "an unrelated question was given notes"

    def images(self):
        """images: content stays an array, memory works beside them"""
        picture = {"type": "image_url", "image_url": {"url": PIXEL}}
        answer = ask(self.client, [{"role": "user", "content": [
            {"type": "text", "text": "Which badge do I have?"}, picture]}]).content
        assert "B4411" in answer, answer
        alone = [{"role": "user", "content": [picture]}]
        assert ask(self.client, alone).content == ask(self.direct, alone).content

    def parallel(self):
        """parallel tool calls, plain and streamed, and their results"""
        h = [{"role": "user", "content": TWO_TOOLS}]
        m = ask(self.client, h, tools=[WEATHER, CLOCK], parallel_tool_calls=True)
        assert [(c.function.name, json.loads(c.function.arguments)["city"]) for c in m.tool_calls] == \
            [("get_forecast", "Oslo"), ("get_clock", "北京")], m
        with self.client.chat.completions.stream(model=MODEL, messages=h, tools=[WEATHER, CLOCK]) as stream:
            last = stream.get_final_completion().choices[0]
        assert last.finish_reason == "tool_calls" and len(last.message.tool_calls) == 2, last
        assert [c.function.arguments for c in last.message.tool_calls] == [c.function.arguments for c in m.tool_calls]
        h.append(m)
        h += [{"role": "tool", "tool_call_id": c.id, "content": f"{c.function.name}: fine."} for c in m.tool_calls]
        assert ask(self.client, h, tools=[WEATHER, CLOCK]).content == ask(self.direct, h, tools=[WEATHER, CLOCK]).content

    def together(self):
        """the async client: plain and streamed requests at the same time"""
        async def plainly(c, i):
            r = await c.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": f"Item {i} is blue."}])
            return r.choices[0].message.content

        async def streamingly(c):
            text = ""
            async for chunk in await c.chat.completions.create(
                model=MODEL, messages=[{"role": "user", "content": "What is my name?"}], stream=True
            ):
                text += chunk.choices[0].delta.content or ""
            return text

        async def all_of_them():
            async with sdk(self.s.base, openai.AsyncOpenAI) as c:
                return await asyncio.gather(streamingly(c), *(plainly(c, i) for i in range(6)))

        self.s.settle()
        name, *items = asyncio.run(all_of_them())
        assert "Ann" in name, name
        assert items == [f"All right, noted: Item {i} is blue." for i in range(6)], items

    def errors(self):
        """errors come as the SDK expects them, other routes pass"""
        for kind, call in (
            (openai.BadRequestError, lambda c: c.post("/chat/completions", body={"model": "x"}, cast_to=object)),
            (openai.NotFoundError, lambda c: c.embeddings.create(model="e", input="x")),
        ):
            bodies = []
            for c in (self.direct, self.client):
                try:
                    call(c)
                    raise AssertionError(f"no {kind.__name__}")
                except kind as e:
                    bodies.append(e.body)
            assert bodies[0] == bodies[1] and bodies[0]["message"], bodies
        assert [x.id for x in self.client.models.list()] == [MODEL]


class Slow:
    """Checks at a model that pauses 200 ms between two chunks."""

    def __init__(self, s):
        self.s, self.client = s, sdk(s.base, max_retries=0)

    def begin(self, text, **kw):
        """A stream and its exchange's id, after the first two chunks."""
        r = self.client.chat.completions.with_raw_response.create(
            model=MODEL, messages=[{"role": "user", "content": text}], stream=True, **kw)
        stream = r.parse()
        it = iter(stream)
        next(it), next(it)
        return stream, it, r.headers["hindsight-exchange"]

    def aborted(self, id):
        x = until("the exchange is recorded", lambda: (x := self.s.exchange(id)) and x["status"] and x, seconds=2)
        assert x["status"] == "aborted", x

    def leaves(self):
        """a client that leaves in the middle of a stream: recorded as aborted"""
        stream, _, id = self.begin("My bicycle is green, and this is a sentence with many words to stream slowly.")
        stream.close()
        self.aborted(id)

    def late(self):
        """a client whose time is up in the middle of a stream"""
        try:
            _, it, id = self.begin("My boat is yellow, and this is a sentence with many words to stream slowly.", timeout=0.1)
            list(it)
        except Exception as e:  # which class it is differs between versions of the package
            assert "time" in repr(e).lower(), repr(e)
        else:
            raise AssertionError("no time-out")

    def full(self):
        """a slow stream that is read to its end is complete"""
        stream, it, id = self.begin("My tent is red.")
        list(it)
        x = until("the exchange is recorded", lambda: (x := self.s.exchange(id)) and x["status"] and x)
        assert x["status"] == "complete", x

    def unreachable(self):
        """an upstream that is away is a 502 in the error shape of the API"""
        self.s.stop_model()
        try:
            ask(self.client, SEA)
            raise AssertionError("no error")
        except openai.InternalServerError as e:
            assert e.status_code == 502 and e.body["message"], (e.status_code, e.body)


def main():
    print("openai", openai.__version__)
    with stack() as s:
        c = Checks(s)
        fast = [c.teach, c.restart, c.raw, c.schema, c.second, c.images, c.parallel, c.together, c.errors]
        with stack(delay="200ms", HINDSIGHT_REFLECT_MODEL="rules") as slow_stack:
            slow = Slow(slow_stack)
            run("openai_chat", fast + [slow.leaves, slow.late, slow.full, slow.unreachable])


if __name__ == "__main__":
    main()
