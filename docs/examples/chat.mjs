// Asks the model through Hindsight with the openai package for Node.
//
//   npm install openai
//   node chat.mjs "Please remember that my badge is B4411."
//   node chat.mjs "Which badge do I have?"
//
// Each run is a process and a conversation of its own. What the second one knows
// of the first comes from the memory.
import OpenAI from "openai";

const { OPENAI_BASE_URL, MODEL, CHAT_USER } = process.env;
const words = process.argv[2];
if (!words) {
  console.error('say something: node chat.mjs "Which badge do I have?"');
  process.exit(2);
}

// The two things that are Hindsight's: the address, and whose memory it is.
const client = new OpenAI({
  baseURL: OPENAI_BASE_URL ?? "http://127.0.0.1:8080/v1",
  defaultHeaders: { "Hindsight-User": CHAT_USER ?? "ann" },
});

const stream = await client.chat.completions
  .create({ model: MODEL ?? "gpt-4o-mini", messages: [{ role: "user", content: words }], stream: true })
  .withResponse(); // for the headers alone

process.stdout.write("model:     ");
for await (const chunk of stream.data) {
  process.stdout.write(chunk.choices[0]?.delta.content ?? "");
}
const { headers } = stream.response;
console.log("\nhindsight:", headers.get("hindsight-status"), headers.get("hindsight-memories") ?? "");
