// Operations a byte against operations a second: what bounds each op, and how near it comes.

function rooflinePoints() {
  const table = costTable(), groups = new Map();
  for (const row of table.rows) {
    if (row.phase.node === null || !(row.bytes > 0)) continue;
    const key = row.phase.ops + '#' + alikeKey(row.phase.node);
    if (!groups.has(key))
      groups.set(key, {
        node: row.phase.node,
        ops: row.phase.ops,
        weight: row.phase.weight,
        operations: 0,
        bytes: 0,
        floor: 0,
        measured: 0,
        kind: kindOfPhase(row.phase)
      });
    const g = groups.get(key);
    for (const k of ['operations', 'bytes', 'floor', 'measured']) g[k] += row[k] || 0;
  }
  return [...groups.values()];
}

const RATES = ['', 'k', 'M', 'G', 'T'];
const timeOf = (g, table) => table.measured && g.measured > 0 ? g.measured : g.floor;

// Logarithmic scales that hold all points and the roof: x operations a byte, y operations a second.
function rooflineScales(points, table, p) {
  const W = 1000, H = 440, left = 64, bottom = 44, ridge = p.flops / p.bytes;
  const intensity = points.map(g => g.operations / g.bytes),
        rates = points.map(g => g.operations / timeOf(g, table) * 1e3);
  const x0 = Math.log10(Math.min(0.3, ...intensity) / 2), x1 = Math.log10(Math.max(100, ridge * 4, ...intensity) * 1.5);
  const y1 = Math.log10(Math.max(p.flops, ...rates) * 2.2);
  const y0 = Math.log10(Math.min(p.flops / 300, ...rates, 10 ** x0 * p.bytes) / 2);
  return {
    W,
    H,
    left,
    bottom,
    x0,
    x1,
    y0,
    y1,
    x: v => left + (W - left - 16) * (Math.log10(v) - x0) / (x1 - x0),
    y: v => H - bottom - (H - bottom - 12) * (Math.max(y0, Math.log10(v)) - y0) / (y1 - y0)
  };
}

function rooflineGrid({W, H, left, bottom, x0, x1, y0, y1, x, y}) {
  const decades = (a, b) => Array.from({length: Math.floor(b) - Math.ceil(a) + 1}, (_, i) => 10 ** (Math.ceil(a) + i));
  const upright = v =>
      s('g', {}, s('line', {x1: x(v), x2: x(v), y1: 12, y2: H - bottom, class: 'grid'}),
        s('text', {x: x(v), y: H - bottom + 16, class: 'tick mid'}, digits(v, 2)));
  const level = v =>
      s('g', {}, s('line', {x1: left, x2: W - 16, y1: y(v), y2: y(v), class: 'grid'}),
        s('text', {x: left - 6, y: y(v) + 4, class: 'tick right'}, scaled(v, RATES, 1000).trim()));
  return [decades(x0, x1).map(upright), decades(y0, y1).map(level)];
}

// Puts a name beside a circle where nothing is yet; `taken` are boxes [left, top, right, bottom].
function placeName(label, [cx, cy, r], taken, {W, left}) {
  const wide = 6.4 * label.length;
  const tries = [
    [r + 5, 4, 'start'], [-r - 5, 4, 'end'], [0, -r - 6, 'middle'], [0, r + 14, 'middle'], [r + 5, -r, 'start'],
    [r + 5, r + 12, 'start'], [-r - 5, -r, 'end']
  ];
  for (const [dx, dy, anchor] of tries) {
    const at = cx + dx - {start: 0, middle: wide / 2, end: wide}[anchor];
    const box = [at, cy + dy - 11, at + wide, cy + dy + 3];
    const meets = q => box[0] < q[2] && q[0] < box[2] && box[1] < q[3] && q[1] < box[3];
    if (at < left || box[2] > W - 16 || box[1] < 4 || taken.some(meets)) continue;
    taken.push(box);
    return s('text', {x: cx + dx, y: cy + dy, class: 'point-name', 'text-anchor': anchor}, label);
  }
  return null;
}

function rooflineMarks(points, table, p, scales) {
  const {x, y} = scales, total = points.reduce((a, g) => a + timeOf(g, table), 0) || 1;
  const spot = g => {
    const time = timeOf(g, table);
    return [x(g.operations / g.bytes), y(g.operations / time * 1e3), 4 + 22 * Math.sqrt(time / total)];
  };
  const taken = points.map(spot).map(([cx, cy, r]) => [cx - r, cy - r, cx + r, cy + r]);
  return points.slice().sort((a, b) => timeOf(b, table) - timeOf(a, table)).map((g, i) => {
    const [cx, cy, r] = spot(g), share = timeOf(g, table) / total, intensity = g.operations / g.bytes;
    const limit = y(Math.min(p.flops, intensity * p.bytes)), label = nodeTitle(R.nodes[g.node]) + ' ' + g.ops;
    const rate = scaled(g.operations / timeOf(g, table) * 1e3, RATES, 1000) + 'op/s';
    return s(
        'a', {href: '#model/' + g.node},
        s('title', {},
          label + ': ' + digits(intensity, 2) + ' op a byte, ' + rate + ', ' + asPercent(share) + ' of the time'),
        Math.abs(limit - cy) > 3 ? s('line', {x1: cx, x2: cx, y1: cy, y2: limit, class: 'gap'}) : null,
        s('circle', {cx, cy, r, class: 'point kind-' + g.kind}),
        i < 12 && share > 0.004 ? placeName(label, [cx, cy, r], taken, scales) : null);
  });
}

