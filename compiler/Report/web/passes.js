// Every pass: time, ops, what it changed, and how to run it alone.

const changedSomething = p => p.functions.length > 0 || p.module;
const madeFirst = p => p.flag === 'import';  // the importer is no pass, but the first to be recorded

function passFilter(p) {
  if (state.hideSame !== false && !changedSomething(p)) return false;
  return !state.passSearch || p.flag.includes(state.passSearch);
}

function opsLine() {
  const w = 1304, hgt = 112, n = R.passes.length, most = Math.max(...R.passes.map(p => p.ops[1])),
        x = i => 6 + (w - 12) * (i + 0.5) / n;
  const y = ops => hgt - 20 - (hgt - 44) * Math.log(1 + ops) / Math.log(1 + most),
        slow = Math.max(...R.passes.map(p => p.ms), 1e-9);
  const stages = irStages();
  let path = '';
  R.passes.forEach((p, i) => {
    path += (i ? 'L' : 'M') + x(i).toFixed(1) + ' ' + y(p.ops[1]).toFixed(1);
  });
  const bands = stages.map((stage, k) => {
    const own = R.passes.map((p, i) => [p, i]).filter(([p]) => p.stage === stage), a = x(own[0][1]) - (w - 12) / n / 2,
          b = x(own[own.length - 1][1]) + (w - 12) / n / 2;
    return [
      s('rect', {x: a, y: 0, width: b - a, height: hgt, class: k % 2 ? 'band' : 'band alt'}),
      b - a > 34 ? s('text', {x: a + 4, y: 12, class: 'band-name'}, stage) : null
    ];
  });
  const bars = R.passes.map(
      (p, i) =>
          s('a', {href: '#passes/' + i},
            s('title', {}, p.flag + ': ' + asTime(p.ms) + ', ' + number(p.ops[0]) + ' to ' + number(p.ops[1]) + ' ops'),
            s('rect', {x: x(i) - 9, y: 0, width: 18, height: hgt, class: 'hit'}), s('rect', {
              x: x(i) - 6,
              y: hgt - 18 - 56 * Math.sqrt(p.ms / slow),
              width: 12,
              height: Math.max(1, 56 * Math.sqrt(p.ms / slow)),
              class: 'time' + (p.functions.length ? '' : ' same') + (state.pass === i ? ' chosen' : '')
            }),
            s('circle', {cx: x(i), cy: hgt - 8, r: 3, class: changedSomething(p) ? 'did' : 'did not'})));
  return h(
      'figure', {class: 'timeline'},
      s('svg',
        {viewBox: `0 0 ${w} ${hgt}`, class: 'pass-chart', role: 'img', 'aria-label': 'time and ops of every pass'},
        bands, bars, s('path', {d: path, class: 'ops'})),
      h('figcaption', {class: 'note'},
        'bars: time (square root); line: ops (logarithm), 1 to ' + most.toLocaleString('en-US') +
            '; dots: whether the pass changed anything'));
}

