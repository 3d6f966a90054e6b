// A statement through all passes: its lines after every stage.

// What a place looks like after each pass that changed it: [{pass, name, lines}].
function history(functions, entry, places, node) {
  const events = [];
  let before = null;
  for (let pass = 0; pass < R.passes.length; pass++) {
    let name = functionAfter(entry, pass), lines = version(functions, name, pass);
    if (!lines.length && pass < loopsPass()) lines = version(functions, 'run', pass);
    const mine = (node ? linesOfOp(lines, node, pass >= loopsPass()) : places.flatMap(p => linesOfPlace(lines, p)))
                     .sort((a, b) => a.index - b.index),
          key = mine.map(l => l.text).join('\n');
    if (key !== before && (mine.length || events.length)) {
      events.push(
          {pass, name: lines.length && pass < loopsPass() ? lines[0][1].match(/@([\w.$-]+)/)[1] : name, lines: mine});
      before = key;
    }
  }
  return events;
}

// Of loops and of LLVM what calls a kernel comes first; addresses and loops around it are folded.
const isKernelCall = text => /call @heddle_(?!take|barrier|fail)/.test(text);
function irBlock(lines, before, loose) {
  const calls = lines.filter(l => isKernelCall(l.text));
  if (calls.length && lines.length > 12)
    return [
      irLines(calls, before, loose),
      h('details', {},
        h('summary', {}, plural(lines.length - calls.length, 'line') + ' of addresses, loops and barriers around'),
        irLines(lines.filter(l => !isKernelCall(l.text)), null, loose))
    ];
  return irLines(lines, before, loose);
}
function irLines(lines, before, loose) {
  const limit = 48, old = (before || []).map(l => l.text);
  let last = null;
  const rows = lines.slice(0, limit).map(line => {
    const out = [];
    if (line.inside && line.inside.index !== last) {
      last = line.inside.index;
      out.push(
          h('div', {class: 'line outer'},
            h('span', {class: 'text'}, h('span', {class: 'tag'}, 'inside '),
              irSpans(line.inside.text.trim().replace(/ \{$/, '')))));
    }
    const similar = before ? nearest(line.text, old) : null,
          same = similar !== null && sameWords(similar, line.text, loose);
    out.push(
        h('div', {class: 'line' + (before && !same ? (similar ? ' changed' : ' fresh') : '')},
          h('span', {class: 'text'},
            irSpans(
                line.text.trim(),
                before && !same && similar ? newTokens(similar.trim(), line.text.trim(), loose) : null))));
    return out;
  });
  return h(
      'div', {class: 'code', tabindex: 0, role: 'region', 'aria-label': 'IR'}, rows,
      lines.length > limit ? h('div', {class: 'line note'}, plural(lines.length - limit, 'more line')) : null,
      lines.length === 0 ? h('div', {class: 'line note'}, 'nothing is left of it here') : null);
}

// Every pass as a tick, those that changed the statement marked.
function passStrip(stages, events) {
  const did = new Set(events.map(e => e.pass));
  const tick = (p, i) => h('a', {
    href: '#passes/' + i,
    class: did.has(i) ? 'on' : '',
    title: p.flag + (did.has(i) ? ': changed it' : ''),
    'aria-label': p.flag
  });
  const ticks = stage => R.passes.map((p, i) => p.stage === stage ? tick(p, i) : null);
  return h(
      'div', {class: 'strip', role: 'group', 'aria-label': plural(events.length, 'pass') + ' changed it'},
      stages.map(
          stage => h('span', {class: 'strip-stage'}, h('span', {class: 'ticks'}, ticks(stage)), h('em', {}, stage))));
}

async function throughPasses(box, id) {
  const sc = scenario(), places = placesOf(id);
  if (!places.length) return show(box, h('p', {class: 'note'}, 'This stands in no op.'));
  show(box, h('p', {class: 'note'}, 'unpacking the IR'));
  const functions = (await ir()).functions, node = R.nodes[id];
  const events = history(functions, sc.entry, places, node.kind === 'op' ? node : null), stages = irStages();
  const strip = passStrip(stages, events);
  const cards = [];
  let shown = null;
  for (const stage of stages) {
    const mine = events.filter(e => R.passes[e.pass].stage === stage);
    if (!mine.length && shown) {
      cards.push(h('div', {class: 'stage same'}, h('h4', {}, stage), h('span', {class: 'note'}, 'as before')));
      continue;
    }
    if (!mine.length) continue;
    const last = mine[mine.length - 1];
    cards.push(
        h('div', {class: 'stage'},
          h('h4', {}, stage,
            h('small', {}, mine.map((e, i) => [i ? ', ' : '', link('passes', R.passes[e.pass].flag, e.pass)]))),
          irBlock(last.lines, shown && shown.lines, shown && shown.name !== last.name)));
    shown = last;
  }
  show(box, strip, h('div', {class: 'stages' + (state.side ? ' side' : '')}, cards));
}
