// One statement: where it stands in the JSON, what it became, what it costs.

const link = (view, text, arg) => h('a', {href: '#' + [view, arg].filter(x => x !== undefined).join('/')}, text);
const opLink = (id, text) => link('model', text || nodeTitle(R.nodes[id]), id);

function placesOf(id) { return [...new Set(opsUnder(id).map(i => R.nodes[i].place).filter(p => p >= 0))]; }
function sourceOf(id) {
  for (let i = id; i !== null; i = R.nodes[i].parent)
    if (R.nodes[i].source) return R.nodes[i].source;
  return null;
}

function phaseTable(rows) {
  const cells = row =>
      [row.phase.ops, '× ' + row.phase.turns, ['mono break', row.phase.operations], ['mono break', row.phase.bytes],
       ['right nowrap', asTime(row.floor)]];
  return tableOf(['phase', 'times', 'operations', 'bytes', ['right', 'least']], rows.map(cells), 'formulas');
}

function costCard(id) {
  const c = costOfNode(id), table = costTable(), p = peaks();
  if (!c.rows.length) return h('p', {class: 'note'}, 'It takes no time of its own in this call' + fusedInto(id) + '.');
  const intensity = c.operations / Math.max(1, c.bytes), words = R.device ? 'kernel' : 'phase';
  return h(
      'div', {},
      h('div', {class: 'tiles small'},
        tile(asTime(c.floor), 'least time', asPercent(c.floor / table.total.floor) + ' of the call'),
        table.measured ? tile(asTime(c.measured), 'measured', limitWords(c)) : null,
        tile(asOps(c.operations), 'operations'), tile(asBytes(c.bytes), 'bytes'),
        tile(
            digits(intensity, 2), 'op a byte',
            intensity > p.flops / p.bytes ? 'bound by operations' : 'bound by bytes')),
      h('details', {},
        h('summary', {}, plural(c.rows.length, words) + (R.device ? '' : ' between barriers, as formulas')),
        phaseTable(c.rows)));
}

// Where a statement went that has no phase of its own, if a pass has said so.
function fusedInto(id) {
  const places = placesOf(id);
  const into = R.remarks.find(
      r => r.kind === 'passed' && /^fuse\./.test(r.name) && r.loc >= 0 && places.includes(R.locs[r.loc][1]));
  return into ? ': ' + into.message : '';
}

function weightsOf(id) {
  const names = [...new Set(opsUnder(id).flatMap(i => R.nodes[i].params || []))];
  const rows = names.map(n => R.parameters.find(p => p.name === n)).filter(Boolean);
  if (!rows.length) return null;
  const shape = p => p.shape.join(' × ') + (p.counts.length ? ', × ' + p.counts.join(' × ') : '');
  const cells =
      p => [['mono break', p.name], ['mono', shape(p)], ['muted', p.layout], ['right nowrap', asBytes(p.bytes)]];
  return [h('h3', {}, 'Parameters'), tableOf(null, rows.map(cells))];
}

function placesCard(id) {
  const sc = scenario(), entry = sc && entryOf(sc.entry), places = placesOf(id), node = R.nodes[id];
  if (!entry) return null;
  const mine = r => r.loc >= 0 && (node.kind === 'op' ? r.loc === node.loc : places.includes(R.locs[r.loc][1]));
  const rows = arenaRows(entry, dimsOf(sc.key)).rows.filter(mine);
  if (!rows.length) return null;
  const cells = r => [
      ['mono', r.name], ['muted', r.in_place ? 'over its operand' : shortOp(r.kind)], ['right nowrap', asBytes(r.size)],
      ['right nowrap muted', 'at ' + asBytes(r.at)], ['right nowrap muted', 'ops ' + r.first + '–' + r.last]];
  return [
    h('h3', {}, 'Memory', h('small', {}, link('memory', 'the whole arena'))),
    tableOf(null, rows.slice(0, 12).map(cells))
  ];
}

// The JSON of a statement, the token of its op marked; and the block's statement, where it calls one.
function description(id, place) {
  const source = sourceOf(id), node = R.nodes[id];
  if (!source) return null;
  const [file, first, end] = source, last = Math.min(end, first + (node.kind === 'repeat' ? 24 : 12));
  const here = place && place[1] === file, outside = here && (place[2] < first || place[2] > last);
  return [
    h('h3', {}, 'In the description', h('small', {}, file + ':' + (here ? place[2] + ':' + place[3] : first))),
    sourceLines(file, first, last, here ? place[2] : 0),
    outside ?
        [h('p', {class: 'note'}, 'and in the block that it calls:'), sourceLines(file, place[2], place[2], place[2])] :
        null
  ];
}

