#!/usr/bin/env python3
"""loops.py FILE [--only=PREFIX] [--depth=N | --names] [--options=TEXT]: what the lowering of FILE leaves, as text.

FILE is IR of stage `fused`; heddle-opt plans it, lowers it (--options of the pass) and tidies up. Each function (whose
name begins with heddle_PREFIX) is a nest of loops: index arithmetic stands as polynomials in the loop variables, i, j, k ..
from the outside to the inside; a loop's carried values are i0, i1 ..; an address is `base[index]`, a vector
`base[index : lanes]`, its masked form `base[index : min(lanes, n)]`; `share(n)` is a thread's part of n, n tid / nth to
n (tid + 1) / nth; a call for `dealt(n of P)` stands for a loop of calls, each for one of P parts of n, which threads take from
counters (P is 1 where a thread is alone). Lengths and tensors have the names of the card; of a kernel, those of its first caller. A long quotient,
minimum or choice gets a name (`n0 := ..`, a line in front of the first that uses it), with --names a long real too; what is
nested deeper than N is `..`. Hashes in names of kernels are left out. An op of a dialect that loops are not made of (memref,
one of ours) is an error."""
import re
import subprocess
import sys
from functools import reduce

from terms import Halves, Loaded, Mask, Pointer, Poly, Steps, Text, atom, bracket, constant, join, number, parse

LONG = 16 # letters of a quotient, a minimum or a choice that stands where it is used
ENTRY = ["context", "tid", "nth", "dims", "tensors", "arena", "weights"]
FIRST = {"linear": ["x", "w", "bias", "y"], "matmul": ["x", "w", "y"], "attention": ["query", "key", "value", "result", "scratch"]}
LAST = {"linear": ["rows", "from", "to"], "matmul": ["rows", "depth", "columns", "row", "column"], "attention": ["thread", "from", "to"]}
BINARY = {"addf": "{} + {}", "subf": "{} - {}", "mulf": "{} * {}", "divf": "{} / {}", "andi": "{} & {}", "ori": "{} | {}", "xori": "{} ^ {}"}
INTEGERS = ["==", "!=", "<", "<=", ">", ">=", "<u", "<=u", ">u", ">=u"]
REALS = ["", "==", ">", ">=", "<", "<=", "!=", "ordered", "==", ">", ">=", "<", "<=", "!=", "unordered"]
THROUGH = {"index_cast", "extui", "extsi", "extf", "truncf", "sitofp", "fptosi", "trunci", "broadcast", "bitcast"}


def carry(types, names):
    """What a region hands on: numbers and texts."""
    return [atom(n) if re.match(r"index$|i\d\d", t) else Text(n) for n, t in zip(names, types.strip("()").split(", "))]


class Taken:
    """A part that a thread has taken."""

    def __init__(self, parts):
        self.parts = parts