function passList() {
  const slow = Math.max(...R.passes.map(p => p.ms), 1e-9), out = [];
  let stage = null, hidden = 0;
  const flush = () => {
    if (hidden) out.push(h('div', {class: 'hidden-passes note'}, plural(hidden, 'pass') + ' that changed nothing'));
    hidden = 0;
  };
  R.passes.forEach((p, i) => {
    if (p.stage !== stage) {
      flush();
      stage = p.stage;
      const row = R.stages.find(x => x.name === stage),
            ms = R.passes.filter(x => x.stage === stage).reduce((a, x) => a + x.ms, 0);
      out.push(
          h('div', {class: 'stage-head'}, h('b', {}, stage), h('span', {class: 'right'}, ms ? asTime(ms) : ''),
            h('p', {class: 'note'},
              row && row.contract === 'held' ?
                  h('span', {class: 'held', title: 'the contract of the stage was checked'}, '✓ ') :
                  null,
              row ? row.says : '')));
    }
    if (!passFilter(p)) {
      hidden++;
      return;
    }
    flush();
    const delta = p.ops[1] - p.ops[0];
    out.push(
        h('a', {
          class: 'pass' + (state.pass === i ? ' selected' : '') + (changedSomething(p) ? '' : ' same'),
          href: '#passes/' + i,
          'aria-current': state.pass === i ? 'true' : null
        },
          h('span', {class: 'num'}, String(i).padStart(2, '0')), h('span', {class: 'flag'}, p.flag),
          h('span', {class: 'bar-cell'}, bar(Math.sqrt(p.ms / slow), 'time')),
          h('span', {class: 'ms'}, madeFirst(p) ? '' : asTime(p.ms)),
          h('span',
            {class: 'delta ' +
                 (delta > 0     ? 'more' :
                      delta < 0 ? 'less' :
                                  '')},
            i === 0                ? 'first' :
                delta              ? (delta > 0 ? '+' : '−') + Math.abs(delta).toLocaleString('en-US') :
                p.functions.length ? 'edits' :
                p.module           ? 'module' :
                                     '')));
  });
  flush();
  return h(
      'nav', {
        class: 'pass-list',
        'aria-label': 'passes',
        onkeydown: event => {
          if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
          const items = [...event.currentTarget.querySelectorAll('a.pass')], at = items.indexOf(document.activeElement);
          event.preventDefault();
          (items[at + (event.key === 'ArrowDown' ? 1 : -1)] || items[at] || items[0]).focus();
        }
      },
      out);
}

// -- one pass

function passTiles(p) {
  const sum = which => p.functions.reduce((a, f) => a + f[which], 0);
  return h(
      'div', {class: 'tiles small'}, madeFirst(p) ? null : tile(asTime(p.ms), 'time'),
      tile(number(p.ops[1]), 'ops', 'from ' + number(p.ops[0])),
      tile('+' + number(sum(2)) + ' −' + number(sum(1)), 'lines', plural(p.functions.length, 'function')),
      p.module ? tile('yes', 'module', 'attributes changed') : null);
}

function kindChanges(p) {
  const kinds = Object.entries(p.kinds).sort(([, x], [, y]) => Math.abs(y[1] - y[0]) - Math.abs(x[1] - x[0]));
  if (!kinds.length) return null;
  const one = ([kind, [before, after]]) =>
      h('span', {class: after > before ? 'more' : 'less'}, h('span', {class: 'mono'}, kind), ' ',
        before ? number(before) + ' → ' + number(after) : '+' + number(after));
  return h('div', {class: 'kinds'}, kinds.slice(0, 14).map(one));
}

function alone(p) {
  if (p.reproduce)
    return [h('h3', {}, 'Alone', h('small', {}, 'in the folder of --dump-ir')), commandLine(p.reproduce)];
  return h('p', {class: 'note'}, madeFirst(p) ? 'The importer makes the first IR of the description.' : p.pipeline);
}

function remarksOf(flag) {
  const mine = R.remarks.filter(r => r.pass === flag);
  if (!mine.length) return null;
  return h('details', {}, h('summary', {}, plural(mine.length, 'remark')), remarkList(mine));
}

// Which function of a pass is shown: that which was chosen, or the entry of the call at hand.
function shownFunction(p, i) {
  const names = p.functions.map(f => f[0]), entry = scenario() ? scenario().entry : 'run';
  if (names.includes(state.fn) || (state.fn === '*' && names.length > 1)) return state.fn;
  return names.includes(functionAfter(entry, i)) ? functionAfter(entry, i) : names[0];
}

function functionChoice(p, shown, again) {
  const choose = event => {
    state.fn = event.target.value;
    again();
  };
  const all =
      p.functions.length > 1 ? h('option', {value: '*', selected: shown === '*'}, 'all ' + p.functions.length) : null;
  const one = ([name, minus, plus]) =>
      h('option', {value: name, selected: name === shown}, name + '  −' + minus + ' +' + plus);
  return h('label', {}, 'function ', h('select', {onchange: choose}, all, p.functions.map(one)));
}

