// The functions of machine code that do a statement: instructions by kind, and the inner loop.

function kernelsOf(id) {
  const names = new Map();
  for (const i of under(id))
    for (const phase of phasesOfNode.get(i) || [])
      if (phase.entry === scenario().entry)
        for (const k of phase.kernels) names.set(k, (names.get(k) || 0) + 1);
  return [...names.keys()];
}
function usersOf(kernel) {
  const users = [];
  for (const entry of R.entries)
    for (const phase of entry.phases)
      if (phase.kernels.includes(kernel)) users.push([entry.name, phase]);
  return users;
}
const MIX = ['product', 'load', 'store', 'move', 'vector', 'scalar', 'prefetch', 'control'];
function mixBar(title, mix) {
  if (!mix) return null;
  const total = MIX.reduce((a, k) => a + (mix[k] || 0), 0);
  return h(
      'div', {class: 'stack-row'}, h('span', {class: 'stack-title'}, title),
      h('div', {class: 'stack'},
        MIX.filter(k => mix[k])
            .map(
                k =>
                    h('span', {class: 'part mix-' + k, 'width%': 100 * mix[k] / total, title: k + ': ' + mix[k]},
                      mix[k] / total > 0.1 ? h('em', {}, k + ' ' + mix[k]) : null))),
      h('span', {class: 'stack-total'}, String(total)));
}
// Lines of assembly from `begin` on, those of the inner loop marked.
function assemblyLines(lines, begin, end, [from, to]) {
  const line = (text, i) => {
    const at = begin + i, inner = to && at >= from && at < to;
    return h(
        'div', {class: 'line' + (inner ? ' here' : '')}, h('span', {class: 'number'}, at + 1),
        h('span', {class: 'text'}, text.replace('\t', '    ')));
  };
  return h(
      'div', {class: 'code asm', tabindex: 0, role: 'region', 'aria-label': 'assembly'},
      lines.slice(begin, end).map(line));
}

async function showAssembly(box, name) {
  const text = (await assembly())[name], inner = R.kernels[name].inner_lines || [0, 0];
  if (!text) return show(box, h('p', {class: 'note'}, 'Left out to keep the report small: --detail=all has it.'));
  const lines = text.split('\n'), begin = Math.max(0, inner[0] - 4);
  const end = inner[1] ? Math.min(lines.length, inner[1] + 4) : Math.min(lines.length, 60);
  const whole = () => show(box, assemblyLines(lines, 0, 3000, inner));
  const more = end - begin < lines.length;
  show(
      box, assemblyLines(lines, begin, end, inner),
      more ? h('button', {type: 'button', class: 'quiet', onclick: whole}, 'all ' + plural(lines.length, 'line')) :
             null);
}

function kernelCard(name) {
  const k = R.kernels[name], users = usersOf(name), box = h('div', {});
  const whose =
      users.length > 1 ? 'code of ' + plural(users.length, 'phase') + ' of all entries' : 'of this phase alone';
  if (!k) return h('div', {class: 'kernel'}, h('h4', {class: 'mono'}, name), h('p', {class: 'note'}, whose));
  const open = event => {
    event.target.disabled = true;
    showAssembly(box, name);
  };
  return h(
      'div', {class: 'kernel'}, h('h4', {class: 'mono'}, name),
      h('p', {class: 'note'}, plural(k.instructions, 'instruction') + ', ' + digits(k.kb, 3) + ' kB · ', whose,
        ' · ' + asTime(k.cpu_ms) + ' to generate'),
      mixBar('all', k.mix), mixBar('inner loop', k.inner),
      h('button', {type: 'button', class: 'quiet', onclick: open}, 'assembly' + (k.inner ? ' of the inner loop' : '')),
      box);
}