class Printer:
    def __init__(self, named, only, card):
        self.named, self.only, self.env, self.card, self.calls, self.quotients = named, only, {}, card, {}, {}
        self.dealt = None # the number of parts, inside of a loop that takes them

    def function(self, op):
        symbol, (arguments, body) = op.attr("sym_name"), op.regions[0]
        if not body:
            return
        name = re.sub(r"_[0-9a-f]{16}", "", symbol)
        kind, types = name.split("_")[1], re.search(r"function_type = \((.*?)\) ->", op.attrs)[1].split(", ")
        names = ENTRY
        if kind != "entry": # pointers, numbers, and what is named as the caller names it
            pointers = sum("ptr" in t for t in types)
            names = (FIRST.get(kind, []) + [None] * pointers)[:pointers] + LAST.get(kind, [])
        self.env = {a: Pointer(n) if "ptr" in t else atom(n) for a, n, t in zip(arguments, names, types) if n}
        self.names, self.said, self.loops, self.counter, self.carrying = [], {}, 0, 0, {}
        for n, (a, t, v) in enumerate(zip(arguments, types, self.calls.get(symbol, [None] * len(types)))):
            if isinstance(v, Poly):
                v = sum((reduce(Poly.__mul__, map(self.name, m), number(f)) for m, f in v.items()), number(0))
            self.env.setdefault(a, v if v is not None else Pointer("p%d" % n) if "ptr" in t else atom("p%d" % n))
        self.known = self.card.get(name, {})
        self.quiet = not name.startswith("heddle_" + self.only)
        self.say(0, name + ":")
        self.block(body, 1)

    def block(self, ops, depth):
        """Prints a block; returns what its terminator is given."""
        for op in ops[:-1]:
            self.op(op, depth)
        return [self.env.get(o) for o in ops[-1].operands]

    def say(self, depth, text):
        """A line, behind those of the long names that it is the first to use."""
        if self.quiet:
            return
        bars = "| " * (depth - 1)

        def named(m):
            n = int(m[1])
            if n not in self.said:
                value = re.sub("<(\\d+)>", named, self.names[n])
                self.said[n] = "n%d" % len(self.said)
                print(bars + "%s := %s" % (self.said[n], value))
            return self.said[n]
        print(bars + re.sub("<(\\d+)>", named, text))

    def spell(self, text):
        """Without names: they are the function's own."""
        while re.search("<\\d+>", text):
            text = re.sub("<(\\d+)>", lambda m: self.names[int(m[1])], text)
        return text

    def name(self, text):
        if len(text) <= LONG:
            return atom(text)
        if text not in self.names:
            self.names.append(text)
        return atom("<%d>" % self.names.index(text))

    def share(self, x, y):
        """n where x and y are n tid / nth and n (tid + 1) / nth, or the same of part and parts."""
        a, b = self.quotients.get(str(x)), self.quotients.get(str(y))
        if a and b and str(a[1]) == str(b[1]) == "nth" and (b[0] - a[0]) * atom("tid") == a[0]:
            return "share(%s)" % (b[0] - a[0])
        if a and b and self.dealt and str(a[1]) == str(b[1]) == str(self.dealt) and (b[0] - a[0]) * atom("part") == a[0]:
            alone = re.fullmatch(r"select\(nth == 1, 1, (.*)\)", self.spell(str(self.dealt)))
            items, parts = self.spell(str(b[0] - a[0])), alone[1] if alone else str(self.dealt)
            return "dealt(%s)" % (b[0] - a[0]) if items == parts else "dealt(%s of %s)" % (b[0] - a[0], parts)
        if self.dealt and str(x) == "part" and str(y) == "part + 1":
            return "dealt(%s)" % self.dealt
        return None

    def memory(self, pointer, type_text, mask=None):
        """What a load or a store touches."""
        lanes = re.match(r"vector<(\d+)x", type_text)
        if not lanes:
            return "%s[%s]" % (pointer.base, pointer.index)
        many = "min(%s, %s)" % (lanes[1], mask.count) if isinstance(mask, Mask) else lanes[1] + (" if %s" % mask if mask is not None else "")
        return "%s[%s : %s]" % (pointer.base, pointer.index, many)

    def op(self, op, depth):
        short, values = op.name.split(".")[-1], [self.env.get(o) for o in op.operands]
        if op.regions:
            return getattr(self, short.replace("func", "function"))(op, *([values, depth] if short != "func" else []))
        if short == "call":
            self.calls.setdefault(op.attr("callee"), [Poly({tuple(map(self.spell, m)): f for m, f in v.items()}) if isinstance(v, Poly) else v for v in values])
            if op.attr("callee") == "heddle_take":
                self.env[op.result] = Taken(values[2])
                return None
            callee = re.sub(r"_[0-9a-f]{16}", "", op.attr("callee"))
            parts = [self.share(x, y) for x, y in zip(values, values[1:] + [None])]
            texts = [p or str(v) for n, (v, p) in enumerate(zip(values, parts)) if not (n and parts[n - 1])]
            return self.say(depth, "barrier" if callee == "heddle_barrier" else "%s(%s)" % (callee, ", ".join(texts)))
        if short == "store":
            target = self.memory(values[1], op.inputs.split(", ")[0], values[2] if len(values) > 2 else None)
            return self.say(depth, "%s = %s" % (target, values[0]))
        if short == "prefetch":
            return self.say(depth, "prefetch %s" % values[0])
        if short == "call_intrinsic" and not op.result: # of matrix registers
            return self.say(depth, "%s(%s)" % (op.attr("intrin").split(".")[-1], ", ".join(map(str, values))))
        if op.result:
            value = self.value(op, short, values)
            if self.named and type(value) is Text and len(value.text) > 4 * LONG and not re.match("(sum|largest)[(]", value.text):
                value = Text(str(self.name(value.text)), 1)
            self.env[op.result] = value
        return None

    def value(self, op, short, values):
        if short == "constant":
            return constant(op.attr("value"))
        if short in THROUGH:
            known = not op.integer or isinstance(values[0], Poly) or "i1" in op.types
            return values[0] if known else atom(bracket(values[0]))
        if op.integer and short in ("addi", "subi", "muli") and all(isinstance(v, Poly) for v in values):
            return values[0] + values[1] if short == "addi" else values[0] - values[1] if short == "subi" else values[0] * values[1]
        if re.match("(min|max)[su]i", short):
            return self.name("%s(%s, %s)" % (short[:3], *sorted(map(str, values))))
        if re.match("(div|rem)[su]i", short):
            q = self.name("(%s%s%s)" % (bracket(values[0]), "/" if short[:3] == "div" else "%", bracket(values[1], True)))
            self.quotients[str(q)] = values
            return q
        if short in ("cmpi", "cmpf"):
            return join("{} %s {}" % (INTEGERS if short == "cmpi" else REALS)[int(op.attr("predicate"))], *values)
        folded = self.fold(op, short, values)
        if folded is not None:
            return folded
        if short == "select":
            yes, no = values[1:]
            if isinstance(yes, Poly) and isinstance(no, Poly) and no - yes == number(1) and str(no) in self.quotients:
                return no # rounds down
            if str(values[0]) == "%s < %s" % (no, yes):
                return join("larger({}, {})", yes, no)
            text = join("select({}, {}, {})", *values)
            return self.name(str(text)) if op.integer and "i1" not in op.types else Pointer(str(text)) if isinstance(yes, Pointer) else text
        if short == "xori" and str(values[1]) == "true":
            return join("not {}", bracket(values[0]))
        if short in BINARY:
            plain = short == "addf" and not any(re.search("[&|^<>=]", str(v)) for v in values)
            return join(BINARY[short], *(v if plain else Text(bracket(v, short == "divf"), getattr(v, "depth", 0)) for v in values))
        if short == "create_mask":
            return Mask(values[0])
        if short == "constant_mask":
            return Mask(re.search(r"array<i64: (\d+)>", op.attrs)[1])
        if short == "getelementptr":
            raw = int(re.search(r"array<i32: (-?\d+)>", op.attrs)[1])
            index = values[1] if len(values) > 1 else number(raw)
            place = values[0].behind(index if isinstance(index, Poly) else atom(str(index)), op.attr("elem_type"))
            if any("thread" in m for m in place.index): # a thread's own working memory
                self.say(1, "area := %s" % place)
                return Pointer("area")
            return place
        if short == "load":
            text = self.memory(values[0], op.types, values[1] if len(values) > 1 else None)
            text = self.known.get(text, text)
            if "ptr" in op.types or op.integer:
                return Pointer(text) if "ptr" in op.types else self.name(text)
            return Text(text, 1) if text in self.known.values() else Loaded(text, values[0])
        if short in ("mlir.addressof", "addressof", "zero", "alloca"):
            return Pointer((op.attr("global_name") or {"zero": "null"}.get(short, short)).replace("heddle_", ""))
        if short == "shuffle": # told apart by the first places
            short += re.sub(r".*array<i64: (\d+), (\d+).*", r" \1 \2 of ", op.attrs)
        if short == "fma" and [isinstance(v, Loaded) for v in values] == [True, True, False]:
            return Steps(values)
        return join("%s(%s)" % ({"maximumf": "max"}.get(short, short), ", ".join(["{}"] * len(values))), *values)

    def fold(self, op, short, values):
        """Sums and maxima of lanes, folded in halves."""
        if short == "shuffle" and values[0] is values[1]:
            half, places = int(re.search(r"vector<(\d+)x", op.types)[1]), eval(re.search(r"array<i64: (.*?)>", op.attrs)[1] + ",")
            for word, first in (("low", 0), ("high", half)):
                if list(places) == list(range(first, first + half)):
                    return Halves(word, values[0])
        if short == "extract" and isinstance(values[0], Text) and re.match("sum|largest", values[0].text):
            return values[0]
        folds = {"addf": "sum", "maximumf": "largest", "select": "largest"}
        if short in folds and isinstance(values[-2], Halves) and isinstance(values[-1], Halves):
            (low, x), (high, y) = [(v.half, v.whole) for v in values[-2:]]
            if (low, high) == ("low", "high") and x is y:
                return x if x.text.startswith(folds[short] + "(") else join(folds[short] + "({})", x)
        return None

    def results(self, op, values):
        for n, v in enumerate(values):
            self.env["%s#%d" % (op.result, n) if op.count > 1 else op.result] = v

    def setf(self, depth, names, values):
        for n, v in zip(names, values):
            self.say(depth, "%s <- %s" % (n, v))

    def __getattr__(self, name):
        return {"for": self.loop, "if": self.branch, "while": self.turns}[name]

    def loop(self, op, values, depth):
        (index, *carried), body = op.regions[0]
        var = "ijklmnopqrstuvwxyz"[self.loops]
        if carried:
            self.carrying[var] = self.carrying.get(var, 0) + 1
        again = {0: "", 1: "", 2: "'"}.get(self.carrying.get(var, 0), "'%d" % self.carrying.get(var, 0))
        names = carry(op.types, ["%s%d%s" % (var, n, again) for n in range(len(carried))])
        self.env.update(zip([index] + carried, [atom(var)] + names))
        text = "for %s = %s" % (var, self.share(*values[:2]) or "%s to %s" % (values[0], values[1]))
        text += " step %s" % values[2] if values[2].known() != 1 else ""
        self.say(depth, text + (", %d from %s" % (len(names), ", ".join(sorted({str(v) for v in values[3:]}))) if names else ""))
        self.loops += 1
        self.setf(depth + 1, names, self.block(body, depth + 1))
        self.loops -= 1
        self.results(op, names)

    def branch(self, op, values, depth):
        names = carry(op.types, ["r%d" % (self.counter + n) for n in range(op.count if op.result else 0)])
        self.counter += len(names)
        yes, no = [ops for _, ops in op.regions]
        empty = len(yes) == 1 and not names
        for word, ops in (("if %s" % values[0], yes), ("if not %s" % bracket(values[0]) if empty else "else", no)):
            if len(ops) > 1 or names:
                self.say(depth, word)
                self.setf(depth + 1, names, self.block(ops, depth + 1))
        self.results(op, names)

    def turns(self, op, values, depth):
        (before, test), (after, body) = op.regions
        if isinstance(values[0], Taken):
            self.dealt = values[0].parts
            self.env[after[0]] = atom("part")
            again = self.block(body, depth)
            assert str(again[0].parts) == str(self.dealt), "another loop takes parts"
            self.dealt = None
            return
        names = carry(op.inputs, ["w%d.%d" % (self.counter, n) for n in range(len(before))])
        self.counter += 1
        self.env.update(zip(before, names))
        self.say(depth, "while, %d from %s" % (len(names), ", ".join(map(str, values))))
        going, *passed = self.block(test, depth + 1)
        self.say(depth + 1, "as long as %s" % going)
        self.env.update(zip(after, passed))
        self.setf(depth + 1, names, self.block(body, depth + 1))
        self.results(op, passed)


