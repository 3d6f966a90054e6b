// What each attention sees: the picture, its tiles, the bounds of its loops, what is skipped.

function maskPicture(mask) {
  const d = mask.drawn;
  if (!d || !d.tiles || d.left_out)
    return h('div', {class: 'empty'}, d && d.left_out ? String(d.left_out) : mask.unknown || 'not drawn');
  const W = 300, H = Math.max(40, Math.min(300, W * mask.rows / mask.keys));
  const cells = d.elements && d.elements.visible ? d.elements : d.tiles, levels = ['', '', '', '', ''];
  const rect = (k, r, w, hh) => `M${k.toFixed(2)} ${r.toFixed(2)}h${w.toFixed(2)}v${hh.toFixed(2)}h${(-w).toFixed(2)}z`;
  const sx = W / mask.keys, sy = H / mask.rows;
  cells.visible.forEach((row, i) => row.forEach((n, j) => {
    if (!n) return;
    const r = i * cells.cell[0], k = j * cells.cell[1], hh = Math.min(cells.cell[0], mask.rows - r),
          w = Math.min(cells.cell[1], mask.keys - k);
    levels[Math.min(4, Math.floor(4.999 * n / (hh * w)))] += rect(k * sx, r * sy, w * sx, hh * sy);
  }));
  let empty = '', partial = '', full = '';
  d.tiles.visible.forEach((row, i) => row.forEach((n, j) => {
    const r = i * d.tiles.cell[0], k = j * d.tiles.cell[1], hh = Math.min(d.tiles.cell[0], mask.rows - r),
          w = Math.min(d.tiles.cell[1], mask.keys - k);
    const text = rect(k * sx + 0.6, r * sy + 0.6, w * sx - 1.2, hh * sy - 1.2);
    if (!n)
      empty += text;
    else if (n === hh * w)
      full += text;
    else
      partial += text;
  }));
  return s(
      'svg', {
        class: 'mask',
        viewBox: `-1 -1 ${W + 2} ${H + 2}`,
        role: 'img',
        'aria-label': 'rows downward, keys to the right: ' + mask.mask
      },
      s('rect', {x: 0, y: 0, width: W, height: H, class: 'paper'}),
      levels.map((path, i) => path && s('path', {d: path, class: 'seen seen' + i})),
      empty && s('path', {d: empty, class: 'tile-empty'}), full && s('path', {d: full, class: 'tile-full'}),
      partial && s('path', {d: partial, class: 'tile-partial'}));
}

function maskCard(mask, index) {
  const c = mask.counts, l = mask.layer;
  const interval = list => list.map(i => '[' + i.begin + ', ' + i.end + ')').join(' and ') || 'none';
  const places = mask.places.map(p => (p.path || '') + (p.line ? '  ' + p.file.split('/').pop() + ':' + p.line : ''));
  const node =
      R.nodes.find(n => n.kind === 'op' && /sdpa|attend/.test(n.op || '') && mask.places.some(p => p.path === n.path));
  const share = c ? c.visited / c.tiles : null;
  return h(
      'article', {class: 'mask-card'},
      h('div', {class: 'mask-left'}, maskPicture(mask),
        c ? h('div', {class: 'tilebar', title: 'tiles'},
              [['empty', c.empty], ['partial', c.partial], ['full', c.full]].filter(x => x[1]).map(
                  ([k, n]) =>
                      h('span', {class: 'tile-' + k, 'width%': 100 * n / c.tiles},
                        n / c.tiles > 0.14 ? n + ' ' + k : ''))) :
            null),
      h('div', {}, h('h3', {class: 'mono'}, mask.mask),
        mask.simplified !== mask.mask ?
            h('p', {class: 'note'}, 'as the compiler has it: ', h('span', {class: 'mono'}, mask.simplified)) :
            null,
        h('p', {},
          c ?
              [
                h('b', {}, asPercent(c.visible / c.pairs)), ' of the pairs are seen, ',
                h('b', {}, asPercent(c.computed / c.pairs)), ' computed, ', asPercent(c.tested / c.pairs),
                ' tested one by one. ', h('b', {}, asPercent(1 - share)),
                ' of ' + c.tiles.toLocaleString('en-US') + ' tiles are never visited.'
              ] :
              mask.unknown || ''),
        l ? h('p', {}, asOps(l.operations), ' instead of ', asOps(l.operations_dense), ' a layer; keys and values ',
              asBytes(l.bytes), ' instead of ', asBytes(l.bytes_dense), '.') :
            null,
        mask.bounds ?
            h('dl', {class: 'bounds'},
              h('dt', {}, 'rows ' + mask.tile[0] + 't to ' + mask.tile[0] + 't + ' + (mask.tile[0] - 1) + ' visit'),
              h('dd', {class: 'mono'}, interval(mask.bounds.visible)), h('dt', {}, 'without a test inside'),
              h('dd', {class: 'mono'},
                interval(mask.bounds.full) + (mask.bounds.data_fills_more ? ', and where the data says so' : ''))) :
            null,
        mask.depends_on && mask.depends_on.data.length ?
            h('p', {class: 'note'}, 'depends on ',
              mask.depends_on.data.map(x => x.name + ' (' + x.source + ')').join(', ')) :
            null,
        h('p', {class: 'note'},
          mask.rows + ' × ' + mask.keys + ', ' + plural(mask.heads, 'head') +
              (mask.kv_heads !== mask.heads ? ' on ' + mask.kv_heads : '') + ', ' + plural(mask.layers, 'layer') +
              ' · ',
          node ? opLink(node.id, places[0]) : places[0],
          places.length > 1 ? ' and ' + (places.length - 1) + ' more' : '')));
}

// Masks by the entry that has them; of the cached step the rows are new positions.
function masksOfEntry(entry, masks) {
  const lengths = Object.entries(masks[0].dims).map(([name, n]) => name + ' = ' + n).join(', ');
  return [h('h2', {}, '@' + entry, h('small', {class: 'muted'}, ' ' + lengths)), masks.map(maskCard)];
}

function masksView() {
  const all = (R.masks && R.masks.attentions) || [], entries = [...new Set(all.map(m => m.entry))];
  const how =
      'Rows run down, keys to the right. Nothing is estimated: the cursor and the test of the binary are called.';
  return [
    h('h1', {class: 'view-title'}, 'Masks'),
    all.length ? h('p', {class: 'note'}, how) : h('p', {class: 'empty'}, 'This model has no attention.'),
    h('ul', {class: 'legend'}, h('li', {}, h('i', {class: 'sw seen4'}), 'seen'),
      h('li', {}, h('i', {class: 'sw tile-partial'}), 'tile visited, each pair tested'),
      h('li', {}, h('i', {class: 'sw tile-full'}), 'tile visited, no test'),
      h('li', {}, h('i', {class: 'sw tile-empty'}), 'tile never visited')),
    entries.map(entry => masksOfEntry(entry, all.filter(m => m.entry === entry)))
  ];
}
