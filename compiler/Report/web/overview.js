// What the model is, and where bytes, operations and time go.

function scenarioBar() {
  const all = scenarios(), sc = scenario();
  if (!sc) return null;
  const env = dimsOf(sc.key);
  const field = name => {
    const bound = R.bounds[name];
    return h(
        'label', {class: 'dim-field', title: bound ? 'at most ' + bound : 'a length of this call'}, h('span', {}, name),
        h('input', {
          type: 'number',
          min: name === 'past' ? 0 : 1,
          max: bound,
          value: env[name],
          inputmode: 'numeric',
          onchange: event => {
            let n = Math.max(name === 'past' ? 0 : 1, Math.floor(Number(event.target.value) || 0));
            if (bound) n = Math.min(bound, n);
            state.dims[sc.key] = {...(state.dims[sc.key] || {}), [name]: n};
            refresh();
          }
        }));
  };
  const p = peaks(), table = costTable();
  return h(
      'div', {class: 'scenario'},
      segmented(
          'which call', all.map(x => [x.key, x.title, x.says]), sc.key,
          key => {
            state.scenario = key;
            refresh();
          }),
      h('div', {class: 'dims'}, Object.keys(env).map(field)),
      h('p', {class: 'note'}, sc.says, '; peak ', digits(p.flops / 1e9, 3), ' Gop/s and ', digits(p.bytes / 1e9, 3),
        ' GB/s ', p.from, table.measured ? ' · measured with ' + plural(R.measured.prompt_tokens, 'token') : ''));
}

function tile(value, label, note) {
  return h('div', {class: 'tile'}, h('b', {}, value), h('span', {}, label), note ? h('small', {}, note) : null);
}

function memoryTotal() {
  const sc = scenario();
  if (!sc) return {arena: 0, states: 0};
  const entry = entryOf(sc.entry), env = dimsOf(sc.key);
  const states = entry.states.reduce((a, x) => a + (evaluate(x.bytes, env) || 0), 0);
  return {arena: evaluate(entry.arena, env), states};
}

function stack(title, key, format) {
  const table = costTable(), by = {};
  for (const row of table.rows) {
    const k = kindOfPhase(row.phase);
    by[k] = (by[k] || 0) + (row[key] || 0);
  }
  const total = table.total[key];
  if (!(total > 0)) return null;
  const order = KIND_ORDER.filter(k => by[k] > 0).sort((a, b) => by[b] - by[a]);
  return h(
      'div', {class: 'stack-row'}, h('span', {class: 'stack-title'}, title),
      h('div', {
        class: 'stack',
        role: 'img',
        'aria-label': order.map(k => KINDS_NAME(k) + ' ' + asPercent(by[k] / total)).join(', ')
      },
        order.map(
            k =>
                h('span', {
                  class: 'part kind-' + k,
                  'width%': 100 * by[k] / total,
                  title: KINDS_NAME(k) + ': ' + format(by[k]) + ', ' + asPercent(by[k] / total)
                },
                  by[k] / total > 0.09 ? h('em', {}, KINDS_NAME(k) + ' ' + asPercent(by[k] / total)) : null))),
      h('span', {class: 'stack-total'}, format(total)));
}
const KIND_NAMES = {
  linear: 'linears',
  norm: 'norms',
  lookup: 'lookups',
  cache: 'caches',
  mask: 'masks',
  move: 'moves'
};
const KINDS_NAME = kind => KIND_NAMES[kind] || kind;
const legend = kinds =>
    h('ul', {class: 'legend'}, kinds.map(k => h('li', {}, h('i', {class: 'kind-' + k}), KINDS_NAME(k))));

// What a statement or a block takes by itself, without the blocks and statements in it.
function ownCost(id) {
  const table = costTable(), sum = {operations: 0, bytes: 0, floor: 0, measured: 0};
  for (const i of [id, ...children(id).filter(c => R.nodes[c].kind === 'op')])
    for (const row of table.byNode.get(i) || [])
      for (const k of Object.keys(sum)) sum[k] += row[k] || 0;
  return sum;
}

// The statement around a node, itself included.
function statementOf(id) {
  while (id !== null && R.nodes[id].kind !== 'statement') id = R.nodes[id].parent;
  return id;
}

function heaviest() {
  const table = costTable(), key = table.measured ? 'measured' : 'floor', groups = new Map();
  for (const node of R.nodes) {
    const cost = ['statement', 'block', 'repeat'].includes(node.kind) ? ownCost(node.id) : null;
    if (!cost || !(cost.floor > 0)) continue;
    const name = alikeKey(node.id) + '|' + (node.kind === 'block' ? node.path.replace(/^[^>]*|\d+/g, '') : '');
    const group = groups.get(name) || {node, count: 0, operations: 0, bytes: 0, floor: 0, measured: 0};
    for (const k of Object.keys(cost)) group[k] += cost[k];
    group.count++;
    groups.set(name, group);
  }
  const heads = [
    'statement', 'in the description', ['right', table.measured ? 'measured' : 'least time'],
    ['right wide-only', 'operations'], ['right wide-only', 'bytes'], 'share'
  ];
  const cells = ({node, count, ...c}) => {
    const statement = statementOf(node.id), source = sourceOf(node.id), share = c[key] / table.total[key];
    const what = node.kind === 'block' && statement !== null ? 'in ' + nodeTitle(R.nodes[statement]) : node.what;
    return [
      [
        null, opLink(node.id), ' ', h('span', {class: 'muted'}, what),
        count > 1 ? h('b', {class: 'times'}, ' × ' + count) : null
      ],
      ['muted', source ? source[0].split('/').pop() + ':' + source[1] : ''], ['right nowrap', asTime(c[key])],
      ['right nowrap wide-only', asOps(c.operations)], ['right nowrap wide-only', asBytes(c.bytes)],
      ['bar-cell', bar(share, mainKind(node.id), asPercent(share)), h('span', {class: 'share'}, asPercent(share))]
    ];
  };
  const ranked = [...groups.values()].sort((a, b) => b[key] - a[key]).slice(0, 10);
  return table.rows.length ? tableOf(heads, ranked.map(cells), 'heavy') :
                             h('p', {class: 'empty'}, 'Nothing takes time.');
}

