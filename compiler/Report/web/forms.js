// Forms over dims, as the compiler prints them: 64*((B*T+7)//8)+max(T,1), read by a parser of forty lines.

const parsed = new Map();

function parseForm(text) {
  if (parsed.has(text)) return parsed.get(text);
  const tokens = String(text).match(/\d+|[A-Za-z_][\w.]*|\/\/|[-+*%(),]/g) || [];
  let at = 0;
  const take = token => tokens[at] === token && ++at;
  function atom() {
    const token = tokens[at++];
    if (token === '(') {
      const x = sum();
      take(')');
      return x;
    }
    if (token === '-') {
      const x = atom();
      return env => -x(env);
    }
    if (/^\d/.test(token)) {
      const n = Number(token);
      return () => n;
    }
    if ((token === 'min' || token === 'max') && take('(')) {
      const items = [sum()];
      while (take(',')) items.push(sum());
      take(')');
      return env => Math[token](...items.map(f => f(env)));
    }
    return env => token in env ? env[token] : NaN;
  }
  function product() {
    let left = atom();
    for (;;) {
      const l = left;
      if (take('*')) {
        const r = atom();
        left = env => l(env) * r(env);
      } else if (take('//')) {
        const r = atom();
        left = env => Math.floor(l(env) / r(env));
      } else if (take('%')) {
        const r = atom();
        left = env => {
          const m = r(env), x = l(env);
          return x - m * Math.floor(x / m);
        };
      } else
        return left;
    }
  }
  function sum() {
    let left = product();
    for (;;) {
      const l = left;
      if (take('+')) {
        const r = product();
        left = env => l(env) + r(env);
      } else if (take('-')) {
        const r = product();
        left = env => l(env) - r(env);
      } else
        return left;
    }
  }
  const form = tokens.length ? sum() : () => NaN;
  parsed.set(text, form);
  return form;
}
const evaluate = (text, env) => text === null || text === undefined ? NaN : parseForm(text)(env);