function rooflineChart(points, table) {
  const p = peaks(), inner = points.filter(g => g.operations > 0), scales = rooflineScales(inner, table, p);
  const {W, H, left, x0, x, y} = scales, low = 10 ** x0, ridge = p.flops / p.bytes;
  const roof = `M${x(low)} ${y(low * p.bytes)}L${x(ridge)} ${y(p.flops)}H${W - 16}`;
  const notes = table.measured ?
      [
        'Height: measured. The line from a point upward is what it could still gain; ',
        'above the roof its bytes come from caches. Area: share of the time.'
      ] :
      'Not measured: points lie on the roof. Area: share of the least time.';
  return h(
      'figure', {class: 'scroll'},
      s('svg', {viewBox: `0 0 ${W} ${H}`, class: 'roofline', role: 'img', 'aria-label': 'roofline'},
        rooflineGrid(scales), s('path', {d: roof, class: 'roof'}),
        s('text', {x: W - 20, y: y(p.flops) - 6, class: 'tick right'}, digits(p.flops / 1e9, 3) + ' Gop/s'),
        s('text', {x: x(low) + 26, y: y(low * p.bytes) + 4, class: 'tick'}, digits(p.bytes / 1e9, 3) + ' GB/s'),
        rooflineMarks(inner, table, p, scales),
        s('text', {x: (left + W) / 2, y: H - 6, class: 'tick mid'}, 'operations a byte'),
        s('text', {x: 14, y: 14, class: 'tick'}, 'op/s')),
      h('figcaption', {class: 'note'}, notes));
}

function deviceTable() {
  const phases = costTable().rows.map(r => r.phase).filter(p => p.device);
  if (!phases.length) return null;
  const heads = [
    'kernel', 'op', ['right', 'at least'], 'bound by', ['right', 'launches'], ['right', 'registers'],
    ['right', 'shared'], ['right', 'spills'], ['right', 'waves'], 'inner loop'
  ];
  const cells = p => [
      ['mono', p.kernels[0]], p.node === null ? p.ops : opLink(p.node, p.ops),
      ['right nowrap', asTime(p.device.bound_us / 1e3)], p.device.bound_by, ['right', p.device.launches],
      ['right', p.device.registers ?? '-'], ['right nowrap', asBytes(p.device.shared)],
      ['right' + (p.device.spills ? ' less' : ''), p.device.spills ?? '-'], ['right', digits(p.device.waves || 0, 2)],
      ['muted small', p.device.loop]];
  phases.sort((a, b) => b.device.bound_us - a.device.bound_us);
  return [h('h2', {}, 'Kernels on the ' + R.device.product), tableOf(heads, phases.map(cells))];
}

function rooflineTable(points, costs) {
  const p = peaks(), key = costs.measured ? 'measured' : 'floor', total = costs.total[key];
  const heads = [
    'op', ['wide-only', 'weight'], ['right', 'least'], costs.measured ? ['right', 'measured'] : null,
    ['right', 'op a byte'], 'bound by', 'share'
  ];
  const cells = g => [
      [null, opLink(g.node), ' ', h('span', {class: 'muted'}, g.ops)], ['mono muted ellipsis wide-only', g.weight],
      ['right nowrap', asTime(g.floor)], costs.measured ? ['right nowrap', asTime(g.measured)] : null,
      ['right', g.operations ? digits(g.operations / g.bytes, 2) : '-'],
      g.operations / p.flops > g.bytes / p.bytes ? 'operations' : 'bytes',
      ['bar-cell', bar(g[key] / total, g.kind), h('span', {class: 'share'}, asPercent(g[key] / total))]];
  const rows = points.slice().sort((a, b) => b[key] - a[key]).slice(0, 24).map(g => cells(g).filter(c => c !== null));
  return tableOf(heads.filter(c => c !== null), rows);
}

function peakField(name, label, unit) {
  const p = peaks();
  const change = event => {
    state.peaks = {flops: p.flops, bytes: p.bytes, [name]: Number(event.target.value) * 1e9};
    refresh();
  };
  const value = Number((p[name] / 1e9).toPrecision(4));
  return h(
      'label', {class: 'dim-field'}, h('span', {}, label),
      h('input', {type: 'number', min: 1, value, onchange: change}), h('span', {}, unit));
}

function rooflineView() {
  const costs = costTable(), points = rooflinePoints();
  const reset = () => {
    state.peaks = null;
    refresh();
  };
  return [
    h('h1', {class: 'view-title'}, 'Roofline'), scenarioBar(),
    h('div', {class: 'toolbar'}, peakField('flops', 'peak', 'Gop/s'), peakField('bytes', 'memory', 'GB/s'),
      state.peaks ? h('button', {type: 'button', class: 'quiet', onclick: reset}, 'as measured') : null),
    points.length ? rooflineChart(points, costs) :
                    h('p', {class: 'empty'}, 'Nothing of this call has a place in the model.'),
    legend(KIND_ORDER), deviceTable(), rooflineTable(points, costs)
  ];
}