def cardNames(text):
    """{entry: {load: name}} of lengths and tensors, from the card."""
    entries, now, slot = {}, None, 0
    for word, *rest in (line.split() for line in text.splitlines()):
        if word == "entry":
            now, slot = entries.setdefault("heddle_entry_" + rest[0], {}), 0
        elif word == "dims":
            now.update({"dims[%d]" % n: name for n, name in enumerate(rest)})
        elif word in ("input", "output", "state") and now is not None:
            now["tensors[%d]" % slot] = rest[0]
            slot += 1
    return entries


def main():
    options = dict(a[2:].partition("=")[::2] for a in sys.argv[1:] if a.startswith("--"))
    join.deepest = 99 if "names" in options else int(options.get("depth", 4))
    file = next(a for a in sys.argv[1:] if not a.startswith("--"))
    lower = "--convert-heddle-to-loops" + ("=" + options["options"] if "options" in options else "")
    command = ["heddle-opt", file, "--heddle-tiled", "--heddle-buffers", lower, "--canonicalize", "--cse", "--mlir-print-op-generic"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    module = parse(iter(done.stdout.splitlines()))[1][0]
    card = subprocess.run(["heddle-translate", "--card"], input=done.stdout, capture_output=True, text=True, check=True).stdout
    printer = Printer("names" in options, options.get("only", ""), cardNames(card))
    for op in module.regions[0][1]:
        if op.name == "func.func":
            printer.function(op)


if __name__ == "__main__":
    main()
