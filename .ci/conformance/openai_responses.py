"""The official openai package, unmodified, no header of ours, responses API:
plain, streamed, raw, tool loops, a previous_response_id chain, parallel tools,
images, reasoning items passed back, structured output; the second session knows
what the first one taught."""

import json

import openai
from openai_chat import PIXEL
from stack import MODEL, foreign, plain, run, stack, until

CITY = {"type": "object", "properties": {"city": {"type": "string"}}}
TOOLS = [
    {"type": "function", "name": "deploy", "description": "Deploys the service.",
     "parameters": {"type": "object", "properties": {"port": {"type": "integer"}}}},
    {"type": "function", "name": "get_forecast", "description": "The forecast.", "parameters": CITY},
    {"type": "function", "name": "get_clock", "description": "The time.", "parameters": CITY},
]
TWO_TOOLS = '[[think Both are needed.]] Compare them: [[tool get_forecast {"city":"Oslo"}]] [[tool get_clock {"city":"北京"}]]'
SEA = "How deep is the Mariana Trench?"  # nothing that is taught here answers it
BLOCK = "<hindsight-notes:"


def sdk(base):
    return openai.OpenAI(base_url=base, api_key="sk-conformance")


def user(text):
    return {"role": "user", "content": text}


def calls(r):
    return [i for i in r.output if i.type == "function_call"]


def results(r):
    """The results of a response's calls, as the tools give them."""
    out = []
    for c in calls(r):
        a = json.loads(c.arguments)
        text = f"{c.name} {a['city']}: fine." if "city" in a else f"ok: deployed, listening on {a['port']}." \
            if a["port"] == 8081 else f"Error: port {a['port']} is already in use by nginx; try 8081"
        out.append({"type": "function_call_output", "call_id": c.call_id, "output": text})
    return out


