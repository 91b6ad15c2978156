// The official TypeScript client of MCP over standard input and output, streamable
// HTTP, SSE and WebSocket, and the Inspector's command line, unmodified: one memory
// for all of them, beside a running server; wrong and missing tokens are refused.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { WebSocketClientTransport } from "@modelcontextprotocol/sdk/client/websocket.js";
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import WS from "ws";
import { run, until } from "./suite.mjs";

const { HINDSIGHT_ADMIN: admin, HINDSIGHT_TOKEN: token, HINDSIGHT_BINARY: binary, HINDSIGHT_DATA_DIR: dataDir } = process.env;
const env = { ...process.env, HINDSIGHT_LOG_LEVEL: "warn" };
const bearer = (t) => (t ? { Authorization: `Bearer ${t}` } : {});

// ways open a transport with a token; standard input and output needs none.
const ways = {
  "standard input and output": () => new StdioClientTransport({ command: binary, args: ["mcp", "--data-dir", dataDir], env }),
  "streamable HTTP": (t) => new StreamableHTTPClientTransport(new URL(admin + "/mcp"), { requestInit: { headers: bearer(t) } }),
  SSE: (t) => new SSEClientTransport(new URL(admin + "/mcp/sse"), { requestInit: { headers: bearer(t) } }),
  WebSocket: (t) => {
    // The transport takes the system's WebSocket, which sends no headers.
    globalThis.WebSocket = class extends WS {
      constructor(url, protocol) {
        super(url, protocol, { headers: bearer(t) });
      }
    };
    return new WebSocketClientTransport(new URL(admin.replace("http", "ws") + "/mcp/ws"));
  },
};

async function connected(way, work, t = token) {
  const client = new Client({ name: "conformance", version: "1.0.0" });
  await client.connect(ways[way](t));
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

// call calls a tool; the client itself holds the answer against the output schema.
async function call(client, name, args) {
  await client.listTools();
  const result = await client.callTool({ name, arguments: args }, undefined, { timeout: 30_000 });
  assert.ok(!result.isError, JSON.stringify(result));
  return result.structuredContent;
}

const found = (result, word) => assert.ok(result.results.some((r) => r.text.includes(word)), JSON.stringify(result));

// inspect runs the Inspector's command line on a target.
async function inspect(target, ...args) {
  const at = new URL("./node_modules/.bin/mcp-inspector", import.meta.url).pathname;
  const { stdout } = await promisify(execFile)(at, ["--cli", ...target, ...args], { env, timeout: 60_000 });
  return JSON.parse(stdout);
}

const header = ["--header", `Authorization: Bearer ${token}`];
const targets = {
  "standard input and output": [[binary, "mcp"], []],
  "streamable HTTP": [[`${admin}/mcp`, "--transport", "http"], header],
  SSE: [[`${admin}/mcp/sse`, "--transport", "sse"], header],
};

const checks = {};
for (const [n, way] of Object.keys(ways).entries()) {
  const pet = ["canary", "tortoise", "hamster", "axolotl"][n];
  checks[`the TypeScript client over ${way}: what is written there everybody finds`] = async () => {
    const wrote = await connected(way, (c) => call(c, "memory_write", { content: `My ${pet} is called Pip.` }));
    assert.equal(wrote.result, "created");
    for (const reader of Object.keys(ways)) {
      found(await connected(reader, (c) => call(c, "memory_search", { query: `What is my ${pet} called?` })), pet);
    }
  };
  checks[`the TypeScript client over ${way}: errors, resources, notifications, the prompt`] = () =>
    connected(way, async (c) => {
      await assert.rejects(c.callTool({ name: "memory_search", arguments: { query: "x", top_k: "many" } }),
        (e) => e.code === -32602 && e.data?.argument === "top_k");
      const { id } = await call(c, "memory_write", { content: `My ${pet} eats greens of kind ${n}.` });
      const told = [];
      c.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => told.push(params.uri));
      await c.subscribeResource({ uri: `memory://${id}` });
      const { contents } = await c.readResource({ uri: `memory://${id}` });
      assert.equal(JSON.parse(contents[0].text).id, id);
      assert.ok((await c.listResources()).resources.some((r) => r.uri === `memory://${id}`));
      assert.equal((await c.listResourceTemplates()).resourceTemplates.length, 3);
      let confidence = 0.5;
      await until("the client is told of a change", async () => {
        await call(c, "memory_update", { id, confidence: (confidence += 0.001) }); // the server may only just have begun to follow
        return told.includes(`memory://${id}`);
      });
      const prompt = await c.getPrompt({ name: "use_memory", arguments: { task: "to feed it", language: "zh" } });
      assert.match(prompt.messages[0].content.text, /记忆/);
    });
}
checks["the TypeScript client with a wrong token and none"] = async () => {
  for (const way of Object.keys(ways).slice(1)) {
    for (const t of ["", "nonsense"]) {
      await assert.rejects(connected(way, () => assert.fail("it was let in"), t), /401|authoriz/i, way);
    }
  }
};
for (const [n, [name, [target, auth]]] of Object.entries(targets).entries()) {
  checks[`the Inspector over ${name}`] = async () => {
    const { tools } = await inspect(target, "--method", "tools/list", ...auth);
    for (const t of tools) {
      assert.ok(t.inputSchema && t.outputSchema && t.annotations && t.description.length > 100, JSON.stringify(t));
    }
    const note = `My kettle number ${n} is green.`;
    const use = (tool, ...args) => inspect(target, "--method", "tools/call", "--tool-name", tool, ...args.flatMap((a) => ["--tool-arg", a]), ...auth);
    const wrote = await use("memory_write", `content=${note}`, "importance=0.8");
    assert.equal(wrote.structuredContent.result, "created");
    found((await use("memory_search", "query=kettle", "top_k=10")).structuredContent, note);
    const uri = `memory://${wrote.structuredContent.id}`;
    const { contents } = await inspect(target, "--method", "resources/read", "--uri", uri, ...auth);
    assert.equal(JSON.parse(contents[0].text).text, note);
    assert.ok((await inspect(target, "--method", "prompts/list", ...auth)).prompts.length === 1);
  };
}
checks["the Inspector with a wrong token and none"] = async () => {
  for (const [target] of [targets["streamable HTTP"], targets.SSE]) {
    for (const auth of [[], ["--header", "Authorization: Bearer nonsense"]]) {
      await assert.rejects(inspect(target, "--method", "tools/list", ...auth), /401|authoriz/i);
    }
  }
};

await run("mcp-node", checks);
