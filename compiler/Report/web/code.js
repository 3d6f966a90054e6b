// IR and JSON as text with a little colour, and differences of words.

// A string, a value, a type, an attribute, a symbol, a number, an op, a word, space, anything else: a group each.
const TOKEN = new RegExp(
    [
      /("(?:[^"\\]|\\.)*")/, /(%[\w.$-]+(?:#\d+)?|\^bb\d+)/, /(![\w.]+(?:<[^<>]*(?:<[^<>]*>)?[^<>]*>)?)/, /(#[\w.]+)/,
      /(@[\w.$-]+)/, /(-?\b\d[\w.+-]*)/, /(\b[a-z_]\w*\.[a-z_][\w.]*|\bcall\b|\breturn\b)/, /([A-Za-z_]\w*)/, /(\s+)/,
      /(.)/
    ].map(part => part.source)
        .join('|'),
    'g');
const CLASSES = ['', 'str', 'val', 'ty', 'attr', 'sym', 'num', 'op', '', '', ''];

function tokens(text) {
  const out = [];
  for (const m of text.matchAll(TOKEN)) {
    const which = m.findIndex((x, i) => i && x !== undefined);
    out.push([m[0], CLASSES[which] || '']);
  }
  return out;
}
function aliasTitle(token) { return R.aliases[token] || null; }

function irSpans(text, marked) {
  const list = tokens(text);
  let typesFrom = list.length;
  for (let i = list.length - 1, depth = 0; i >= 0; i--) {  // behind the last ` : ` that stands in no bracket
    if (list[i][0] === ')' || list[i][0] === '}') depth++;
    if (list[i][0] === '(' || list[i][0] === '{') depth--;
    if (depth === 0 && list[i][0] === ':' && list.slice(i).some(t => t[1] === 'ty')) typesFrom = i;
    if (depth === 0 && list[i][1] === 'op') break;
  }
  return list.map(([token, kind], i) => {
    const cls = [i >= typesFrom ? 'dim' : kind, marked && marked.has(i) ? 'mark' : ''].filter(Boolean).join(' ');
    const title = kind === 'attr' || kind === 'ty' ? aliasTitle(token) : null;
    return cls || title ? h('span', {class: cls || null, title}, token) : token;
  });
}

// Which tokens of b are not in a: a longest common subsequence.
const stem = word => word.replace(/^(%[\w.$-]*?)(?:_\d+)?(#\d+)?$/, '$1$2').replace(/^%\d+$/, '%');
const sameWords = (a, b, loose) => loose ?
    tokens(a.trim()).map(t => stem(t[0])).join(' ') === tokens(b.trim()).map(t => stem(t[0])).join(' ') :
    a.trim() === b.trim();
function newTokens(a, b, loose) {
  const word = loose ? t => stem(t[0]) : t => t[0], x = tokens(a).map(word), y = tokens(b).map(word);
  if (x.length * y.length > 160000) return new Set();
  const table = Array.from({length: x.length + 1}, () => new Uint16Array(y.length + 1));
  for (let i = x.length - 1; i >= 0; i--)
    for (let j = y.length - 1; j >= 0; j--)
      table[i][j] = x[i] === y[j] ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
  const fresh = new Set();
  let i = 0, j = 0;
  while (j < y.length) {
    if (i < x.length && x[i] === y[j]) {
      i++;
      j++;
    } else if (i < x.length && table[i + 1][j] >= table[i][j + 1])
      i++;
    else {
      if (y[j].trim()) fresh.add(j);
      j++;
    }
  }
  return fresh.size > 0.62 * y.filter(w => w.trim()).length ? new Set() : fresh;
}

// The line of b for each line of a that it most likely became.
function nearest(text, others, least = 0.34) {
  const words = new Set(tokens(text).map(t => t[0]));
  let best = null, most = least;
  for (const other of others) {
    const theirs = tokens(other).map(t => t[0]).filter(w => w.trim());
    const common = theirs.filter(w => words.has(w)).length / Math.max(1, theirs.length);
    if (common > most) {
      most = common;
      best = other;
    }
  }
  return best;
}

function sourceLines(file, first, last, mark) {
  const text = R.sources[file];
  if (!text) return h('p', {class: 'note'}, 'The text of ' + file + ' is not in this report.');
  const lines = text.split('\n');
  const indent = Math.min(...lines.slice(first - 1, last).filter(l => l.trim()).map(l => l.match(/^ */)[0].length));
  return h(
      'div', {class: 'code source', tabindex: 0, role: 'region', 'aria-label': 'source'},
      lines.slice(first - 1, last)
          .map(
              (line, i) => h(
                  'div', {class: 'line' + (first + i === mark ? ' here' : '')}, h('span', {class: 'number'}, first + i),
                  h('span', {class: 'text'}, jsonSpans(line.slice(indent))))));
}
function jsonSpans(line) {
  const out = [];
  for (const m of line.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d[\d.e+-]*)|([^"\d-]+|.)/g)) {
    if (m[1])
      out.push(h('span', {class: m[2] ? 'key' : m[1].startsWith('"=') ? 'expression' : 'str'}, m[1]), m[2] || '');
    else if (m[3])
      out.push(h('span', {class: 'num'}, m[3]));
    else
      out.push(m[4]);
  }
  return out;
}
