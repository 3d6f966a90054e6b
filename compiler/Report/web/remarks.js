// What the passes did, did not, and found out; each at its place.

const REMARK_WORDS = {
  passed: 'done',
  missed: 'missed',
  analysis: 'noted'
};
const REMARK_KINDS = ['missed', 'passed', 'analysis'];

// Text with `words` of code in it.
const words = text => text.split('`').map((part, i) => i % 2 ? h('code', {}, part) : part);

// Remarks that say the same are one row; `places` are links to all of them.
function sameRemarks(remarks) {
  const groups = new Map();
  for (const r of remarks) {
    const key = [r.kind, r.name, r.message].join('|');
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(r);
  }
  return [...groups.values()];
}

function remarkPlace(r) {
  const node = nodeOfLoc(r.loc), entry = entryOf(r.entry) ? '@' + r.entry + ' ' : '';
  return [entry, node !== null ? opLink(node, locText(r.loc)) : locText(r.loc)];
}

function remarkItem(same) {
  const [r] = same, most = 8, more = same.length - most;
  return h(
      'li', {class: 'remark ' + r.kind}, h('span', {class: 'remark-kind'}, REMARK_WORDS[r.kind] || r.kind),
      h('span', {class: 'mono name'}, r.name),
      h('span', {class: 'message', title: r.message}, words(r.message),
        same.length > 1 ? h('b', {class: 'times'}, ' × ' + same.length) : null),
      h('span', {class: 'where muted'}, same.slice(0, most).map((one, i) => [i ? ', ' : '', remarkPlace(one)]),
        more > 0 ? ' and ' + more + ' more' : ''));
}
const remarkList = remarks => h('ul', {class: 'plain remarks'}, sameRemarks(remarks).slice(0, 400).map(remarkItem));

function complaintItem(c) {
  const at = c.file ? c.file.split('/').pop() + (c.line ? ':' + c.line + ':' + c.column : '') : '';
  return h(
      'li', {class: 'remark missed'}, h('span', {class: 'remark-kind'}, c.kind),
      h('span', {class: 'mono name'}, c.code || ''), h('span', {}, words(c.message)),
      h('span', {class: 'where muted'}, at));
}

function wantedRemarks() {
  const text = (state.remarkSearch || '').toLowerCase();
  const wanted = R.remarks.filter(
      r => (!state.remarkKind || r.kind === state.remarkKind) && (!state.remarkName || r.name === state.remarkName) &&
          (r.message + r.name + locText(r.loc)).toLowerCase().includes(text));
  const rank = r => REMARK_KINDS.indexOf(r.kind);
  return wanted.sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name));
}

function remarkToolbar() {
  const kinds = REMARK_KINDS.map(k => [k, REMARK_WORDS[k] + ' ' + R.remarks.filter(r => r.kind === k).length, '']);
  const names = [...new Set(R.remarks.map(r => r.name))].sort();
  const chooseName = event => {
    state.remarkName = event.target.value;
    refresh();
  };
  const name = n => h('option', {value: n, selected: n === state.remarkName}, n);
  return h(
      'div', {class: 'toolbar'},
      segmented(
          'kind', [['', 'all ' + R.remarks.length, ''], ...kinds], state.remarkKind || '',
          k => {
            state.remarkKind = k;
            refresh();
          }),
      h('label', {}, 'name ', h('select', {onchange: chooseName}, h('option', {value: ''}, 'all'), names.map(name))),
      searchField('remarkSearch', 'search remarks'));
}

function remarksView() {
  const title = h('h1', {class: 'view-title'}, 'Remarks'), wanted = wantedRemarks();
  const complaints = R.complaints.length ?
      [h('h2', {}, 'From heddle check'), h('ul', {class: 'plain remarks'}, R.complaints.map(complaintItem))] :
      null;
  if (!R.remarks.length) return [title, complaints || h('p', {class: 'empty'}, 'Nothing was remarked.')];
  return [
    title, remarkToolbar(), complaints, remarkList(wanted),
    wanted.length === 0 ? h('p', {class: 'empty'}, 'None.') : null
  ];
}
