// The report, unpacked, and what follows from it.

async function unpack(id) {
  const raw = Uint8Array.from(atob(document.getElementById(id).textContent), c => c.charCodeAt(0));
  const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream('deflate'));
  return JSON.parse(await new Response(stream).text());
}

let R = null;                       // report.json without the IR
let lazyIr = null, lazyAsm = null;  // promises
const ir = () => lazyIr || (lazyIr = unpack('ir'));
const assembly = () => lazyAsm || (lazyAsm = unpack('asm'));

const state = {
  view: 'overview',
  scenario: null,
  dims: {},
  metric: 'floor',
  op: null,
  pass: null,
  fn: null,
  open: new Set(),
  theme: null
};

// -- kinds of ops

const KIND_ORDER = ['linear', 'attention', 'norm', 'elementwise', 'lookup', 'cache', 'mask', 'move'];
function kindOf(op) {
  const last = (op || '').split('.').pop();
  if (/^(linear|matmul|conv)$/.test(last)) return 'linear';
  if (/^(sdpa|attend|attention|alibi|bias|relative)/.test(last) || /^attn\./.test(op || '')) return 'attention';
  if (/norm|softmax|^mean$|^reduce$|cumsum/.test(last)) return 'norm';
  if (/^(embedding|gather|param|top_k)/.test(last)) return 'lookup';
  if (/^(append|load|store|cache)/.test(last)) return 'cache';
  if (/^mask\./.test(op || '') || /table|row_counts|block_runs|live_rows/.test(last)) return 'mask';
  if (/^(map|unary|binary|compare|select|cast|function)$/.test(last)) return 'elementwise';
  return 'move';
}
const kindOfPhase = phase => kindOf(phase.ops.split('+')[0].replace(/\*.*/, ''));

// -- nodes

let childrenOf = new Map(), phasesOfNode = new Map();
function prepare() {
  for (const node of R.nodes) {
    const key = node.parent === null ? -1 : node.parent;
    if (!childrenOf.has(key)) childrenOf.set(key, []);
    childrenOf.get(key).push(node.id);
  }
  for (const entry of R.entries)
    entry.phases.forEach((phase, i) => {
      phase.entry = entry.name;
      phase.index = i;
      if (phase.node === null) return;
      if (!phasesOfNode.has(phase.node)) phasesOfNode.set(phase.node, []);
      phasesOfNode.get(phase.node).push(phase);
    });
}
const children = id => childrenOf.get(id) || [];
function under(id) {
  const all = [id];
  for (let i = 0; i < all.length; i++) all.push(...children(all[i]));
  return all;
}
const opsUnder = id => under(id).filter(i => R.nodes[i].kind === 'op');
function mainKind(id) {
  const node = R.nodes[id];
  if (node.kind === 'op') return kindOf(node.op);
  const kinds = opsUnder(id).map(i => kindOf(R.nodes[i].op));
  return ['attention', 'linear', 'norm', 'lookup'].find(k => kinds.includes(k)) || kinds[kinds.length - 1] || 'move';
}
const shortOp = op => (op || '').split('.').pop();
function nodeTitle(node) {
  if (node.kind === 'repeat') return 'repeat';
  return node.label || shortOp(node.op) || node.what || node.kind;
}
// Statements that differ in numbers alone, as layers that are written out one by one.
function alikeKey(id) {
  while (R.nodes[id].kind !== 'statement' && R.nodes[id].parent !== null) id = R.nodes[id].parent;
  return nodeTitle(R.nodes[id]) + ' ' + (R.nodes[id].what || '').replace(/\d+/g, '#');
}
const locText = loc => {
  if (loc === null || loc === undefined || loc < 0) return '';
  const [, place] = R.locs[loc], [, file, line, column] = R.places[place];
  return file ? file.split('/').slice(-2).join('/') + ':' + line + ':' + column : '';
};

// -- IR

const versions = new Map();
function applyEdits(lines, edits) {
  const out = [];
  let at = 0;
  for (const [kept, dropped, added] of edits) {
    for (let i = 0; i < kept; i++) out.push(lines[at + i]);
    out.push(...added);
    at += kept + dropped;
  }
  for (; at < lines.length; at++) out.push(lines[at]);
  return out;
}
// The lines of a function after a pass.
function version(functions, name, pass) {
  const changes = functions[name] || [];
  let last = changes.length - 1;
  while (last >= 0 && changes[last][0] > pass) last--;
  if (last < 0) return [];
  const key = name + '@' + last;
  if (!versions.has(key)) {
    const before = last ? version(functions, name, changes[last - 1][0]) : [];
    versions.set(key, applyEdits(before, changes[last][1]));
  }
  return versions.get(key);
}
const functionAfter = (entry, pass) => pass >= loopsPass() ? 'heddle_entry_' + entry : entry;
const loopsPass = () => {
  const i = R.passes.findIndex(p => /^convert-heddle-to/.test(p.flag));
  return i < 0 ? R.passes.length : i;
};
const irStages = () => [...new Set(R.passes.map(p => p.stage))];

// In a block of the library all ops have the place of the call. Then an op's lines are those of its parameters and what
// reads them, or those under its own name.
function linesOfOp(lines, node, loops) {
  const all = linesOfPlace(lines, node.place),
        shared = R.nodes.filter(n => n.kind === 'op' && n.place === node.place).length > 1;
  if (!shared) return all;
  if (!loops && node.params.length) {
    const values = new Set(), kept = new Set();
    for (const l of all)
      if (node.params.some(p => l.text.includes('"' + p + '"'))) {
        values.add(l.text.trim().split(' ')[0]);
        kept.add(l.index);
      }
    for (const l of all)
      if (kept.has(l.parent) || tokens(l.text).some(t => t[1] === 'val' && values.has(t[0]))) kept.add(l.index);
    return all.filter(l => kept.has(l.index));
  }
  return all.filter(
      l => l.loc === node.loc && (loops || kindOf(node.op) === 'elementwise' || l.text.includes(node.op + ' ')));
}

// Lines of a place in one function, with the opener of the region that they stand in when that is another place.
function linesOfPlace(lines, place) {
  const out = [], stack = [];
  lines.forEach(([loc, text], index) => {
    const t = text.trim();
    if (t.startsWith('}')) {
      if (!t.endsWith('{')) stack.pop();
      return;
    }
    const here = loc >= 0 && R.locs[loc][1] === place;
    if (here) {
      const outer = stack[stack.length - 1];
      out.push({
        index,
        loc,
        text,
        parent: outer ? outer.index : -1,
        inside: outer && outer.loc >= 0 && R.locs[outer.loc][1] !== place &&
                !/func\.func|llvm\.func|model\.repeat/.test(outer.text) ?
            outer :
            null
      });
    }
    if (t.endsWith('{') && !t.startsWith('^')) stack.push({loc, text, index});
  });
  return out;
}
