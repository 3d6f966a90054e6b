// Values between statements, as lines on the left of the rows.

function edgesOf(rows) {
  const rowOf = new Map(rows.map((r, i) => [r.id, i])), lastRow = new Map();
  rows.forEach((r, i) => {
    for (let id = r.id; id !== null; id = R.nodes[id].parent) lastRow.set(id, i);
  });
  const shown = id => {
    while (id !== null && !rowOf.has(id)) id = R.nodes[id].parent;
    return id;
  };
  const inside = (id, outer) => {
    for (; id !== null; id = R.nodes[id].parent)
      if (id === outer) return true;
    return false;
  };
  const seen = new Map();
  for (const [a, b] of R.edges) {
    const from = shown(a), to = shown(b);
    if (from === null || to === null || from === to) continue;
    let i = rowOf.get(from), j = rowOf.get(to);
    const back = R.nodes[to].kind === 'repeat' && inside(a, to);
    if (!back && R.nodes[from].kind === 'repeat' && !inside(to, from)) i = lastRow.get(from);
    if (i === j) continue;
    seen.set(i + '-' + j, {i, j, back, from, to, nodes: [...((seen.get(i + '-' + j) || {}).nodes || []), a, b]});
  }
  const edges = [...seen.values()].sort((x, y) => Math.abs(x.j - x.i) - Math.abs(y.j - y.i));
  const lanes = [];
  for (const edge of edges) {
    const low = Math.min(edge.i, edge.j), high = Math.max(edge.i, edge.j);
    if (high - low === 1 && !edge.back) {
      edge.lane = 0;
      continue;
    }
    let lane = 1;
    while (lane < 9 && (lanes[lane] || []).some(o => o.from !== edge.from && low < o.high && o.low < high)) lane++;
    (lanes[lane] = lanes[lane] || []).push({low, high, from: edge.from});
    edge.lane = lane;
  }
  return {edges, lanes: Math.min(9, lanes.length)};
}

function gutter(rows) {
  const {edges, lanes} = edgesOf(rows), gap = 9, width = 16 + Math.max(1, lanes) * gap, x0 = width - 8;
  const y = i => i * ROW + ROW / 2;
  const selected = state.op;
  const touches = edge => selected !== null && (edge.from === selected || edge.to === selected);
  const paths = edges.map(edge => {
    const kind = mainKind(edge.from), x = x0 - edge.lane * gap, a = y(edge.i), b = y(edge.j), d = b > a ? 1 : -1,
          r = Math.min(6, Math.abs(b - a) / 2, x0 - x);
    const path = edge.lane === 0 ?
        `M${x0} ${a}V${b}` :
        `M${x0} ${a}H${x + r}Q${x} ${a} ${x} ${a + d * r}V${b - d * r}Q${x} ${b} ${x + r} ${b}H${x0}`;
    return s('path', {
      d: path,
      class: 'wire kind-' + kind + (edge.back ? ' back' : '') +
          (touches(edge)                                   ? ' on' :
               selected !== null && selected !== undefined ? ' off' :
                                                             '')
    });
  });
  const dots = rows.map(
      (row, i) => s(
          'circle',
          {cx: x0, cy: y(i), r: R.nodes[row.id].kind === 'repeat' ? 4.5 : 3.6, class: 'dot kind-' + mainKind(row.id)}));
  return s(
      'svg', {
        class: 'gutter',
        width,
        height: rows.length * ROW,
        viewBox: `0 0 ${width} ${rows.length * ROW}`,
        'aria-hidden': 'true'
      },
      paths, dots);
}
