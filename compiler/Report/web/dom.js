// Elements without a framework: text is always text, never markup.

const SVG = 'http://www.w3.org/2000/svg';

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith('on'))
      element.addEventListener(key.slice(2), value);
    else if (key === 'width%')
      element.style.width = value + '%';
    else if (key === 'vars')
      for (const [name, v] of Object.entries(value)) element.style.setProperty(name, v);
    else
      element.setAttribute(key, value === true ? '' : value);
  }
  for (const child of children.flat(4)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child.nodeType ? child : document.createTextNode(String(child)));
  }
  return element;
}

const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const s = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

function show(element, ...children) {
  element.replaceChildren();
  return fill(element, {}, children);
}

// -- numbers
// ------------------------------------------------------------------------------------------------------------

const digits = (x, n) => x.toLocaleString('en-US', {maximumSignificantDigits: n});

function scaled(x, units, step) {
  if (x === null || x === undefined || !isFinite(x)) return '-';
  let at = 0;
  while (Math.abs(x) >= step && at < units.length - 1) {
    x /= step;
    at++;
  }
  const text = at === 0 ? digits(Math.round(x), 6) : x >= 100 ? digits(x, 3) : digits(x, 3);
  return text + ' ' + units[at];
}
const asBytes = x => scaled(x, ['B', 'KiB', 'MiB', 'GiB', 'TiB'], 1024);
const asOps = x => x === 0 ? '-' : scaled(x, ['op', 'kop', 'Mop', 'Gop', 'Top'], 1000);
const asCount = x => scaled(x, ['', 'k', 'M', 'G'], 1000).trim();
function asTime(ms) {
  if (ms === null || ms === undefined || !isFinite(ms)) return '-';
  if (ms >= 1000) return digits(ms / 1000, 3) + ' s';
  if (ms >= 1) return digits(ms, 3) + ' ms';
  if (ms >= 1e-3) return digits(ms * 1e3, 3) + ' µs';
  return ms === 0 ? '0' : digits(ms * 1e6, 2) + ' ns';
}
const asPercent = x => !isFinite(x) ? '-' :
    x > 0 && x < 0.001              ? '<0.1 %' :
                                      (100 * x).toFixed(x < 0.1 && x > 0 ? 1 : 0) + ' %';
const plural = (n, word) => n.toLocaleString('en-US') + ' ' +
    (n === 1             ? word :
         /s$/.test(word) ? word + 'es' :
                           word + 's');

// -- pieces
// -------------------------------------------------------------------------------------------------------------

function copyButton(text, what) {
  const button =
      h('button', {
        class: 'quiet copy',
        type: 'button',
        title: 'copy ' + what,
        onclick: async () => {
          try {
            await navigator.clipboard.writeText(text);
            button.textContent = 'copied';
          } catch {
            button.textContent = 'select and copy';
          }
          setTimeout(() => {
            button.textContent = 'copy';
          }, 1500);
        }
      },
        'copy');
  return button;
}
const commandLine = text => h('div', {class: 'command'}, h('code', {}, text), copyButton(text, 'the command'));
const chip = (kind, text) => h('span', {class: 'chip kind-' + kind}, text);

function segmented(label, choices, chosen, choose) {
  return h(
      'div', {class: 'segmented', role: 'group', 'aria-label': label},
      choices.map(
          ([key, text, title]) =>
              h('button', {type: 'button', title, 'aria-pressed': String(key === chosen), onclick: () => choose(key)},
                text)));
}
// Cells are what they show, or [class, what they show].
function tableOf(heads, rows, kind = '') {
  const cell = tag => one => Array.isArray(one) ? h(tag, {class: one[0]}, one.slice(1)) : h(tag, {}, one);
  return h(
      'div', {class: 'scroll'},
      h('table', {class: ('list ' + kind).trim()}, heads ? h('thead', {}, h('tr', {}, heads.map(cell('th')))) : null,
        h('tbody', {}, rows.map(row => h('tr', {}, row.map(cell('td')))))));
}

function bar(share, kind, title) {
  const width = share > 0 ? Math.max(0.8, Math.min(100, 100 * share)) : 0;
  return h('span', {class: 'bar', title}, h('span', {class: 'fill kind-' + kind, 'width%': width}));
}

// A field that searches in the view at hand; `key` is where `state` keeps its text.
function searchField(key, placeholder) {
  return h('input', {
    type: 'search',
    id: 'search',
    placeholder,
    'aria-label': placeholder,
    value: state[key] || '',
    oninput: event => {
      state[key] = event.target.value;
      refresh({search: true});
    }
  });
}
// A box to tick.
function checkBox(words, checked, change) {
  return h(
      'label', {class: 'check'}, h('input', {type: 'checkbox', checked, onchange: e => change(e.target.checked)}), ' ',
      words);
}
const number = n => n.toLocaleString('en-US');
