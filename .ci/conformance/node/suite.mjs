// What the Node suites share: where the stack is (stack.py says it by the
// environment), its admin API, and a runner whose last line counts the checks.
const admin = process.env.HINDSIGHT_ADMIN;

export const base = process.env.HINDSIGHT_BASE;
export const direct = process.env.MODEL_BASE;
export const model = "scripted-1";
export const twoTools = 'Compare them: [[tool forecast {"city":"Oslo"}]] [[tool forecast {"city":"北京"}]]';
export const sea = "How deep is the Mariana Trench?"; // nothing that is taught answers it

// picture is one pixel.
export const picture = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNg" +
  "YGBgAAAABQABh6FO1AAAAABJRU5ErkJggg==";

// deploy is what the tool says: the port that is free is the second one tried.
export const deploy = ({ port }) =>
  port === 8081 ? `ok: deployed, listening on ${port}.` : `Error: port ${port} is already in use by nginx; try 8081`;

export async function api(path) {
  const r = await fetch(admin + path, { headers: { Authorization: `Bearer ${process.env.HINDSIGHT_TOKEN}` } });
  if (!r.ok) throw new Error(`${path}: ${r.status} ${await r.text()}`);
  return r.json();
}

export const sessions = async () => (await api("/api/v1/sessions?limit=1000")).sessions;

// until waits for a condition and returns its value.
export async function until(what, done, seconds = 30) {
  for (const end = Date.now() + seconds * 1000; ; ) {
    const value = await done();
    if (value) return value;
    if (Date.now() > end) throw new Error(`not after ${seconds} s: ${what}`);
    await new Promise((wake) => setTimeout(wake, 50));
  }
}

// learned waits until idle sessions are reflected and each word is in a memory.
export const learned = (...words) =>
  until(`learned ${words}`, async () => {
    const { memories } = await api("/api/v1/memories?limit=200");
    return words.every((w) => memories.some((m) => m.text.includes(w)));
  });

// aborts counts the exchanges whose client is recorded to have left.
export async function aborts() {
  const all = await Promise.all((await sessions()).map((s) => api(`/api/v1/sessions/${s.id}`)));
  return all.flatMap((s) => s.exchanges).filter((x) => x.status === "aborted").length;
}

export async function run(suite, checks) {
  let failed = 0;
  for (const [name, check] of Object.entries(checks)) {
    const start = Date.now();
    try {
      await check();
      console.log(`ok    ${name} (${((Date.now() - start) / 1000).toFixed(1)} s)`);
    } catch (e) {
      failed++;
      console.log(`FAIL  ${name}\n${e.stack ?? e}\n`);
    }
  }
  console.log(`${suite}: ${Object.keys(checks).length - failed} passed, ${failed} failed`);
  process.exitCode = failed ? 1 : 0;
}
