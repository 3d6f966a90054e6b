// Runs an ONNX graph through ONNX Runtime (npm's onnxruntime-node) and prints one line of JSON: medians in ms.
//
//   node ort.mjs GRAPH THREADS run|gen [key=value ...]
//
// run: every input is filled, dims by name (dim.T=64). gen: graphs whose past and present share a buffer: a prompt, then steps.
// Keys: prompt, steps, batch, seconds, level=all|extended|basic (of its optimiser), dump=FILE (the first output that is no cache, raw f32).
import { createRequire } from 'node:module'
import { writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

const [graph, threads, mode, ...rest] = process.argv.slice(2)
const keys = Object.fromEntries(rest.map(word => word.split('=')))
const ort = createRequire(pathToFileURL(process.cwd() + '/').href)('onnxruntime-node')

const session = await ort.InferenceSession.create(graph, {
  intraOpNumThreads: Number(threads), interOpNumThreads: 1, executionMode: 'sequential', graphOptimizationLevel: keys.level ?? 'all',
})
const number = (key, other) => Number(keys[key] ?? other)
const prompt = number('prompt', 64), steps = number('steps', 1), batch = number('batch', 1), seconds = number('seconds', 2)
const median = times => times.sort((a, b) => a - b)[times.length >> 1]
const count = shape => shape.reduce((a, b) => a * b, 1)

const data = { float32: n => new Float32Array(n), int64: n => new BigInt64Array(n), int32: n => new Int32Array(n) }
const filled = (type, n, name) => {
  const values = data[type](n)
  for (let i = 0; i < n; ++i)
    values[i] = type === 'float32' ? ((i * 2654435761) % 65536) / 65536 - 0.5 : type === 'int64' ? BigInt(name === 'position_ids' ? i : 100 + (i * 7919 + 13) % 20000) : 0
  return values
}
const of = name => session.inputMetadata.find(m => m.name === name)
const lengths = (name, other) => of(name).shape.map(d => typeof d === 'number' ? d : other(d))
const tensor = (name, values, shape) => new ort.Tensor(of(name).type, values, shape)

const first = {}, fetches = {}
const caches = session.inputNames.filter(name => name.startsWith('past_'))
for (const name of session.outputNames)
  if (mode === 'run' || !name.startsWith('present_')) fetches[name] = null
for (const name of caches) { // results are written where the next step reads them
  const shape = lengths(name, d => d === 'B' ? batch : prompt + steps)
  first[name] = tensor(name, new Float32Array(count(shape)), shape)
  fetches[name.replace('past_', 'present_')] = first[name]
}
const ids = (length, from) => {
  const put = { input_ids: (r, i) => 100 + (from + i + r) * 7919 % 20000, position_ids: (r, i) => from + i }
  const feeds = { ...first }
  for (const name of Object.keys(put))
    if (session.inputNames.includes(name))
      feeds[name] = tensor(name, BigInt64Array.from({ length: batch * length }, (_, k) => BigInt(put[name](Math.floor(k / length), k % length))), [batch, length])
  if (session.inputNames.includes('seqlens_k')) {
    feeds.seqlens_k = tensor('seqlens_k', new Int32Array(batch).fill(from + length - 1), [batch])
    feeds.total = tensor('total', Int32Array.of(from + length), [])
  }
  return feeds
}
if (mode === 'run')
  for (const name of session.inputNames) {
    const shape = lengths(name, d => number('dim.' + d, 1))
    first[name] = tensor(name, filled(of(name).type, count(shape), name), shape)
  }

const times = { prefill: [], decode: [] }
const timed = async (what, feeds, keep) => {
  const begin = performance.now()
  const results = await session.run(feeds, fetches)
  if (keep) times[what].push(performance.now() - begin)
  return results
}
const start = performance.now()
let results
for (let pass = 0; pass < 3 || (performance.now() - start < 1e3 * seconds && pass < 2000); ++pass) {
  results = await timed('prefill', mode === 'run' ? first : ids(prompt, 0), pass)
  for (let i = 0; mode === 'gen' && i + 1 < steps; ++i)
    await timed('decode', ids(1, prompt + i), pass)
}
if (keys.dump) {
  const kept = results[session.outputNames.find(name => !name.startsWith('present_'))].data
  writeFileSync(keys.dump, Buffer.from(kept.buffer, kept.byteOffset, kept.byteLength))
}
const report = { prefill_ms: median(times.prefill), passes: times.prefill.length, peak_mib: process.resourceUsage().maxRSS / 1024 }
if (times.decode.length) report.decode_ms = median(times.decode)
console.log(JSON.stringify(report))
process.exit(0)
