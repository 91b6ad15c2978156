// Vercel's ai package with @ai-sdk/openai-compatible and with @ai-sdk/openai
// in chat and in responses mode, unmodified, no header of ours: generateText,
// streamText, tool loops; the second session knows what the first one taught.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";
import { aborts, base, deploy, direct, learned, model, run, sea, sessions, twoTools, until } from "./suite.mjs";

const providers = (baseURL) => ({
  compatible: createOpenAICompatible({ name: "scripted", baseURL, apiKey: "sk-conformance" }).chatModel(model),
  openai: createOpenAI({ baseURL, apiKey: "sk-conformance" }).chat(model),
  responses: createOpenAI({ baseURL, apiKey: "sk-conformance" }).responses(model),
});
const [ours, upstream] = [providers(base), providers(direct)];
const tools = {
  deploy: tool({ description: "Deploys the service.", inputSchema: z.object({ port: z.number() }), execute: deploy }),
  forecast: tool({ description: "Tells the forecast.", inputSchema: z.object({ city: z.string() }), execute: ({ city }) => `${city}: rain.` }),
};
const stopWhen = stepCountIs(5);
const user = (content) => ({ role: "user", content });

async function streamed(llm, prompt, more) {
  const r = streamText({ model: llm, prompt, ...more });
  let text = "";
  for await (const piece of r.textStream) text += piece;
  return [text, r];
}

// conversation says one thing after the other, the history kept as the guides show it.
async function conversation(llm, ...words) {
  const messages = [];
  let last;
  for (const w of words) {
    messages.push(user(w));
    last = await generateText({ model: llm, system: "You help.", messages, tools, stopWhen });
    messages.push(...last.response.messages);
  }
  return last;
}

const version = (name) => `${name} ${createRequire(import.meta.url)(`${name}/package.json`).version}`;
console.log(["ai", "@ai-sdk/openai-compatible", "@ai-sdk/openai"].map(version).join(", "), "node", process.version);
await run("ai_sdk", {
  "a first session with tool steps, openai-compatible: it is one session and is reflected": async () => {
    const last = await conversation(ours.compatible, "My name is Ann and my badge is B4411.", "Please deploy the web service.");
    assert.equal(last.steps.length, 3);
    assert.match(last.text, /8080/);
    assert.match(last.text, /8081/);
    await until("the session is listed", async () => (await sessions()).length);
    assert.equal((await sessions()).length, 1);
    await learned("Ann", "8081");
  },
  "a first session, openai in chat mode": async () => {
    const before = (await sessions()).length;
    const last = await conversation(ours.openai, "I prefer tabs over spaces.", "My locker is L77.");
    assert.match(last.text, /noted/);
    await learned("tabs", "L77");
    assert.equal((await sessions()).length, before + 1);
  },
  "a first session, openai in responses mode: past answers are references to items": async () => {
    const before = (await sessions()).length;
    const last = await conversation(ours.responses, "My boat is B77.", "Please deploy the web service.", "My tent is T9.");
    assert.match(last.text, /noted/);
    await learned("B77", "T9");
    assert.equal((await sessions()).length, before + 1);
  },
  "a second session knows: generateText and streamText with each provider": async () => {
    for (const llm of Object.values(ours)) {
      assert.match((await generateText({ model: llm, prompt: "What is my name?" })).text, /Ann/);
      const [text, r] = await streamed(llm, "Which locker do I have?");
      assert.match(text, /L77/);
      assert.equal(await r.finishReason, "stop");
    }
  },
  "nothing is given that wasn't asked for": async () => {
    for (const name of Object.keys(ours)) {
      const want = (await generateText({ model: upstream[name], prompt: sea })).text;
      assert.equal((await generateText({ model: ours[name], prompt: sea })).text, want);
      assert.equal((await streamed(ours[name], sea))[0], want);
    }
  },
  "streamed tool loops with parallel calls": async () => {
    for (const llm of Object.values(ours)) {
      const [text, r] = await streamed(llm, twoTools, { tools, stopWhen });
      assert.match(text, /北京: rain/);
      const steps = await r.steps;
      assert.deepEqual(steps[0].toolCalls.map((c) => c.input.city), ["Oslo", "北京"]);
    }
  },
  "a caller that aborts in the middle of a stream: recorded as aborted": async () => {
    const before = await aborts();
    const stop = new AbortController();
    const r = streamText({
      model: ours.compatible, abortSignal: stop.signal,
      prompt: "My bicycle is green, and this is a sentence with many words to stream slowly.",
    });
    for await (const _ of r.textStream) stop.abort();
    await until("the exchange is recorded as aborted", async () => (await aborts()) === before + 1, 3);
  },
});
