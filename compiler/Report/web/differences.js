// What a pass changed of a function, line by line.

// The differences of one function as lines with their numbers; folded where nothing changes.
function diffLines(before, edits, places) {
  const out = [];
  let old = 0, now = 0;
  const push = (sign, line, a, b) => out.push({sign, loc: line[0], text: line[1], a, b});
  for (const [kept, dropped, added] of edits) {
    for (let i = 0; i < kept; i++) push(' ', before[old], ++old, ++now);
    for (let i = 0; i < dropped; i++) push('-', before[old], ++old, null);
    for (const line of added) push('+', line, null, ++now);
  }
  while (old < before.length) push(' ', before[old], ++old, ++now);
  const mine = line => !places || (line.loc >= 0 && places.includes(R.locs[line.loc][1]));
  const near = new Uint8Array(out.length);
  out.forEach((line, i) => {
    if (line.sign !== ' ' && mine(line))
      for (let k = -3; k <= 3; k++)
        if (out[i + k]) near[i + k] = 1;
  });
  return out.map((line, i) => ({...line, near: near[i], mine: mine(line)}));
}

function diffView(box, lines) {
  const limit = 300;
  let shown = 0, at = 0;
  const code = h('div', {class: 'code diff', tabindex: 0, role: 'region', 'aria-label': 'what changed'});
  const more = h('button', {type: 'button', class: 'quiet'}, '');
  const lineRow = (line, partner) =>
      h('div',
        {class: 'line ' +
             (line.sign === '+'     ? 'add' :
                  line.sign === '-' ? 'drop' :
                                      'keep')},
        h('span', {class: 'number'}, line.a || ''), h('span', {class: 'number'}, line.b || ''),
        h('span', {class: 'sign'}, line.sign),
        h('span', {class: 'text', title: locText(line.loc)},
          irSpans(
              line.text.replace(/^ {2}/, ''),
              partner ? newTokens(partner.text.replace(/^ {2}/, ''), line.text.replace(/^ {2}/, '')) : null)));
  function next() {
    const until = shown + limit;
    while (at < lines.length && shown < until) {
      if (!lines[at].near) {
        let skip = at;
        while (skip < lines.length && !lines[skip].near) skip++;
        const from = at, to = skip;
        const fold =
            h('button', {
              type: 'button',
              class: 'fold-line',
              onclick: () => fold.replaceWith(...lines.slice(from, Math.min(to, from + 400)).map(l => lineRow(l)))
            },
              plural(to - from, 'line') + ' as before');
        code.append(fold);
        at = skip;
        continue;
      }
      let end = at;  // a run of changes: match what goes with what comes
      while (end < lines.length && lines[end].near && end - at < 120) end++;
      const run = lines.slice(at, end), gone = run.filter(l => l.sign === '-').map(l => l.text),
            come = run.filter(l => l.sign === '+').map(l => l.text);
      for (const line of run) {
        const other = line.sign === '+' ? nearest(line.text, gone.slice(0, 60), 0.6) :
            line.sign === '-'           ? nearest(line.text, come.slice(0, 60), 0.6) :
                                          null;
        code.append(lineRow(line, other ? {text: other} : null));
        shown++;
      }
      at = end;
    }
    more.textContent =
        at < lines.length ? 'show more (' + (lines.length - at).toLocaleString('en-US') + ' lines are left)' : '';
    more.hidden = at >= lines.length;
  }
  more.onclick = next;
  next();
  show(box, code, more);
}
