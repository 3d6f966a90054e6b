// How the report was made, its data, and the keys of the page.

const KEYS = [
  ['1 to 8', 'the views'], ['/', 'search'], ['j k, arrows', 'next, previous'], ['Enter', 'open'],
  ['← →', 'fold, unfold'], ['[ ]', 'previous, next pass'], ['t', 'dark or light'], ['Esc', 'close']
];

// The whole report.json, put together again.
async function saveJson() {
  const code = await assembly(), kernels = {};
  for (const [name, kernel] of Object.entries(R.kernels))
    kernels[name] = code[name] ? {...kernel, asm: code[name]} : kernel;
  const blob = new Blob([JSON.stringify({...R, kernels, ...(await ir())})], {type: 'application/json'});
  const url = URL.createObjectURL(blob);
  h('a', {href: url, download: (R.model.name || 'model') + '.report.json'}).click();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
}

function filesView() {
  const inputs =
      R.entries.map(e => [['mono', e.name], ['mono break', e.inputs.join(', ')], ['mono break', e.outputs.join(', ')], [
                      'right', number(e.phases.length)
                    ]]);
  return [
    h('h1', {class: 'view-title'}, 'How this was made'), commandLine(R.command),
    h('p', {class: 'note'}, 'by ' + R.version + '. No weight is in this file, and it asks for nothing.'),
    R.thinned.length ? h('p', {class: 'note'},
                         'Of ' + plural(R.thinned.length, 'function') +
                             ' the last form alone is here; --detail=all keeps every pass.') :
                       null,
    h('h2', {}, 'Entries'), tableOf(['entry', 'takes', 'gives', ['right', 'phases']], inputs), h('h2', {}, 'Files'),
    h('p', {class: 'mono small'}, Object.keys(R.sources).join(', ') || 'none'), h('h2', {}, 'The data'),
    h('p', {}, h('button', {type: 'button', onclick: saveJson}, 'save report.json'), ' ',
      h('span', {class: 'note'}, 'schema ' + R.schema + ': heddle schema report')),
    h('h2', {}, 'Keys'), h('dl', {class: 'keys'}, KEYS.map(([k, v]) => [h('dt', {}, h('kbd', {}, k)), h('dd', {}, v)]))
  ];
}
