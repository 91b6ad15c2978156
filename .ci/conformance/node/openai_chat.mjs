// The official openai package for Node, unmodified, no header of ours: plain,
// streamed, the package's own tool loop, raw answers, leaving, errors; the
// second session knows what the first one taught.
import assert from "node:assert/strict";
import OpenAI from "openai";
import { VERSION } from "openai/version";
import { aborts, base, deploy, direct, learned, model, run, sea, sessions, twoTools, until } from "./suite.mjs";

const sdk = (baseURL) => new OpenAI({ baseURL, apiKey: "sk-conformance" });
const [client, model_] = [sdk(base), sdk(direct)];
const user = (content) => ({ role: "user", content });

const tool = (name, parameters, f) => ({
  type: "function",
  function: { name, description: name, parameters: { type: "object", properties: parameters }, parse: JSON.parse, function: f },
});
const deployTool = tool("deploy", { port: { type: "integer" } }, deploy);
const forecastTool = tool("forecast", { city: { type: "string" } }, ({ city }) => `${city}: rain.`);

const ask = async (c, messages) => (await c.chat.completions.create({ model, messages })).choices[0].message.content;

async function streamed(c, messages) {
  let text = "", usage;
  for await (const chunk of await c.chat.completions.create({
    model, messages, stream: true, stream_options: { include_usage: true },
  })) {
    text += chunk.choices[0]?.delta.content ?? "";
    usage = chunk.usage ?? usage;
  }
  assert.ok(usage?.total_tokens > 0, "the usage chunk is missing");
  return text;
}

// raw is an answer's body without the second in which it was made.
async function raw(c, body) {
  const r = await c.chat.completions.create(body).asResponse();
  return (await r.text()).replaceAll(/"created":\d+/g, '"created":0');
}

console.log("openai", VERSION, "node", process.version);
await run("openai_chat_node", {
  "a first session: streamed, plain, runTools; it is one session and is reflected": async () => {
    const h = [{ role: "system", content: "You help." }, user("My name is Ann and my badge is B4411.")];
    const first = await streamed(client, h);
    assert.equal(first, await streamed(model_, h));
    h.push({ role: "assistant", content: first }, user("I prefer tabs over spaces."));
    h.push({ role: "assistant", content: await ask(client, h) }, user("Please deploy the web service."));
    const told = await client.chat.completions.runTools({ model, messages: h, tools: [deployTool] }).finalContent();
    assert.match(told, /8080/);
    assert.match(told, /8081/);
    await until("the session is listed", async () => (await sessions()).length);
    assert.equal((await sessions()).length, 1);
    await learned("Ann", "tabs", "8081");
  },
  "a second session knows what the first one taught, and only what was asked": async () => {
    assert.match(await streamed(client, [user("What is my name?")]), /Ann/);
    assert.match(await ask(client, [user("Which badge do I have?")]), /B4411/);
    assert.match(await ask(client, [user([{ type: "text", text: "Which badge do I have?" },
      { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } }])]), /B4411/);
    assert.equal(await ask(client, [user(sea)]), await ask(model_, [user(sea)]));
  },
  "runTools streamed, with parallel calls": async () => {
    const runner = client.chat.completions.runTools({ model, stream: true, messages: [user(twoTools)], tools: [forecastTool] });
    assert.match(await runner.finalContent(), /北京: rain/);
    const calls = runner.messages.flatMap((m) => m.tool_calls ?? []);
    assert.deepEqual(calls.map((c) => JSON.parse(c.function.arguments).city), ["Oslo", "北京"]);
  },
  "raw answers are the upstream's, byte for byte": async () => {
    for (const more of [{}, { stream: true }, { response_format: { type: "json_object" }, n: 2, seed: 7 }]) {
      const body = { model, messages: [user(sea)], ...more };
      await raw(model_, body); // the model counts cached tokens: from the second request on they stay
      assert.equal(await raw(client, body), await raw(model_, body));
    }
  },
  "errors come as the SDK expects them, other routes pass": async () => {
    await assert.rejects(client.chat.completions.create({ model }), OpenAI.BadRequestError);
    await assert.rejects(client.embeddings.create({ model: "e", input: "x" }), OpenAI.NotFoundError);
    assert.deepEqual((await client.models.list()).data.map((m) => m.id), [model]);
  },
  "a client that leaves in the middle of a stream: recorded as aborted": async () => {
    const before = await aborts();
    const stream = await client.chat.completions.create({
      model, stream: true, messages: [user("My bicycle is green, and this is a sentence with many words to stream slowly.")],
    });
    for await (const _ of stream) break; // the package cancels the request
    await until("the exchange is recorded as aborted", async () => (await aborts()) === before + 1, 3);
  },
});
