// The model as a graph that folds: a row a statement, values as lines on the left.

const ROW = 32;

function visibleRows() {
  const rows = [];
  const wanted = state.search ?
      R.nodes
          .filter(
              n => [n.label, n.what, n.path, ...(n.params || [])].join(' ').toLowerCase().includes(
                  state.search.toLowerCase()))
          .map(n => n.id) :
      null;
  const keep = wanted && new Set(wanted.flatMap(id => {
                 const up = [];
                 for (let i = id; i !== null; i = R.nodes[i].parent) up.push(i);
                 return up;
               }));
  (function walk(ids, depth) {
    for (const id of ids) {
      if (keep && !keep.has(id)) continue;
      const inner = children(id), node = R.nodes[id];
      const only = inner.length === 1 && node.kind === 'statement' && R.nodes[inner[0]].kind === 'op';
      const expandable = inner.length > 0 && !only, open = expandable && (keep ? true : state.open.has(id));
      rows.push({id, depth, expandable, open});
      if (open) walk(inner, depth + 1);
    }
  })(children(-1), 0);
  return rows;
}
function openAtFirst() {
  for (const node of R.nodes)
    if (node.kind === 'repeat' || node.kind === 'if') state.open.add(node.id);
}

const shapeText = node => {
  if (node.kind === 'op') return (node.shape || []).join(' × ');
  const ops = opsUnder(node.id).map(i => R.nodes[i]).filter(n => n.shape && n.shape.length);
  return ops.length && node.kind !== 'repeat' ? ops[ops.length - 1].shape.join(' × ') : '';
};

function graphRow(row, total) {
  const node = R.nodes[row.id], cost = costOfNode(row.id), value = cost[state.metric], kind = mainKind(row.id);
  const [, format] = METRICS[state.metric];
  const select = () => {
    state.op = row.id;
    go('model', row.id);
  };
  const toggle = event => {
    event.stopPropagation();
    state.open.has(row.id) ? state.open.delete(row.id) : state.open.add(row.id);
    refresh();
  };
  return h(
      'div', {
        class: 'row' + (state.op === row.id ? ' selected' : '') + ' is-' + node.kind,
        role: 'treeitem',
        tabindex: state.op === row.id ? 0 : -1,
        'data-id': row.id,
        'aria-level': row.depth + 1,
        'aria-expanded': row.expandable ? String(row.open) : null,
        'aria-selected': String(state.op === row.id),
        onclick: select,
        vars: {'--depth': row.depth}
      },
      h('span', {class: 'name'},
        row.expandable ? h('button', {
          class: 'fold',
          type: 'button',
          tabindex: -1,
          'aria-label': row.open ? 'fold' : 'unfold',
          onclick: toggle
        },
                           row.open ? '▾' : '▸') :
                         h('span', {class: 'fold'}),
        h('b', {}, nodeTitle(node)),
        node.kind === 'repeat' && node.count ? h('span', {class: 'count'}, '× ' + node.count) : null,
        h('span', {class: 'what'},
          node.kind !== 'op'        ? node.what :
              node.what !== node.op ? shortOp(node.op) + ' ' + node.what :
              node.label            ? shortOp(node.op) :
                                      '')),
      h('span', {class: 'shape'}, shapeText(node)),
      h('span', {class: 'bar-cell'}, value > 0 ? bar(value / total, kind) : null),
      h('span', {class: 'value'}, value > 0 ? format(value) : ''));
}

function graphKeys(event) {
  const rows = [...event.currentTarget.querySelectorAll('.row')],
        at = rows.findIndex(r => r === document.activeElement);
  const move = i => {
    const row = rows[Math.max(0, Math.min(rows.length - 1, i))];
    if (row) {
      row.tabIndex = 0;
      row.focus();
    }
  };
  const id = at >= 0 ? Number(rows[at].dataset.id) : null;
  const keys = {
    ArrowDown: () => move(at + 1),
    ArrowUp: () => move(at - 1),
    Home: () => move(0),
    End: () => move(rows.length - 1),
    ArrowRight: () => {
      if (id !== null && !state.open.has(id)) {
        state.open.add(id);
        refresh({focus: id});
      }
    },
    ArrowLeft: () => {
      if (id !== null && state.open.has(id)) {
        state.open.delete(id);
        refresh({focus: id});
      } else if (id !== null && R.nodes[id].parent !== null)
        move(rows.findIndex(r => Number(r.dataset.id) === R.nodes[id].parent));
    },
    Enter: () => id !== null && rows[at].click(),
    ' ': () => id !== null && rows[at].click()
  };
  if (keys[event.key]) {
    event.preventDefault();
    keys[event.key]();
  }
}

function modelView() {
  const table = costTable();
  if (state.metric === 'measured' && !table.measured) state.metric = 'floor';
  const rows = visibleRows(), total = Math.max(...rows.map(r => costOfNode(r.id)[state.metric])) || 1;
  const metrics = Object.entries(METRICS).filter(([k]) => k !== 'measured' || table.measured);
  const graph =
      h('div', {class: 'graph', role: 'tree', 'aria-label': 'the model', onkeydown: graphKeys}, gutter(rows),
        h('div', {class: 'rows'}, rows.map(r => graphRow(r, total))));
  const first = graph.querySelector('.row');
  if (first && !graph.querySelector('.row[tabindex="0"]')) first.tabIndex = 0;
  const detail = h('aside', {class: 'detail', id: 'detail', 'aria-label': 'the chosen statement'});
  if (state.op !== null)
    opPanel(detail, state.op);
  else
    show(
        detail,
        h('div', {class: 'empty'},
          h('p', {}, 'Choose a statement: its place in the JSON, its IR after every stage, its kernel, its cost.'),
          h('p', {class: 'note'}, 'Arrow keys walk and fold, Enter opens, / searches.')));
  return [
    scenarioBar(),
    h('div', {class: 'toolbar'},
      segmented(
          'what the bars show', metrics.map(([k, [name, , title]]) => [k, name, title]), state.metric,
          k => {
            state.metric = k;
            refresh();
          }),
      h('input', {
        type: 'search',
        id: 'search',
        placeholder: 'search statements, weights, ops',
        'aria-label': 'search',
        value: state.search || '',
        oninput: event => {
          state.search = event.target.value;
          refresh({search: true});
        }
      }),
      h('button', {
        type: 'button',
        class: 'quiet',
        onclick: () => {
          R.nodes.forEach(n => children(n.id).length && state.open.add(n.id));
          refresh();
        }
      },
        'unfold all'),
      h('button', {
        type: 'button',
        class: 'quiet',
        onclick: () => {
          state.open.clear();
          refresh();
        }
      },
        'fold all')),
    h('div', {class: 'split' + (state.side ? ' wide' : '')}, h('div', {class: 'left'}, graph, legend(KIND_ORDER)),
      detail)
  ];
}
