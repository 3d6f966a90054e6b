// Calls a running server with the `openai` package of npm: completions, streams, conversations or embeddings, models, and
// every class of error.
//   ./model serve --port 8080 --queue 64 &
//   npm install openai && node test/Serve/openai.mjs http://127.0.0.1:8080 [KEY]
// With KEY, one of --api-key-file, wrong keys are tried, too.
// One line a failure, then `N passed, N failed`.
import OpenAI from "openai";

const address = process.argv[2] ?? "http://127.0.0.1:8080";
const key = process.argv[3] ?? "unused";
const client = new OpenAI({ baseURL: address + "/v1", apiKey: key, maxRetries: 0 });
let passed = 0, failed = 0;

function check(what, good, more = "") {
  good ? ++passed : ++failed;
  if (!good) console.log("FAIL", what, more);
}

async function refused(what, kind, status, call) {
  try {
    await call();
    check(what, false, "no error");
  } catch (error) {
    check(what, error instanceof kind && error.status === status, `${error}`);
  }
}

const models = await client.models.list();
const model = models.data[0].id;
check("models", models.data.length === 1 && models.data[0].owned_by === "heddle");
check("model", (await client.models.retrieve(model)).id === model);

async function texts() {
  const ask = { model, prompt: "Once upon a time", max_tokens: 24, temperature: 0 };
  const whole = await client.completions.create(ask);
  check("completion", whole.choices[0].text.length > 0 && whole.usage.completion_tokens <= 24, JSON.stringify(whole));
  let text = "", usage;
  for await (const event of await client.completions.create({ ...ask, stream: true, stream_options: { include_usage: true } })) {
    text += event.choices[0]?.text ?? "";
    usage = event.usage ?? usage;
  }
  check("stream", text === whole.choices[0].text, text);
  check("usage of a stream", usage?.total_tokens === whole.usage.total_tokens, JSON.stringify(usage));
  const drawn = { ...ask, temperature: 0.9, seed: 11, n: 2, stop: ["zzz"], logprobs: 2, top_p: 0.9, frequency_penalty: 0.5 };
  const [a, b] = await Promise.all([client.completions.create(drawn), client.completions.create(drawn)]);
  check("equal seeds", JSON.stringify(a.choices) === JSON.stringify(b.choices) && a.choices.length === 2);
  check("fingerprint", a.system_fingerprint === b.system_fingerprint && a.system_fingerprint.length > 0);
  check("logprobs", a.choices[0].logprobs.tokens.length === a.choices[0].logprobs.token_logprobs.length);

  const stream = await client.completions.create({ ...ask, max_tokens: 200, stream: true });
  for await (const _ of stream) break; // leaving ends the request
  check("aborted", stream.controller.signal.aborted);

  await refused("a wrong value", OpenAI.BadRequestError, 400, () => client.completions.create({ ...ask, temperature: 9 }));
  await refused("another model", OpenAI.NotFoundError, 404, () => client.completions.create({ ...ask, model: "gpt-4" }));
  await refused("no vectors", OpenAI.NotFoundError, 404, () => client.embeddings.create({ model, input: "a" }));
}

async function conversations() {
  const messages = [{ role: "user", content: "Hello!" }];
  const answer = await client.chat.completions.create({ model, messages, max_tokens: 16, temperature: 0, logprobs: true, top_logprobs: 2 });
  check("chat", answer.choices[0].message.role === "assistant" && answer.choices[0].logprobs.content.length > 0, JSON.stringify(answer));
  let said = "";
  for await (const event of await client.chat.completions.create({ model, messages, max_tokens: 16, temperature: 0, stream: true }))
    said += event.choices[0]?.delta?.content ?? "";
  check("chat's stream", said === answer.choices[0].message.content, said);
  await refused("a tool that must be called", OpenAI.BadRequestError, 400,
    () => client.chat.completions.create({ model, messages, tool_choice: "required" }));
}

async function vectors() {
  const input = ["a good film", "a bad film"];
  const packed = await client.embeddings.create({ model, input }); // the client asks for base64
  const plain = await client.embeddings.create({ model, input, encoding_format: "float" });
  check("embeddings", packed.data.length === 2 && packed.data[1].index === 1 && packed.usage.total_tokens > 4);
  check("base64 and numbers", packed.data.every((one, i) => one.embedding.every((x, j) => Math.fround(x) === Math.fround(plain.data[i].embedding[j]))));
  check("length 1", Math.abs(packed.data[0].embedding.reduce((sum, x) => sum + x * x, 0) - 1) < 1e-5);
  const many = await Promise.all(Array.from({ length: 40 }, (_, i) => client.embeddings.create({ model, input: input[i % 2] })));
  check("in company", many.every((one, i) => JSON.stringify(one.data[0].embedding) === JSON.stringify(packed.data[i % 2].embedding)));
  await refused("a wrong value", OpenAI.BadRequestError, 400, () => client.embeddings.create({ model, input: [] }));
  await refused("another model", OpenAI.NotFoundError, 404, () => client.embeddings.create({ model: "gpt-4", input }));
  await refused("no texts", OpenAI.NotFoundError, 404, () => client.completions.create({ model, prompt: "a" }));
}

const paths = models.data[0].endpoints;
if (paths.includes("/v1/completions")) await texts();
if (paths.includes("/v1/chat/completions")) await conversations();
if (paths.includes("/v1/embeddings")) await vectors();

await refused("no such model", OpenAI.NotFoundError, 404, () => client.models.retrieve("gpt-4"));
await refused("a foreign page", OpenAI.PermissionDeniedError, 403, () => client.models.list({ headers: { Origin: "https://evil.example" } }));
await refused("no server", OpenAI.APIConnectionError, undefined, () => new OpenAI({ baseURL: "http://127.0.0.1:1/v1", apiKey: "a", maxRetries: 0 }).models.list());
if (process.argv[3])
  await refused("a wrong key", OpenAI.AuthenticationError, 401, () => new OpenAI({ baseURL: address + "/v1", apiKey: "wrong", maxRetries: 0 }).models.list());
if (paths.includes("/v1/completions")) { // more than the queue holds
  const asked = { model, prompt: "Once", max_tokens: 60 };
  const answers = await Promise.allSettled(Array.from({ length: 100 }, () => client.completions.create(asked)));
  const full = answers.filter(one => one.status === "rejected").map(one => one.reason);
  check("a full queue", full.length > 0 && full.every(error => error instanceof OpenAI.InternalServerError && error.status === 503), `${full[0]}`);
}

console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
