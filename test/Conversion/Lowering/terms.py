"""What loops.py works on: the ops of MLIR's generic form, and values as text: numbers as polynomials, addresses, reals."""
import re
import struct
import sys

DIALECTS = {"builtin", "func", "llvm", "arith", "math", "scf", "vector"}
LINE = re.compile(r'\s*(?:(?P<result>%[\w.$-]+)(?::(?P<count>\d+))? = )?"(?P<name>[\w.]+)"\((?P<operands>[^)]*)\)(?P<rest>.*)$')


class Op:
    def __init__(self, m):
        self.name, self.attrs, self.result, self.count = m["name"], m["rest"], m["result"], int(m["count"] or 1)
        self.operands = [o for o in m["operands"].split(", ") if o]
        self.regions = [] # (names of arguments, ops)
        self.end(m["rest"])

    def end(self, text):
        """`: (types) -> types`, which stands behind the regions."""
        self.inputs, _, self.types = text[text.rfind(" : (") + 4:].partition(") -> ")
        self.integer = re.match(r"\(?(index|i\d+|vector<\d+xi\d+>)\)?$", self.types) is not None

    def attr(self, name):
        m = re.search(r'\b%s = ("[^"]*"|@[\w.]+|dense<[^>]*>|array<[^>]*>|[-!\w.+]+)' % name, self.attrs)
        return m and m[1].strip('"@')


def parse(lines):
    """(names of arguments, ops, the line that ends it) of a region."""
    arguments, ops = [], []
    for line in lines:
        text = line.strip()
        if text.startswith("^"):
            arguments = re.findall(r"(%[\w.$-]+): ", text)
        elif text.startswith("}"):
            return arguments, ops, text
        elif m := LINE.match(line):
            op = Op(m)
            if op.name.split(".")[0] not in DIALECTS:
                sys.exit("loops.py: %s is left" % op.name)
            ops.append(op)
            while text.endswith("({") or text.endswith("}, {"):
                inner, body, text = parse(lines)
                op.regions.append((inner, body))
                op.end(text)
    return arguments, ops, ""


# -- values ------------------------------------------------------------------------------------------

class Poly(dict):
    """A sum of products of atoms: {sorted atoms: factor}."""

    def __add__(self, other):
        out = Poly(self)
        for m, f in other.items():
            out[m] = out.get(m, 0) + f
            if not out[m]:
                del out[m]
        return out

    def __mul__(self, other):
        out = Poly()
        for m, f in self.items():
            for n, g in other.items():
                out += Poly({tuple(sorted(m + n)): f * g})
        return out

    def __sub__(self, other):
        return self + other * number(-1)

    def known(self):
        return self.get((), 0) if set(self) <= {()} else None

    def __str__(self):
        out = ""
        for m, f in sorted(self.items(), key=lambda e: (e[1] < 0, not e[0], e[0])):
            size = "*".join(([str(abs(f))] if abs(f) != 1 or not m else []) + list(m))
            out += (" - " if f < 0 else " + ") + size if out else ("-" if f < 0 else "") + size
        return out or "0"


def number(n):
    return Poly({(): n} if n else {})


def atom(text):
    return Poly({(text,): 1})


class Pointer:
    """`index` elements of `element` behind `base`."""

    def __init__(self, base, index=None, element=None):
        self.base, self.index, self.element = base, index or Poly(), element

    def behind(self, index, element):
        same = not self.index or self.element == element
        return Pointer(self.base if same else str(self), self.index + index if same else index, element)

    def __str__(self):
        return "%s[%s]" % (self.base, self.index) if self.index else self.base


class Text:
    """A computed value; `depth`: how deep its expression is."""

    def __init__(self, text, depth=0):
        self.text, self.depth = text, depth

    def __str__(self):
        return self.text


class Mask(Text):
    """The first `count` lanes."""

    def __init__(self, count):
        super().__init__("lane < %s" % count)
        self.count = count


class Loaded(Text):
    """What a load takes from the pointer `place`; `rest`: what stands behind the index."""

    def __init__(self, text, place):
        super().__init__(text, 1)
        self.place, self.rest = place, text[len("%s[%s" % (place.base, place.index)):]

    def at(self, index):
        return "%s[%s%s" % (self.place.base, index, self.rest)


class Steps(Text):
    """x w + a sum, x and w loaded. Where the sum is such, too, and what is loaded lies as far from its as at the step before, they are steps s of one sum."""

    def __init__(self, values):
        *self.last, before = values
        apart = [v.place.index - w.place.index for v, w in zip(self.last, before.last)] if self.follows(before) else None
        if apart and all(a.known() is not None for a in apart) and before.apart in (None, apart):
            self.first, self.apart, self.count, self.start = before.first, apart, before.count + 1, before.start
        else:
            self.first, self.apart, self.count, self.start = self.last, None, 1, before
        texts = [v.at(v.place.index + a * atom("s")) for v, a in zip(self.first, self.apart)] if self.apart else self.first
        deep = self.start.depth if isinstance(self.start, Text) else 0
        super().__init__("fma(%s, %s, %s)" % (*texts, ".." if deep >= join.deepest else self.start) + (", s = 0 to %d" % self.count if self.apart else ""), 1 + max(1, deep))

    def follows(self, before):
        return isinstance(before, Steps) and all((v.place.base, v.rest) == (w.place.base, w.rest) for v, w in zip(self.last, before.last))


class Halves(Text):
    """One half of the lanes of `whole`."""

    def __init__(self, half, whole):
        super().__init__("%s(%s)" % (half, whole), whole.depth)
        self.half, self.whole = half, whole


def join(form, *values):
    deep = [v.depth if isinstance(v, Text) else 0 for v in values]
    return Text(form.format(*(".." if d >= join.deepest else v for v, d in zip(values, deep))), 1 + max(deep, default=0))


join.deepest = 4


def bracket(value, products=False):
    """An operand; in brackets where its outermost operation binds less than the one it stands in."""
    text = inner = str(value)
    while (shorter := re.sub(r"[(\[][^()\[\]]*[)\]]", "", inner)) != inner:
        inner = shorter
    return "(%s)" % text if " " in inner or (products and re.search("[*/%]", inner)) else text


def constant(text):
    """The text of a constant; of a vector, that of its lanes where they are alike."""
    text = re.sub(r"^dense<(.*)>$", r"\1", text)
    if re.fullmatch(r"-?\d+", text):
        return number(int(text))
    if re.fullmatch(r"0x[0-9A-F]+", text):
        raw = bytes.fromhex(text[2:])
        return Text("%.7g" % struct.unpack(">f" if len(raw) == 4 else ">d", raw))
    if re.fullmatch(r"-?\d[\d.eE+-]*", text):
        return Text("%.7g" % float(text))
    if text.startswith("[0, 1, 2, 3"):
        return atom("lane")
    return Text(text if text in ("true", "false") else "table")
