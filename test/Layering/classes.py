"""No class over 30 methods, counted in the text: member functions of a class, static ones too, not constructors and destructors.

Prints a line for each that has more; exit status 1 if there is any that EXCUSED does not list."""
import os
import re
import sys

from layering import CODE, ROOT, sources

MOST = 30
# The class, and why it may have more.
EXCUSED = {
    "compiler/Import/Evaluate/Value.h: Value": "a variant: a maker and a reader for each of its kinds",
}


def blank(text):
    """The text without comments, strings and directives, of the same length."""
    pattern = r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|^[ \t]*#(?:\\\n|[^\n])*'
    return re.sub(pattern, lambda m: " " * len(m[0]), text, flags=re.S | re.M)


def closing(text, at):
    """The place behind the brace that closes the one at `at`."""
    depth = 0
    for n in range(at, len(text)):
        depth += {"{": 1, "}": -1}.get(text[n], 0)
        if not depth:
            return n + 1
    return len(text)


def flat(text):
    """A class's own declarations: bodies, classes inside and what stands in brackets or angles taken out."""
    out, n = "", 0
    while n < len(text):
        if text[n] == "{":
            n, out = closing(text, n), out + ";"
        else:
            out, n = out + text[n], n + 1
    for pattern, left in ((r"<[^<>{};]*>", ""), (r"\[[^\[\]]*\]", ""), (r"\((?! ?\))[^()]*(\(\)[^()]*)*\)", "()")):
        while (shorter := re.sub(pattern, left, out)) != out:
            out = shorter
    return out


def methods(name, body):
    found = []
    for statement in re.split(r"[;]|\b(?:public|private|protected)\s*:", flat(body)):
        statement = statement.split("=")[0] if not re.search(r"\boperator\b", statement) else statement
        if re.match(r"\s*(using|friend|typedef|static_assert|class|struct|enum|union|template\s*class)\b", statement):
            continue
        for m in re.finditer(r"(~?\w+|operator\W{1,3})\s*\(\)", statement.split(" : ")[0]):
            if m[1] not in (name, "~" + name, "decltype", "alignas", "noexcept", "if", "sizeof"):
                found.append(m[1])
    return found


def classes(text):
    for m in re.finditer(r"\b(?<!enum )(?:class|struct)\s+(?:[A-Z]{2}[A-Z_]+\s+)?(\w+)(?:\s+final)?\s*(?::[^;{}()]*)?\{", text):
        yield m[1], text[m.end(): closing(text, m.end() - 1) - 1]


SAMPLE = """class A final : public B { public: A(int x) : y(x) { c(); } ~A();
  int f(T t = g(1)) const { return h(2); }
  static std::map<int, std::function<int(int)>> n(), o(int a, int b); // p()
  struct I { void q(); }; using U = int(int); int r = s(3); int v{w(4)}; bool operator==(const A &a) const; };"""


def main():
    counted = [methods(name, body) for name, body in classes(blank(SAMPLE))]
    if counted != [["f", "n", "o", "operator=="], ["q"]]:
        print("classes.py counts %s" % counted)
        return 1
    wrong, excused = 0, set()
    for folder in CODE:
        for path in sources(folder):
            if not path.endswith((".h", ".cpp")):
                continue
            with open(path, encoding="utf-8") as f:
                text = blank(f.read())
            for name, body in classes(text):
                own = methods(name, body)
                place = "%s: %s" % (os.path.relpath(path, ROOT), name)
                if len(own) > MOST and place in EXCUSED:
                    excused.add(place)
                elif len(own) > MOST or "--all" in sys.argv and len(own) > 20:
                    wrong += len(own) > MOST
                    print("%s: %d methods" % (place, len(own)))
    for place in sorted(set(EXCUSED) - excused):
        print("%s needs no excuse any more" % place)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
