// The official openai package for Node, unmodified, no header of ours,
// responses API: plain, streamed, raw, tool loops, a previous_response_id
// chain, reasoning items passed back, images; the second session knows what the
// first one taught.
import assert from "node:assert/strict";
import OpenAI from "openai";
import { VERSION } from "openai/version";
import { aborts, base, deploy, direct, learned, model, picture, run, sea, sessions, twoTools, until } from "./suite.mjs";

const sdk = (baseURL) => new OpenAI({ baseURL, apiKey: "sk-conformance" });
const [client, model_] = [sdk(base), sdk(direct)];
const user = (content) => ({ role: "user", content });
const tool = (name, properties) => ({ type: "function", name, description: name, strict: false, parameters: { type: "object", properties } });
const tools = [tool("deploy", { port: { type: "integer" } }), tool("forecast", { city: { type: "string" } })];

const ask = (c, input, more) => c.responses.create({ model, input, ...more });

// streamed is the response that the package's own accumulator makes of the events.
async function streamed(c, input, more) {
  const stream = c.responses.stream({ model, input, ...more });
  let text = "";
  for await (const e of stream) if (e.type === "response.output_text.delta") text += e.delta;
  const r = await stream.finalResponse();
  assert.equal(r.output_text, text);
  assert.ok(r.usage.total_tokens > 0);
  return r;
}

const calls = (r) => r.output.filter((i) => i.type === "function_call");
const results = (r) => calls(r).map((c) => {
  const a = JSON.parse(c.arguments);
  return { type: "function_call_output", call_id: c.call_id, output: c.name === "deploy" ? deploy(a) : `${a.city}: rain.` };
});

// raw is an answer's body without the second in which it was made.
async function raw(c, body) {
  const r = await c.responses.create(body).asResponse();
  return (await r.text()).replaceAll(/"created_at":\d+/g, '"created_at":0');
}

console.log("openai", VERSION, "node", process.version);
await run("openai_responses_node", {
  "a first session, the client keeps the history: streamed, plain, a tool loop; it is one session and is reflected": async () => {
    const more = { instructions: "You help.", tools };
    const h = [user("My name is Ann and my badge is B4411.")];
    const first = await streamed(client, h, more);
    assert.equal(first.output_text, (await streamed(model_, h, more)).output_text);
    h.push(...first.output, user("I prefer tabs over spaces."));
    h.push(...(await ask(client, h, { ...more, store: false })).output, user("Please deploy the web service."));
    let r;
    do {
      r = await ask(client, h, more);
      h.push(...r.output, ...results(r));
    } while (calls(r).length);
    assert.match(r.output_text, /8080/);
    assert.match(r.output_text, /8081/);
    await until("the session is listed", async () => (await sessions()).length);
    assert.equal((await sessions()).length, 1);
    await learned("Ann", "tabs", "8081");
  },
  "a second session knows what the first one taught, and only what was asked": async () => {
    assert.match((await streamed(client, "What is my name?")).output_text, /Ann/);
    assert.match((await ask(client, "Which badge do I have?")).output_text, /B4411/);
    assert.match((await ask(client, [user([{ type: "input_text", text: "Which badge do I have?" },
      { type: "input_image", image_url: picture, detail: "auto" }])])).output_text, /B4411/);
    assert.equal((await ask(client, sea)).output_text, (await ask(model_, sea)).output_text);
  },
  "a chain by previous_response_id is one session": async () => {
    const before = (await sessions()).length;
    const a = await ask(client, "Which badge do I have?");
    const b = await streamed(client, "My locker is L77.", { previous_response_id: a.id });
    let c = await ask(client, "Deploy it, please.", { previous_response_id: b.id, tools });
    while (calls(c).length) c = await ask(client, results(c), { previous_response_id: c.id, tools });
    assert.match(a.output_text, /B4411/);
    assert.match(c.output_text, /listening on/);
    await learned("L77");
    assert.equal((await sessions()).length, before + 1);
    assert.equal((await client.responses.retrieve(c.id)).output_text, c.output_text);
  },
  "reasoning items come back as they were, parallel calls": async () => {
    for (const go of [ask, streamed]) for (const c of [model_, client]) {
      const more = { tools, store: false, include: ["reasoning.encrypted_content"] };
      const h = [user(`[[think Both are needed.]] ${twoTools}`)];
      const r = await go(c, h, more);
      assert.deepEqual(calls(r).map((x) => JSON.parse(x.arguments).city), ["Oslo", "北京"]);
      assert.equal(r.output[0].summary[0].text, "Both are needed.");
      assert.ok(r.output[0].encrypted_content);
      assert.match((await go(c, [...h, ...r.output, ...results(r)], more)).output_text, /北京: rain/);
    }
  },
  "raw answers are the upstream's, byte for byte": async () => {
    const previous_response_id = (await ask(model_, sea)).id;
    for (const more of [{}, { stream: true }, { seed: 7, x: { a: 1 } }, { previous_response_id }]) {
      const body = { model, input: [user(sea)], ...more };
      await raw(model_, body); // the model counts cached tokens: from the second request on they stay
      assert.equal(await raw(client, body), await raw(model_, body));
    }
  },
  "errors come as the SDK expects them": async () => {
    await assert.rejects(ask(client, "x", { previous_response_id: "resp_none" }), OpenAI.BadRequestError);
    await assert.rejects(client.responses.retrieve("resp_none"), OpenAI.NotFoundError);
  },
  "a client that leaves in the middle of a stream: recorded as aborted": async () => {
    const before = await aborts();
    const stream = await ask(client, "My bicycle is green, and this is a sentence with many words to stream slowly.", { stream: true });
    for await (const e of stream) if (e.type === "response.output_text.delta") break; // the package cancels the request
    await until("the exchange is recorded as aborted", async () => (await aborts()) === before + 1, 3);
  },
});
