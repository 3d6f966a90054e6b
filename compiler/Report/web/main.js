// Views, addresses, keys.

const VIEWS = {
  overview: ['Overview', overview],
  model: ['Model', modelView],
  passes: ['Passes', passesView],
  masks: ['Masks', masksView],
  memory: ['Memory', memoryView],
  roofline: ['Roofline', rooflineView],
  remarks: ['Remarks', remarksView],
  files: ['Files', filesView]
};
let root, navigation;

function go(view, arg) {
  const hash = '#' + [view, arg].filter(x => x !== undefined && x !== null).join('/');
  if (location.hash === hash)
    route();
  else
    location.hash = hash;
}
function route() {
  const [view, arg, ...more] = location.hash.slice(1).split('/').map(decodeURIComponent);
  state.view = VIEWS[view] ? view : 'overview';
  if (view === 'model') state.op = arg !== undefined && R.nodes[Number(arg)] ? Number(arg) : null;
  if (view === 'model' && state.op !== null && R.nodes[state.op].kind === 'op') {
    const up = R.nodes[state.op].parent;  // an only op is shown as its statement
    if (up !== null && R.nodes[up].kind === 'statement' && children(up).length === 1) state.op = up;
  }
  if (view === 'model' && state.op !== null)
    for (let i = R.nodes[state.op].parent; i !== null; i = R.nodes[i].parent) state.open.add(i);
  if (view === 'passes') state.pass = arg !== undefined && R.passes[Number(arg)] ? Number(arg) : null;
  for (const word of more) {
    const [k, v] = word.split('=');
    if (k === 'scenario') state.scenario = v;
    if (k === 'side') state.side = true;
  }
  draw();
  const chosen = root.querySelector('.row.selected, .pass.selected'), narrow = innerWidth <= 860,
        detail = root.querySelector('.detail');
  if (chosen && narrow && detail)
    detail.scrollIntoView();
  else if (chosen)
    chosen.scrollIntoView({block: 'nearest'});
  else
    scrollTo(0, 0);
}
function draw() {
  navigation.querySelectorAll('a').forEach(a => a.setAttribute('aria-current', String(a.dataset.view === state.view)));
  const current = navigation.querySelector('a[aria-current=true]');
  if (current && navigation.scrollWidth > navigation.clientWidth) navigation.scrollLeft = current.offsetLeft - 60;
  show(root, VIEWS[state.view][1]());
  document.title = (R.model.name || 'model') + ' · ' + VIEWS[state.view][0];
}
function refresh(how = {}) {
  const y = scrollY;
  const search = how.search ? [document.activeElement.id, document.activeElement.selectionStart] : null;
  draw();
  scrollTo(0, y);
  if (search && document.getElementById(search[0])) {
    const box = document.getElementById(search[0]);
    box.focus();
    box.setSelectionRange(search[1], search[1]);
  }
  if (how.focus !== undefined) {
    const row = root.querySelector(`.row[data-id="${how.focus}"]`);
    if (row) {
      row.tabIndex = 0;
      row.focus();
    }
  }
}
function theme(next) {
  const dark = matchMedia('(prefers-color-scheme: dark)').matches;
  state.theme = next || ((state.theme || (dark ? 'dark' : 'light')) === 'dark' ? 'light' : 'dark');
  document.documentElement.dataset.theme = state.theme;
}

function keys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (event.key === 'Escape') {
    if (typing)
      event.target.blur();
    else if (state.view === 'model' && state.op !== null)
      go('model');
    else if (state.view === 'passes' && state.pass !== null)
      go('passes');
    return;
  }
  if (typing) return;
  const step = by => {
    if (state.view === 'model') {
      const rows = visibleRows(), at = rows.findIndex(r => r.id === state.op), next = rows[at < 0 ? 0 : at + by];
      if (next) go('model', next.id);
    } else if (state.view === 'passes') {
      let i = state.pass === null ? -1 : state.pass;
      do i += by;
      while (R.passes[i] && !passFilter(R.passes[i]));
      if (R.passes[i]) go('passes', i);
    }
  };
  const names = Object.keys(VIEWS);
  if (/^[1-8]$/.test(event.key))
    go(names[Number(event.key) - 1]);
  else if (event.key === '/') {
    event.preventDefault();
    const box = document.getElementById('search');
    if (box)
      box.focus();
    else {
      go('model');
      setTimeout(() => document.getElementById('search').focus(), 0);
    }
  } else if (event.key === 'j' || event.key === ']')
    step(1);
  else if (event.key === 'k' || event.key === '[')
    step(-1);
  else if (event.key === 't')
    theme();
  else if (event.key === '?')
    go('files');
}

// In print every view follows the one before.
function printAll() { show(root, Object.values(VIEWS).map(([, make]) => h('section', {class: 'print-view'}, make()))); }

(async () => {
  const begin = performance.now();
  R = await unpack('first');
  prepare();
  openAtFirst();
  state.scenario = scenarios().length ? scenarios()[0].key : null;
  navigation =
      h('nav', {class: 'top', 'aria-label': 'views'},
        h('span', {class: 'brand', 'aria-hidden': 'true'},
          s('svg', {viewBox: '0 0 20 20', width: 18, height: 18},
            [3, 7, 11, 15].map((x, i) => [s('path', {d: `M${x} 2V18`, class: 'warp'}), s('path', {
                                            d: `M1 ${x}H${19}`,
                                            class: 'weft',
                                            'stroke-dasharray': i % 2 ? '3 3' : '3 3',
                                            'stroke-dashoffset': i % 2 ? 3 : 0
                                          })]))),
        h('b', {class: 'model-name'}, R.model.name),
        Object.entries(VIEWS).map(
            ([key, [name]], i) => h('a', {href: '#' + key, 'data-view': key, title: 'key ' + (i + 1)}, name)),
        h('button', {type: 'button', class: 'quiet theme', title: 'dark or light (t)', onclick: () => theme()}, '◐'));
  root = h('main', {tabindex: -1});
  document.body.append(
      h('a', {class: 'skip', href: '#overview'}, 'to the content'), navigation, root,
      h('footer', {}, 'Heddle report · one file, no request, no weights · ', R.version));
  addEventListener('hashchange', route);
  addEventListener('keydown', keys);
  addEventListener('beforeprint', printAll);
  addEventListener('afterprint', draw);
  route();
  document.documentElement.dataset.ready = (performance.now() - begin).toFixed(0);
})();