async function passDetail(box, i) {
  const p = R.passes[i], again = () => passDetail(box, i);
  show(box, h('p', {class: 'note'}, 'unpacking the IR'));
  const functions = (await ir()).functions, shown = shownFunction(p, i), diff = h('div', {});
  const only = state.onlyOp && state.op !== null ? placesOf(state.op) : null;
  const nothing = p.module ? 'It changed attributes of the module, no function.' : 'It changed nothing.';
  const onlyBox = state.op === null ?
      null :
      checkBox('only `' + nodeTitle(R.nodes[state.op]) + '`', Boolean(state.onlyOp), checked => {
        state.onlyOp = checked;
        again();
      });
  show(
      box,
      h('header', {class: 'op-head'}, h('h2', {class: 'mono'}, p.flag),
        h('span', {class: 'muted'}, 'pass ' + i + ', to stage ' + p.stage)),
      passTiles(p), kindChanges(p), alone(p), remarksOf(p.flag),
      shown ?
          [h('h3', {}, 'What changed'), h('div', {class: 'toolbar'}, functionChoice(p, shown, again), onlyBox), diff] :
          h('p', {class: 'empty'}, nothing));
  if (!shown) return;
  const editsOf = name => (functions[name] || []).find(([pass]) => pass === i);
  const linesOf = name => diffLines(i ? version(functions, name, i - 1) : [], editsOf(name)[1], only);
  if (shown === '*') {
    const titled = name => [{sign: ' ', loc: -1, text: '  // @' + name, near: 1}, ...linesOf(name)];
    return diffView(diff, p.functions.map(f => f[0]).filter(editsOf).flatMap(titled));
  }
  if (editsOf(shown)) return diffView(diff, linesOf(shown));
  show(diff, h('p', {class: 'empty'}, 'Left out to keep the report small: --detail=all has it.'));
}

// -- all of them

function compileTime() {
  const phases = R.compile.phases, functions = Object.entries(R.kernels).sort(([, x], [, y]) => y.cpu_ms - x.cpu_ms);
  const slow = Math.max(...phases.map(p => p.cpu_ms), 1), slowest = functions.length ? functions[0][1].cpu_ms : 1;
  return h(
      'div', {class: 'two'},
      phases.length ?
          h('div', {}, h('h3', {}, 'Phases of the compiler'),
            tableOf(
                null,
                phases.map(
                    p =>
                        [p.name, ['right nowrap', asTime(p.cpu_ms)], ['bar-cell', bar(p.cpu_ms / slow, 'time')],
                         ['right muted nowrap', p.peak_mb + ' MB']]))) :
          null,
      functions.length ? h('div', {}, h('h3', {}, 'Code generation, by function'),
                           tableOf(
                               null,
                               functions.slice(0, 14).map(
                                   ([name, f]) => [
                                       ['mono ellipsis', name], ['right nowrap', asTime(f.cpu_ms)],
                                       ['bar-cell', bar(f.cpu_ms / slowest, 'time')],
                                       ['right muted nowrap', digits(f.kb, 3) + ' kB']]))) :
                         null);
}

function passesView() {
  const detail = h('div', {class: 'detail'});
  const hint = 'Choose a pass: what it changed, line by line, and the command that runs it alone.';
  if (state.pass === null)
    show(detail, h('div', {class: 'empty'}, h('p', {}, hint)), compileTime());
  else
    passDetail(detail, state.pass);
  return [
    h('h1', {class: 'view-title'}, 'Passes'), opsLine(),
    h('div', {class: 'toolbar'},
      checkBox(
          'hide passes that changed nothing', state.hideSame !== false,
          checked => {
            state.hideSame = checked;
            refresh();
          }),
      searchField('passSearch', 'search passes')),
    h('div', {class: 'split passes'}, passList(), detail)
  ];
}
