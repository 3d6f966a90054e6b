"""How well arenas are used: `arena.py [--most=RATIO] FILE.mlir "B=1 T=128 .." ...`: files of the stage `buffers`, each behind
it the lengths to look at; dims that are not named are 1.

Reads the places of model.place and model.scratch with their lives, of each function. At the lengths, no more is reserved
than RATIO times what lives at once. At 40 random choices of lengths, zeros among them, no two storages that live at the same
time have a byte in common, and all are inside the arena. Prints a line for each function and choice."""
import os
import random
import re
import sys

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
from checks import check, finish  # noqa: E402

PLACE = r'#model\.place<arena, "([^"]*)">'
LIFE = r'\{begin = (\d+) : i64, bytes = "([^"]*)", end = (\d+) : i64, storage = (\d+) : i64\}'


def code_of(form):
    return compile(form, form, "eval")


def number(code, dims):
    return eval(code, {"max": max, "min": min, "__builtins__": {}}, dims)


class Names(dict):
    """Lengths; those without a number are 1."""
    def __missing__(self, name):
        if name in ("max", "min"):
            raise KeyError(name)
        return 1


def functions(path):
    """(name, form of the arena, {storage: (begin, end, offset, bytes)}) of each function with a plan."""
    with open(path, encoding="utf-8") as f:
        lines = f.read().splitlines()
    text = "\n".join(lines)
    arenas = dict(re.findall(r"^(#arena\d*) = %s$" % PLACE, text, re.M))
    slots = {}  # alias of a pair: the offset and the life, where it is in the arena
    for alias, place, life in re.findall(r"^(#slot\d*) = \[(\S+|#model\.place<[^>]*>), (\{.*\})\]$", text, re.M):
        inline = re.match(PLACE, place)
        if inline or place in arenas:
            slots[alias] = (inline.group(1) if inline else arenas[place], re.match(LIFE, life).groups())

    current = None
    for line in lines:
        if "func.func" in line:
            if current:
                yield current
            arena = re.search(r'model\.arena = "([^"]*)"', line)
            current = (re.search(r"@(\w+)", line).group(1), code_of(arena.group(1)), {}) if arena else None
        if not current:
            continue
        for alias in re.findall(r"#slot\d*", line) if "model." in line and not line.startswith("#") else ():
            if alias in slots:
                offset, (begin, size, end, storage) = slots[alias]
                mine = (int(begin), int(end), offset, size)
                known = current[2].setdefault(int(storage), mine)
                check(known == mine, "storage %s of @%s is one: %s, %s" % (storage, current[0], known, mine))
    if current:
        yield current


def at(storages, dims):
    """(begin, end, offset, bytes in whole lines) in numbers; None where a length is below 0."""
    found = []
    for begin, end, offset, size in storages:
        n = number(size, dims)
        if n < 0:
            return None
        found.append((begin, end, number(offset, dims), (n + 63) // 64 * 64))
    return found


def alive(parts):
    changes = {}
    for begin, end, _, size in parts:
        changes[begin] = changes.get(begin, 0) + size
        changes[end + 1] = changes.get(end + 1, 0) - size
    now = most = 0
    for when in sorted(changes):
        now += changes[when]
        most = max(most, now)
    return most


def apart(parts, arena):
    """The first two that live together and overlap, or the one that is outside; None: all is well."""
    for i, (begin, end, offset, size) in enumerate(parts):
        if offset < 0 or offset + size > arena or offset % 64:
            return parts[i]
        for other in parts[:i]:
            if begin <= other[1] and other[0] <= end and offset < other[2] + other[3] and other[2] < offset + size:
                return parts[i], other
    return None


def main():
    most, path, dice = 1e9, None, random.Random(38)
    plans = []
    for argument in sys.argv[1:]:
        if argument.startswith("--most="):
            most = float(argument[7:])
        elif argument.endswith(".mlir"):
            path = argument
            plans = []
            for name, arena, found in functions(path):
                forms = [(b, e, code_of(o), code_of(s)) for b, e, o, s in found.values()]
                check(forms, "@%s has storages" % name)
                plans.append((name, arena, forms))
                dims = sorted({d for b, e, o, s in forms for d in o.co_names + s.co_names} - {"max", "min"})
                tried = 0
                for _ in range(40):
                    lengths = Names({d: dice.choice((0, 1, 2, 3, 7, 17, 64, 300, 1000)) for d in dims})
                    parts = at(forms, lengths)
                    if parts is not None:
                        tried += 1
                        wrong = apart(parts, number(arena, lengths))
                        check(not wrong, "%s @%s at %s: %s" % (path, name, dict(lengths), wrong))
                check(tried, "some lengths fit @%s" % name)
        else:
            lengths = Names((d, int(n)) for d, n in (pair.split("=") for pair in argument.split()))
            for name, arena, forms in plans:
                parts = at(forms, lengths)
                if not check(parts is not None, "no length of @%s is below 0 at %s" % (name, argument)):
                    continue
                needs = alive(parts)
                reserved = number(arena, lengths) - 64  # with which an arena ends
                print("%s @%s %s: %d reserved, %d alive at once, %.3f" %
                      (path.rpartition("/")[2], name, argument, reserved, needs, reserved / needs))
                check(reserved <= most * needs, "@%s reserves no more than %.2f of what is alive" % (name, most))
    return finish()


if __name__ == "__main__":
    sys.exit(main())
