// onnx.js MODULES FOLDER LENGTH WIDTH THREADS: median milliseconds of the model in FOLDER.
const fs = require('fs'), path = require('path');
const [modules, folder, length, width, threads] = process.argv.slice(2);
const ort = require(path.join(modules, 'onnxruntime-node'));

function tensor(name, shape) {
  const bytes = fs.readFileSync(path.join(folder, name));
  return new ort.Tensor('float32', new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4), shape);
}

(async () => {
  const session = await ort.InferenceSession.create(path.join(folder, 'model.onnx'), {
    intraOpNumThreads: +threads, interOpNumThreads: 1, executionProviders: ['cpu']});
  const feeds = {};
  for (const n of ['q', 'k', 'v'])
    feeds[n] = tensor(n, [1, +length, +width]);
  if (fs.existsSync(path.join(folder, 'bias')))
    feeds.bias = tensor('bias', [1, 1, +length, +length]);
  const times = [], begin = Date.now();
  while (times.length < 4 || (Date.now() - begin < 2000 && times.length < 50)) {
    const work = process.cpuUsage(), clock = process.hrtime.bigint();
    await session.run(feeds);
    const used = process.cpuUsage(work);
    // One thread is timed by what it worked: others may have the core in between.
    times.push(threads == 1 ? (used.user + used.system) / 1e3 : Number(process.hrtime.bigint() - clock) / 1e6);
  }
  times.shift();
  times.sort((x, y) => x - y);
  console.log(times[times.length >> 1]);
})();
