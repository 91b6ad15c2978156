// The official @anthropic-ai/sdk for Node, unmodified, no header of ours: plain,
// streamed, raw, tool loops, thinking blocks passed back, parallel tools,
// images, count_tokens; the second session knows what the first one taught.
import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import { VERSION } from "@anthropic-ai/sdk/version";
import { aborts, base, deploy, direct, learned, model, picture, run, sea, sessions, twoTools, until } from "./suite.mjs";

const sdk = (url) => new Anthropic({ baseURL: url.replace(/\/v1$/, ""), apiKey: "sk-ant-conformance" });
const [client, model_] = [sdk(base), sdk(direct)];
const user = (content) => ({ role: "user", content });
const mark = { cache_control: { type: "ephemeral" } };
const tool = (name, properties) => ({ name, description: name, input_schema: { type: "object", properties } });
const tools = [tool("deploy", { port: { type: "integer" } }), tool("forecast", { city: { type: "string" } })];
const image = { type: "image", source: { type: "base64", media_type: "image/png", data: picture.split(",")[1] } };

const bodyOf = (words, more) => ({ model, max_tokens: 1024, messages: typeof words === "string" ? [user(words)] : words, ...more });
const ask = (c, words, more) => c.messages.create(bodyOf(words, more));
const said = (m) => m.content.filter((b) => b.type === "text").map((b) => b.text).join("");
const calls = (m) => m.content.filter((b) => b.type === "tool_use");
const results = (m) => user(calls(m).map((c) => ({
  type: "tool_result", tool_use_id: c.id, content: c.name === "deploy" ? deploy(c.input) : `${c.input.city}: rain.`,
})));

// streamed is the message that the package's own accumulator makes of the events.
async function streamed(c, words, more) {
  const stream = c.messages.stream(bodyOf(words, more));
  let text = "";
  stream.on("text", (piece) => { text += piece; });
  const m = await stream.finalMessage();
  assert.equal(said(m), text);
  return m;
}

console.log("@anthropic-ai/sdk", VERSION, "node", process.version);
await run("anthropic_messages_node", {
  "a first session: streamed, plain, a tool loop; it is one session and is reflected": async () => {
    const more = { system: [{ type: "text", text: "You help.", ...mark }], tools };
    const h = [user("My name is Ann and my badge is B4411.")];
    const first = await streamed(client, h, more);
    assert.equal(said(first), said(await streamed(model_, h, more)));
    h.push({ role: "assistant", content: said(first) }, user([{ type: "text", text: "I prefer tabs over spaces.", ...mark }]));
    h.push({ role: "assistant", content: (await ask(client, h, more)).content }, user("Please deploy the web service."));
    let m;
    for (;;) {
      m = await ask(client, h, more);
      h.push({ role: "assistant", content: m.content });
      if (m.stop_reason !== "tool_use") break;
      h.push(results(m));
    }
    assert.match(said(m), /8080/);
    assert.match(said(m), /8081/);
    await until("the session is listed", async () => (await sessions()).length);
    assert.equal((await sessions()).length, 1);
    await learned("Ann", "tabs", "8081");
  },
  "a second session knows what the first one taught, and only what was asked": async () => {
    assert.match(said(await streamed(client, "What is my name?")), /Ann/);
    assert.match(said(await ask(client, "Which badge do I have?")), /B4411/);
    assert.match(said(await ask(client, [user([image, { type: "text", text: "Which badge do I have?", ...mark }])])), /B4411/);
    assert.equal(said(await ask(client, sea)), said(await ask(model_, sea)));
  },
  "thinking blocks come back as they were, parallel calls": async () => {
    for (const go of [ask, streamed]) for (const c of [model_, client]) {
      const more = { tools, thinking: { type: "enabled", budget_tokens: 1024 } };
      const h = [user(`[[think Both are needed.]] ${twoTools}`)];
      const m = await go(c, h, more);
      assert.deepEqual(calls(m).map((x) => x.input.city), ["Oslo", "北京"]);
      assert.equal(m.content[0].thinking, "Both are needed.");
      const end = await go(c, [...h, { role: "assistant", content: m.content }, results(m)], more);
      assert.match(said(end), /北京: rain/); // the model refuses a thought that was changed
    }
  },
  "raw answers are the upstream's, byte for byte": async () => {
    for (const more of [{}, { stream: true }, { system: [{ type: "text", text: "x", ...mark }], stop_sequences: ["\u2028"] }]) {
      const body = bodyOf(sea, more);
      const raw = async (c) => (await c.messages.create(body).asResponse()).text();
      await raw(model_); // the model counts cached tokens: from the second request on they stay
      assert.equal(await raw(client), await raw(model_));
    }
  },
  "count_tokens passes": async () => {
    const count = (c) => c.messages.countTokens({ model, messages: [user("Which badge do I have?")] });
    assert.deepEqual(await count(client), await count(model_));
  },
  "errors come as the SDK expects them": async () => {
    await assert.rejects(ask(client, [user([{ type: "text", text: "" }])]), Anthropic.BadRequestError);
    await assert.rejects(client.models.retrieve("none"), Anthropic.NotFoundError);
  },
  "a client that leaves in the middle of a stream: recorded as aborted": async () => {
    const before = await aborts();
    const stream = await ask(client, "My bicycle is green, and this is a sentence with many words to stream slowly.", { stream: true });
    for await (const e of stream) if (e.type === "content_block_delta") break; // the package cancels the request
    await until("the exchange is recorded as aborted", async () => (await aborts()) === before + 1, 3);
  },
});