class Checks:
    """Checks in their order: what the first ones teach, the later ones ask for."""

    def __init__(self, s):
        self.s, self.client, self.direct = s, sdk(s.base), sdk(s.model_base)

    def ask(self, input, client=None, **kw):
        return (client or self.client).responses.create(model=MODEL, input=input, **kw)

    def streamed(self, input, client=None, **kw):
        """The response that the package's own accumulator makes of the events."""
        text = ""
        with (client or self.client).responses.stream(model=MODEL, input=input, **kw) as stream:
            for event in stream:
                if event.type == "response.output_text.delta":
                    text += event.delta
            r = stream.get_final_response()
        assert r.output_text == text and r.status == "completed" and r.usage.total_tokens > 0, r
        return r

    def teach(self):
        """a first session, the client keeps the history: plain, streamed, a tool loop; it is one session and is reflected"""
        h = [user("My name is Ann and my badge is B4411.")]
        first = self.streamed(h, instructions="You help.")
        assert first.output_text == self.streamed(h, self.direct, instructions="You help.").output_text
        h += [*first.output, user("I prefer tabs over spaces.")]
        h += [*self.ask(h, instructions="You help.", store=False).output, user("Please deploy the web service.")]
        for _ in range(5):
            r = self.ask(h, instructions="You help.", tools=TOOLS)
            h += [*r.output, *results(r)]
            if not calls(r):
                break
        assert "8081" in r.output_text and "8080" in r.output_text, r.output
        until("the session is listed", self.s.sessions)
        assert len(self.s.sessions()) == 1, self.s.sessions()
        self.s.learned("Ann", "tabs", "8081")

    def second(self):
        """a second session knows what the first one taught, and only what was asked"""
        assert "Ann" in self.streamed("What is my name?").output_text
        assert "B4411" in self.ask("Which badge do I have?").output_text
        port = calls(self.ask([user("Deploy on which port?")], tools=TOOLS))[0].arguments
        assert json.loads(port) == {"port": 8081}, port
        assert self.ask(SEA).output_text == self.ask(SEA, self.direct).output_text, "an unrelated question was given notes"

    def raw(self):
        """with nothing to inject, what the model gets and what the client gets are the direct ones' bytes"""
        unknown = {"seed": 9007199254740993, "vllm_xargs": {"a": 1e0}}
        for kw, more in (({}, {}), ({"stream": True}, {}), ({}, unknown), ({"previous_response_id": self.ask(SEA, self.direct).id}, {})):
            got, body = [], {"model": MODEL, "input": [user(SEA)], **kw}
            for c in (self.direct, self.direct, self.client):  # the model counts cached tokens: from the second on they stay
                since = len(self.s.seen())
                r = c.responses.with_raw_response.create(**body, extra_body=more)
                got.append((plain(r.http_response.read()), foreign(r.headers), self.s.seen(since)[0]["body"]))
            assert got[1] == got[2], got[1:]

    def chain(self):
        """a chain by previous_response_id: only what is new is sent, it is one session, a block is given once"""
        before, since = {x["id"] for x in self.s.sessions()}, len(self.s.seen())
        a = self.ask("Which badge do I have?")
        b = self.streamed("My locker is L77.", previous_response_id=a.id)
        c = self.ask("Deploy it, please.", previous_response_id=b.id, tools=TOOLS)
        assert calls(c), c
        while calls(c):
            c = self.ask(results(c), previous_response_id=c.id, tools=TOOLS)
        d = self.ask("Which badge do I have?", previous_response_id=c.id)
        assert "B4411" in a.output_text and "deployed" in c.output_text and "B4411" in d.output_text, (a, c, d)
        given = [BLOCK in r["body"] and "B4411" in r["body"] for r in self.s.seen(since)]
        assert given.count(True) == 1 and given[0], given
        until("the session is listed", lambda: len(self.s.sessions()) > len(before))
        new = [x for x in self.s.sessions() if x["id"] not in before]
        assert [x["turns"] for x in new] == [4], new
        assert self.client.responses.retrieve(d.id).output_text == d.output_text
        self.s.learned("L77")

    def reasoning(self):
        """reasoning items come back as they were, parallel calls and their results, plain and streamed"""
        for ask in (self.ask, self.streamed):
            for client in (self.direct, self.client):
                h = [user(TWO_TOOLS)]
                kw = {"tools": TOOLS, "store": False, "include": ["reasoning.encrypted_content"]}
                r = ask(h, client, **kw)
                assert [(c.name, json.loads(c.arguments)["city"]) for c in calls(r)] == [("get_forecast", "Oslo"), ("get_clock", "北京")], r
                thought = r.output[0]
                assert thought.type == "reasoning" and thought.encrypted_content and thought.summary[0].text == "Both are needed.", r
                # The model refuses a thought that was changed, and a result without its call.
                end = ask([*h, *r.output, *results(r)], client, **kw)
                assert "get_clock 北京: fine." in end.output_text, end

    def images(self):
        """images: content stays an array, memory works beside them"""
        picture = {"type": "input_image", "image_url": PIXEL, "detail": "auto"}
        r = self.ask([user([{"type": "input_text", "text": "Which badge do I have?"}, picture])])
        assert "B4411" in r.output_text, r
        alone = [user([picture])]
        assert self.ask(alone).output_text == self.ask(alone, self.direct).output_text

    def schema(self):
        """a schema for the text reaches the model as it was sent"""
        fmt = {"format": {"type": "json_schema", "name": "depth", "strict": True,
                          "schema": {"type": "object", "properties": {"metres": {"type": "number"}}}}}
        got, want = (self.ask(SEA, c, text=fmt) for c in (self.client, self.direct))
        assert got.id == want.id, "the model's id of an answer is the hash of the request's bytes"

    def errors(self):
        """errors come as the SDK expects them, the routes of a kept response pass"""
        for kind, call in (
            (openai.BadRequestError, lambda c: self.ask("x", c, previous_response_id="resp_none")),
            (openai.NotFoundError, lambda c: c.responses.retrieve("resp_none")),
        ):
            bodies = []
            for c in (self.direct, self.client):
                try:
                    call(c)
                    raise AssertionError(f"no {kind.__name__}")
                except kind as e:
                    bodies.append(e.body)
            assert bodies[0] == bodies[1] and bodies[0]["message"], bodies
        r = self.ask("Keep this.")
        self.client.responses.delete(r.id)
        try:
            self.client.responses.retrieve(r.id)
            raise AssertionError("it is still there")
        except openai.NotFoundError:
            pass

    def unreachable(self):
        """an upstream that is away is a 502 in the error shape of the API"""
        self.s.stop_model()
        try:
            self.ask(SEA, sdk(self.s.base).with_options(max_retries=0))
            raise AssertionError("no error")
        except openai.InternalServerError as e:
            assert e.status_code == 502 and e.body["message"], (e.status_code, e.body)


def main():
    print("openai", openai.__version__)
    with stack(reflect=True) as s:
        c = Checks(s)
        run("openai_responses", [c.teach, c.second, c.raw, c.chain, c.reasoning, c.images, c.schema, c.errors, c.unreachable])


if __name__ == "__main__":
    main()