// The line of the library that made an op, of its place: "stdlib.json:40:7".
const libraryLine = place => place && place[4] ? Number(place[4].split(':')[1]) : 0;

// The innermost block of the library that a statement calls, with the lines that made its ops.
function blockText(id) {
  const inside = under(id), node = R.nodes[id];
  const marked = new Set(opsUnder(id).map(i => libraryLine(R.places[R.nodes[i].place])));
  const holds = name => {
    const first = R.block_lines[name], count = (R.blocks[name] || '').split('\n').length;
    return [...marked].some(line => line >= first && line < first + count);
  };
  const blocks = R.nodes.filter(n => n.kind === 'block' && inside.includes(n.id) && R.blocks[n.label]);
  for (let i = node.parent; i !== null; i = R.nodes[i].parent)
    if (R.nodes[i].kind === 'block' && R.blocks[R.nodes[i].label]) blocks.push(R.nodes[i]);
  const block = blocks.find(n => holds(n.label)) || blocks[0];
  if (!block || node.kind === 'repeat') return null;
  const first = R.block_lines[block.label], only = node.kind === 'op';
  const line = (text, i) =>
      h('div', {class: 'line' + (only && marked.has(first + i) ? ' here' : '')},
        h('span', {class: 'number'}, first + i), h('span', {class: 'text'}, jsonSpans(text)));
  return h(
      'details', {open: only}, h('summary', {}, 'block `' + block.label + '` of the library'),
      h('div', {class: 'code source'}, R.blocks[block.label].trimEnd().split('\n').map(line)));
}

function neighbours(id) {
  const inside = new Set(under(id)), from = new Set(), to = new Set();
  for (const [a, b] of R.edges) {
    if (inside.has(b) && !inside.has(a)) from.add(a);
    if (inside.has(a) && !inside.has(b)) to.add(b);
  }
  if (!from.size && !to.size) return null;
  const links = ids => [...ids].map((i, n) => [n ? ', ' : '', opLink(i)]);
  return [
    h('h3', {}, 'Values'),
    h('p', {}, from.size ? ['takes ', links(from)] : null, from.size && to.size ? ' · ' : '',
      to.size ? ['gives to ', links(to)] : null)
  ];
}

function panelHead(id) {
  const node = R.nodes[id], kind = mainKind(id);
  const close = () => {
    state.op = null;
    go('model');
  };
  return h(
      'header', {class: 'op-head'}, h('h2', {}, nodeTitle(node), node.count ? ' × ' + node.count : ''),
      chip(kind, node.op ? node.op : KINDS_NAME(kind)),
      node.what && node.kind !== 'op' ? h('span', {class: 'muted'}, node.what) : null,
      h('button', {type: 'button', class: 'quiet right', onclick: close, 'aria-label': 'close'}, 'close'));
}

function callWords(sc) {
  const lengths = Object.entries(dimsOf(sc.key)).map(([name, n]) => name + ' = ' + n);
  return sc.title.toLowerCase() + ', ' + lengths.join(', ');
}

function opPanel(box, id) {
  const node = R.nodes[id], first = opsUnder(id).map(i => R.nodes[i]).find(n => n.place >= 0), sc = scenario();
  const remarks = R.remarks.filter(r => r.loc >= 0 && placesOf(id).includes(R.locs[r.loc][1]));
  const kernels = kernelsOf(id), stages = h('div', {});
  const sides = () => {
    state.side = !state.side;
    refresh();
  };
  const sideButton =
      h('button', {type: 'button', class: 'quiet', 'aria-pressed': String(Boolean(state.side)), onclick: sides},
        state.side ? 'stacked' : 'side by side');
  show(
      box, panelHead(id), h('p', {class: 'mono small muted break'}, node.path),
      description(id, first ? R.places[first.place] : null), blockText(id),
      sc ? [h('h3', {}, 'Cost', h('small', {}, callWords(sc))), costCard(id)] : null,
      h('h3', {}, 'Through the passes', h('span', {class: 'right'}, sideButton)), stages,
      kernels.length ? [h('h3', {}, plural(kernels.length, 'kernel')), kernels.map(kernelCard)] : null, weightsOf(id),
      placesCard(id), remarks.length ? [h('h3', {}, 'Remarks'), remarkList(remarks)] : null, neighbours(id));
  throughPasses(stages, id);
}
