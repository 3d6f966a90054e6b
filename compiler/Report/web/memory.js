// The arena over time: a rectangle a result, as wide as its life, as high as its bytes.

function arenaRows(entry, env) {
  const total = evaluate(entry.arena, env), m = entry.memory;
  const rows = m.rows.map(r => ({...r, at: evaluate(r.offset, env), size: evaluate(r.bytes, env)}));
  return {rows, total};
}

function gantt(entry, env) {
  const all = arenaRows(entry, env), total = all.total, W = 1000, H = 380, left = 66, bottom = 30,
        count = entry.memory.steps.length;
  if (!all.rows.length || !(total > 0)) return h('p', {class: 'empty'}, 'This entry needs no arena.');
  const [from, to] = state.ops && state.ops.entry === entry.name ? [state.ops.from, state.ops.to] : [1, count],
               steps = entry.memory.steps.slice(from - 1, to);
  const rows =
      all.rows.filter(r => r.last >= from && r.first <= to)
          .map(r => ({...r, first: Math.max(r.first, from) - from + 1, last: Math.min(r.last, to) - from + 1}));
  const zoom = name => h('input', {
    type: 'number',
    min: 1,
    max: count,
    value: name === 'from' ? from : to,
    'aria-label': 'ops ' + name,
    onchange: e => {
      const range =
          {entry: entry.name, from, to, [name]: Math.max(1, Math.min(count, Math.floor(Number(e.target.value)) || 1))};
      if (range.from > range.to) range[name === 'from' ? 'to' : 'from'] = range[name];
      state.ops = range;
      refresh();
    }
  });
  const n = steps.length, x = i => left + (W - left - 6) * (i - 1) / n,
        y = b => H - bottom - (H - bottom - 22) * b / total;
  const live = steps.map((_, i) => aliveAt(rows, i + 1)), peak = live.indexOf(Math.max(...live));
  const ticks = [0, 0.25, 0.5, 0.75, 1].map(
      f =>
          s('g', {}, s('line', {x1: left, x2: W - 6, y1: y(total * f), y2: y(total * f), class: 'grid'}),
            s('text', {x: left - 6, y: y(total * f) + 4, class: 'tick right'}, asBytes(total * f))));
  const blocks = rows.slice().sort((a, b) => (a.in_place - b.in_place)).map(r => {
    const w = Math.max(2, x(r.last + 1) - x(r.first) - 1), hh = Math.max(1.5, y(r.at) - y(r.at + r.size) - 1),
          kind = r.kind === 'scratch' ? 'move' : kindOf(r.kind), node = nodeOfLoc(r.loc);
    return s(
        'a', {href: node === null ? '#memory' : '#model/' + node, class: 'block'},
        s('title', {},
          `${r.name}: ${r.kind}, ${asBytes(r.size)} at ${asBytes(r.at)}, ops ${r.first} to ${r.last}` +
              (r.in_place ? ', over its operand' : '')),
        s('rect', {
          x: x(r.first),
          y: y(r.at + r.size),
          width: w,
          height: hh,
          rx: 2,
          class: 'life kind-' + kind + (r.kind === 'scratch' ? w > 8 ? ' scratch' : ' scratch thin' : '') +
              (r.in_place ? ' over' : '')
        }),
        w > 8 * r.name.length && hh > 13 && !r.in_place ?
            s('text', {x: x(r.first) + 4, y: y(r.at + r.size) + Math.min(hh / 2 + 4, 13), class: 'life-name'}, r.name) :
            null);
  });
  const axis = steps.map(
      (st, i) =>
          i % Math.ceil(n / 12) === 0 ? s('text', {x: x(i + 1), y: H - 12, class: 'tick'}, shortOp(st.kind)) : null);
  return h(
      'figure', {class: 'scroll'},
      count > 40 ? h('div', {class: 'dim-field'}, h('span', {}, 'ops'), zoom('from'), h('span', {}, 'to'), zoom('to'),
                     h('span', {}, 'of ' + count)) :
                   null,
      s('svg', {viewBox: `0 0 ${W} ${H}`, class: 'gantt', role: 'img', 'aria-label': 'places of results over time'},
        ticks, blocks, axis, s('line', {x1: x(peak + 1), x2: x(peak + 1), y1: 4, y2: H - bottom, class: 'peak'}),
        s('text', {x: x(peak + 1) + 4, y: 12, class: 'tick'}, 'fullest at ' + shortOp(steps[peak].kind))),
      h('figcaption', {class: 'note'},
        'To the right: ops in order, those of a repeat once; upward: bytes of the arena. ',
        'Hatched: working memory of an op. Outlined: written over its operand.'));
}
function fullestMoment(entry, env) {
  const {rows} = arenaRows(entry, env), n = entry.memory.steps.length;
  return Math.max(0, ...Array.from({length: n}, (_, i) => aliveAt(rows, i + 1)));
}
function aliveAt(rows, i) {  // places may be shared by a result and what is written over it
  const spans =
      rows.filter(r => r.first <= i && r.last >= i).map(r => [r.at, r.at + r.size]).sort((a, b) => a[0] - b[0]);
  let sum = 0, end = 0;
  for (const [from, to] of spans) {
    sum += Math.max(0, to - Math.max(from, end));
    end = Math.max(end, to);
  }
  return sum;
}
function nodeOfLoc(loc) {
  if (loc === null || loc < 0) return null;
  const place = R.locs[loc][1], node = R.nodes.find(n => n.kind === 'op' && n.place === place);
  return node ? node.id : null;
}

