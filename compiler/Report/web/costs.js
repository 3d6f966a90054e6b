// What is called with which lengths, and what that costs.

// -- what is called, with which lengths
// -----------------------------------------------------------------------------------

function scenarios() {
  const has = name => R.entries.find(e => e.name === name), out = [];
  if (has('once'))
    out.push(
        {key: 'once', title: 'Encoder', entry: 'once', profile: 'profile_encoder', says: 'the encoder, once a source'});
  if (has('step')) {
    out.push({
      key: 'prefill',
      title: 'Prefill',
      entry: 'step',
      profile: 'profile_prefill',
      says: 'the prompt, all tokens at once'
    });
    out.push({key: 'token', title: 'Token', entry: 'step', profile: 'profile_decode', says: 'one more token, cached'});
  }
  if (has('run'))
    out.push({
      key: 'run',
      title: 'Run',
      entry: 'run',
      profile: has('step') ? null : 'profile_prefill',
      says: 'tensors in, tensors out'
    });
  if (has('batch'))
    out.push({key: 'batch', title: 'Slots', entry: 'batch', profile: null, says: 'texts of their own, side by side'});
  return out;
}
const scenario = () => scenarios().find(x => x.key === state.scenario) || scenarios()[0];
const entryOf = name => R.entries.find(e => e.name === name);

function defaultDim(name, key) {
  const given = (entryOf((scenarios().find(x => x.key === key) || {}).entry) || {}).given;
  if (given && given[name]) return given[name];
  const bound = R.bounds[name], prompt = R.measured ? R.measured.prompt_tokens : Number(R.given.T || 128),
        encoder = Boolean(entryOf('once'));
  const within = n => bound ? Math.min(bound, n) : n;
  if (name === 'B') return key === 'batch' ? 4 : 1;
  if (name === 'new') return key === 'prefill' && !encoder ? Math.min(prompt, R.bounds.T || prompt) : 1;
  if (name === 'past') return key === 'prefill' || encoder ? 0 : Math.min(prompt, R.bounds.T || prompt);
  if (name === 'capacity') return Math.max(128, Math.min(2 * prompt, R.bounds.T || 2 * prompt));
  if (name === 'asked') return 4;
  if (name === 'slots') return 4;
  if (R.given[name]) return Number(R.given[name]);
  return within(prompt);
}
function dimsOf(key) {
  const sc = scenarios().find(x => x.key === key), entry = sc && entryOf(sc.entry), env = {},
        order = ['B', 'T', 'S', 'new', 'past', 'capacity'];
  if (!entry) return {threads: 1};
  const rank = name => order.includes(name) ? order.indexOf(name) : order.length;
  for (const name of entry.dims.slice().sort((a, b) => rank(a) - rank(b)))
    env[name] = (state.dims[key] || {})[name] ?? defaultDim(name, key);
  env.threads = (state.dims[key] || {}).threads || 1;
  return env;
}

// -- cost
// ---------------------------------------------------------------------------------------------------------------

const ASSUMED = {
  flops: 1e11,
  bytes: 2e10
};
function peaks() {
  const b = R.measured, d = R.device;
  if (state.peaks) return {...state.peaks, from: 'typed in'};
  if (d && d.operations_f32)
    return {flops: d.operations_f32, bytes: d.bandwidth, from: 'of the ' + d.product + ', f32, from its data sheet'};
  if (b && b.machine_flops_per_s)
    return {flops: b.machine_flops_per_s, bytes: b.machine_bytes_per_s, from: 'measured on ' + b.processor};
  return {...ASSUMED, from: 'assumed: not measured'};
}
function costOfPhase(phase, env, p = peaks()) {
  const operations = phase.turns * (evaluate(phase.operations, env) || 0),
        bytes = phase.turns * (evaluate(phase.bytes, env) || 0);
  const computing = operations / p.flops * 1e3, moving = bytes / p.bytes * 1e3;
  return {operations, bytes, floor: Math.max(computing, moving), bound: computing > moving ? 'operations' : 'bytes'};
}
// What was measured of a call: a row a phase, in their order. Of another version of the model nothing fits.
function measuredOf(sc, phases) {
  const profile = sc.profile && R.measured && R.measured[sc.profile];
  return profile && profile.length === phases.length ? profile : null;
}

let costs = null;  // of the scenario at hand
const NOTHING = {
  operations: 0,
  bytes: 0,
  floor: 0,
  measured: 0
};
function costTable() {
  if (!scenario()) return {rows: [], total: NOTHING, byNode: new Map(), env: {}, measured: false, cache: new Map()};
  const sc = scenario(), env = dimsOf(sc.key), key = JSON.stringify([sc.key, env, state.peaks]);
  if (costs && costs.key === key) return costs;
  const entry = entryOf(sc.entry),
        rows = entry.phases.map(phase => ({phase, ...costOfPhase(phase, env), measured: null}));
  const profile = measuredOf(sc, rows);
  if (profile) rows.forEach((row, i) => row.measured = profile[i].ms);
  const total = {operations: 0, bytes: 0, floor: 0, measured: 0}, byNode = new Map();
  for (const row of rows) {
    for (const k of Object.keys(total)) total[k] += row[k] || 0;
    if (row.phase.node === null) continue;
    if (!byNode.has(row.phase.node)) byNode.set(row.phase.node, []);
    byNode.get(row.phase.node).push(row);
  }
  costs = {key, rows, total, byNode, env, entry, measured: Boolean(profile), cache: new Map()};
  return costs;
}
function costOfNode(id) {
  const table = costTable();
  if (table.cache.has(id)) return table.cache.get(id);
  const sum = {operations: 0, bytes: 0, floor: 0, measured: 0, rows: []};
  for (const i of under(id))
    for (const row of table.byNode.get(i) || []) {
      for (const k of ['operations', 'bytes', 'floor', 'measured']) sum[k] += row[k] || 0;
      sum.rows.push(row);
    }
  table.cache.set(id, sum);
  return sum;
}
const METRICS = {
  floor: ['least time', asTime, 'the longer of operations at the peak and bytes at the speed of memory'],
  measured: ['measured', asTime, 'of MODEL bench --profile'],
  operations: ['operations', asOps, 'multiplications and additions of products'],
  bytes: ['bytes', asBytes, 'what must be read and written at least once']
};
