// Calls a running server with the `openai` package of npm: completions, streams, models, and every class of error.
//   ./model serve --port 8080 --queue 64 &
//   npm install openai && node test/Serve/openai.mjs http://127.0.0.1:8080
// One line a failure, then `N passed, N failed`.
import OpenAI from "openai";

const address = process.argv[2] ?? "http://127.0.0.1:8080";
const client = new OpenAI({ baseURL: address + "/v1", apiKey: "unused", maxRetries: 0 });
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
await refused("no such model", OpenAI.NotFoundError, 404, () => client.models.retrieve("gpt-4"));
await refused("a foreign page", OpenAI.PermissionDeniedError, 403,
  () => client.completions.create(ask, { headers: { Origin: "https://evil.example" } }));

try { // a model with a template talks, one without says so
  const messages = [{ role: "user", content: "Hello!" }];
  const answer = await client.chat.completions.create({ model, messages, max_tokens: 16, temperature: 0, logprobs: true, top_logprobs: 2 });
  check("chat", answer.choices[0].message.role === "assistant" && answer.choices[0].logprobs.content.length > 0, JSON.stringify(answer));
  let said = "";
  for await (const event of await client.chat.completions.create({ model, messages, max_tokens: 16, temperature: 0, stream: true }))
    said += event.choices[0]?.delta?.content ?? "";
  check("chat's stream", said === answer.choices[0].message.content, said);
} catch (error) {
  check("chat without a template", error.code === "no_chat_template", `${error}`);
}

console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