const limitWords = c => !(c.measured > 0) ? '' :
    c.floor <= c.measured                 ? asPercent(c.floor / c.measured) + ' of the limit' :
                                            'faster than memory: from caches';

let allParameters = false;
function parameterBars() {
  const groups = new Map();  // those of layers that are written out one by one are one row
  for (const p of R.parameters) {
    const k = p.name.replace(/(?<!\{)\d+/g, '#') + p.shape + p.layout, g = groups.get(k);
    if (g) {
      g.bytes += p.bytes;
      g.count++;
      g.name = p.name.replace(/(?<!\{)\d+/g, '#');
    } else
      groups.set(k, {...p, count: 1});
  }
  const all = [...groups.values()].sort((a, b) => b.bytes - a.bytes), shown = allParameters ? all : all.slice(0, 12),
        most = all.length ? all[0].bytes : 1;
  const rest = all.slice(shown.length).reduce((a, p) => a + p.bytes, 0);
  return h(
      'div', {},
      h('table', {class: 'list params'},
        h('thead', {},
          h('tr', {}, h('th', {}, 'parameter'), h('th', {}, 'shape'), h('th', {class: 'wide-only'}, 'layout'),
            h('th', {class: 'right'}, 'bytes'), h('th', {class: 'wide-only'}, ''))),
        h('tbody', {},
          shown.map(
              p =>
                  h('tr', {}, h('td', {class: 'mono break'}, p.name),
                    h('td', {class: 'mono'},
                      p.shape.join(' × ') +
                          (p.counts.length ? ', × ' + p.counts.join(' × ') + ' layers' :
                               p.count > 1 ? ', × ' + p.count :
                                             '')),
                    h('td', {class: 'muted wide-only'}, p.layout), h('td', {class: 'right nowrap'}, asBytes(p.bytes)),
                    h('td', {class: 'bar-cell wide-only'},
                      bar(p.bytes / most, p.shape.length > 1 ? 'linear' : 'norm',
                          asPercent(p.bytes / R.model.blob_bytes))))))),
      all.length > 12 ? h('p', {},
                          h(
                              'button', {
                                type: 'button',
                                class: 'quiet',
                                onclick:
                                    () => {
                                      allParameters = !allParameters;
                                      refresh();
                                    }
                              },
                              allParameters ? 'show the largest only' :
                                              plural(all.length - 12, 'smaller one') + ', ' + asBytes(rest))) :
                        null);
}

function overview() {
  const table = costTable(), sc = scenario(), memory = memoryTotal(), t = R.target;
  const layers = R.nodes.filter(n => n.kind === 'repeat' && n.count).map(n => n.count);
  const changed = R.passes.filter(p => p.functions.length || p.module).length,
        missed = R.remarks.filter(r => r.kind === 'missed').length;
  const passesMs = R.passes.reduce((a, p) => a + p.ms, 0);
  const codeMs = Object.values(R.kernels).reduce((a, k) => a + k.cpu_ms, 0);
  const tokens = sc && sc.key === 'token' ? 1 : null;
  return [
    h('header', {class: 'hero'}, h('h1', {}, R.model.name || 'model'),
      h('p', {}, asCount(R.model.parameters) + ' parameters, ' + asBytes(R.model.blob_bytes),
        layers.length ? ', ' + layers.join(' + ') + ' layers' : '', ' · ', t.name, ' ', t.chip,
        t.lanes ? ' (' + t.lanes + ' lanes, ' + t.registers + ' registers)' : '', ' · ', R.version),
      h('p', {class: 'muted mono small'}, R.model.path)),
    scenarioBar(),
    h('div', {class: 'tiles'}, tile(asTime(table.total.floor), 'least time', 'at the peaks above'),
      table.measured ? tile(asTime(table.total.measured), 'measured', limitWords(table.total)) : null,
      tile(asOps(table.total.operations), 'operations', tokens ? 'a token' : ''),
      tile(
          asBytes(table.total.bytes), 'bytes moved',
          digits(table.total.operations / Math.max(1, table.total.bytes), 2) + ' op a byte'),
      tile(asBytes(memory.arena), 'arena', memory.states ? 'caches ' + asBytes(memory.states) : 'working memory'),
      tile(asBytes(R.model.blob_bytes), 'weights', plural(R.parameters.length, 'name'))),
    h('h2', {}, 'Where it goes'),
    h('div', {class: 'stacks'}, table.measured ? stack('measured', 'measured', asTime) : null,
      stack('least time', 'floor', asTime), stack('operations', 'operations', asOps), stack('bytes', 'bytes', asBytes)),
    legend(KIND_ORDER), h('h2', {}, 'Heaviest statements'), heaviest(), h('h2', {}, 'Parameters'), parameterBars(),
    h('h2', {}, 'How it was compiled'),
    h('p', {class: 'facts'}, link('passes', plural(R.passes.length, 'pass')), ', of which ', String(changed),
      ' changed something, in ', asTime(passesMs),
      codeMs ? '; code generation took ' + asTime(codeMs) + ' of processor time' : '', ' · ',
      link('remarks', plural(R.remarks.length, 'remark')), ', ', String(missed), ' of them about something missed · ',
      R.complaints.length ? link('remarks', plural(R.complaints.length, 'complaint')) : 'nothing to complain about')
  ];
}