function memoryTiles(entry, env) {
  const {arena, states} = memoryTotal(), weights = R.model.blob_bytes;
  const rows = arenaRows(entry, env).rows, apart = rows.filter(r => !r.in_place).reduce((a, r) => a + r.size, 0);
  const fullest = fullestMoment(entry, env);
  return h(
      'div', {class: 'tiles'},
      tile(asBytes(arena), 'arena', apart > arena ? asBytes(apart) + ' if nothing were shared' : ''),
      fullest ? tile(asBytes(fullest), 'alive at once', asPercent(fullest / arena) + ' of the arena') : null,
      states ? tile(asBytes(states), 'caches', plural(entry.states.length, 'state')) : null,
      tile(asBytes(weights), 'weights', 'mapped from the program'), tile(asBytes(arena + states + weights), 'all'));
}

// Why the arena is larger than what is alive at once, if it is.
function blockedPlaces(entry) {
  const use = entry.memory.use;
  if (!use) return null;
  const lengths = Object.entries(use.dims).map(([name, n]) => name + ' = ' + n).join(', ');
  const sums = asBytes(use.reserved) + ' reserved, ' + asBytes(use.alive) + ' alive at once (' + lengths + ')';
  const why = use.blocked ?
      [
        ': ', h('code', {}, use.blocked[0]), ' and ', h('code', {}, use.blocked[1]),
        ' are not needed at the same time, but what lies between them is needed with both'
      ] :
      ': no plan needs less';
  return h('p', {class: 'note'}, sums, why, '.');
}

function stateTable(entry, env) {
  if (!entry.states.length) return null;
  const rows =
      entry.states.map(x => [x.name, ['right nowrap', asBytes(evaluate(x.bytes, env))], ['mono break', x.bytes]]);
  return [h('h2', {}, 'Caches'), tableOf(['state', ['right', 'bytes'], 'as a formula'], rows)];
}

function largestPlaces(entry, env) {
  const rows = arenaRows(entry, env).rows.filter(r => !r.in_place).sort((a, b) => b.size - a.size).slice(0, 10);
  if (!rows.length) return null;
  const heads = [
    'result', 'op', ['right', 'bytes'], ['right wide-only', 'offset'], ['right', 'ops'], ['wide-only', 'as a formula']
  ];
  const cells = r => {
    const node = nodeOfLoc(r.loc);
    return [
      ['mono', node === null ? r.name : opLink(node, r.name)], ['muted', r.kind], ['right nowrap', asBytes(r.size)],
      ['right nowrap wide-only', asBytes(r.at)], ['right nowrap', r.first + '–' + r.last],
      ['mono muted break wide-only', r.bytes]
    ];
  };
  return [h('h2', {}, 'Largest places'), tableOf(heads, rows.map(cells))];
}

function memoryView() {
  const sc = scenario();
  if (!sc) return [h('h1', {class: 'view-title'}, 'Memory'), h('p', {class: 'empty'}, 'The model has no entry.')];
  const entry = entryOf(sc.entry), env = dimsOf(sc.key);
  return [
    h('h1', {class: 'view-title'}, 'Memory'), scenarioBar(), memoryTiles(entry, env),
    h('h2', {}, 'The arena over time'), gantt(entry, env), legend(KIND_ORDER),
    h('p', {class: 'formula mono small'}, 'arena = ' + entry.arena), blockedPlaces(entry), stateTable(entry, env),
    largestPlaces(entry, env)
  ];
}
