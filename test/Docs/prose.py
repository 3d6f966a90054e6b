"""Checks what a script can check of how pages are written: `prose.py [FILE...]`.

The rules:
  columns    a line has at most 100 columns. A row of a table may have 140, because Markdown cannot
             break it. Fenced blocks, generated tables and tables in test/Bench/results are free.
  length     a README has at most 80 lines. A longer page links its sections within its first 40
             lines, each link leads to a heading, and a README that is such a page is in REFERENCE.
  dates      dates, machines and "before and after" are in test/Bench/results only. A page there
             says in one paragraph after its title what it proved: "Proved: ...".
  words      a word that has several meanings here is not used (WORDS says what to write instead).
  sentences  a sentence has at most 35 words; the aim is 25. Inline code counts as one word.

Of the .td files the descriptions of ops, types, attributes and passes are read: words, sentences.
Of C++ sources and .def tables the string literals of several words are read, which are messages
and help: words.

Prints a line `path:line: rule: text` for each finding, then the number of pages and findings. Exit
status 1 if there is a finding, or if the script misses one of the lines that it must catch
(CAUGHT), or reports one that is right (FREE)."""
import os
import re
import sys
import textwrap

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COLUMNS, ROW_COLUMNS, LINES, CONTENTS, WORDS_A_SENTENCE = 100, 140, 80, 40, 35
RESULTS = "test/Bench/results/"
WRITTEN = {"test/results/nightly.md"}  # by test/nightly.sh, with names of parts and what they said

# READMEs that are reference pages: longer than 80 lines, with a table of contents.
REFERENCE = {"README.md"}

MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
DATES = [
    re.compile(r"\b\d{1,2}(?:st|nd|rd|th)? (?:%s)\b" % MONTHS),
    re.compile(r"\b(?:%s) (?:\d{1,2}, )?\d{4}\b" % MONTHS),
    re.compile(r"\b20\d\d-[01]\d-[0-3]\d\b"),
    re.compile(r"\b(?:Zen [1-9]|EPYC|Ryzen|Xeon|Sapphire Rapids|Ice Lake|Skylake|Graviton ?\d?)\b"),
    re.compile(r"(?i)\bbefore and after\b|\bthe compiler before\b"),
    re.compile(r"(?i)\b(?:earlier that|a|the) day before\b"),
]

PEOPLE = (r"(?:people|persons?|users?|readers?|clients?|engineers?|contributors?|newcomers?"
          r"|strangers?|authors?|developers?|anyone|someone|those|one|attackers?|maintainers?"
          r"|reviewers?|everyone)")
# (pattern, what to write instead, pages or folders in which the word is a defined term). `who` may
# follow a noun for people.
WORDS = [
    (r"\bwho(?:se|m|ever)?\b",
     "who/whose is for people: name the function, the op or the caller", []),
    (r"\b(?:nobody|somebody|everybody|anybody)(?:'s)?\b",
     "name the actor: a row, an op, a client", []),
    (r"\bbesides?\b", "next to, with, in the same folder as, compared with", []),
    (r"(?<!look-)\bbehind\b(?! (?:a|the|another) (?:\w+ )?proxy)", "after, below, at the end of",
     ["compiler/Weights/Gguf/GgufHeader.cpp"]), # the text of a message that ../shared/gguf-cases asks for
    (r"\bin turns\b|\bturned rows?\b|\bturns? of (?:its|the|a) loop\b|\bturns of\b",
     "alternating, iteration, rotated row", []),
    (r"\bpieces?\b", "part, chunk, block, token",
     ["dialects/Tile", "compiler/Conversion/TileToNVVM", "compiler/Conversion/ModelToEntries",
      "compiler/GLOSSARY.md"]),
    (r"\b(?:stands?|stood)\b(?! for\b)", "is, is written, comes", []),
    (r"\blies\b|\blay\b(?! the)", "is stored, is in", []),
    (r"\bcompany\b", "other rows of the batch, other requests", []),
    (r"\brims?\b", "edge", []),
    (r"\btorn\b", "cannot be parsed", []),
    (r"\bkept apart\b", "separate, independent", []),
    (r"\bmend(?:s|ed|ing)?\b", "fix", []),
    (r"\bof (?:its|their) own\b", "separate, own", []),
    (r"\bnone of (?:a|an|the|its|their) \w+'s\b", "not part of", []),
    (r"\bis the (?:business|lowering's|compiler's|runtime's)\b", "name the actor and the verb", []),
]


RULES = [(re.compile("(?i)" + pattern), instead, places) for pattern, instead, places in WORDS]
AFTER_PEOPLE = re.compile(r"(?i)\b%s(?:'s)?,?(?: \w+)? $" % PEOPLE)


def plain(text):
    """Inline code becomes one word, a link becomes its text, emphasis and comments go."""
    text = re.sub(r"<!--.*?-->", " ", text, flags=re.S)
    text = re.sub(r"``.+?``|`[^`]+`", "Code", text, flags=re.S)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"https?://\S+", "Link", text)
    return re.sub(r"\*\*|__|(?<!\w)[*_]|[*_](?!\w)", "", text)


def units(lines):
    """[(number of the first line, text)]: paragraphs, items of lists, cells of tables, headings"""
    found, fenced, current = [], False, None
    for number, line in enumerate(lines, 1):
        bare = line.strip()
        if bare.startswith("```"):
            fenced, current = not fenced, None
            continue
        if fenced:
            continue
        if not bare or re.fullmatch(r"<!--.*-->", bare):
            current = None
            continue
        if bare.startswith("|"):
            row = re.sub(r"`[^`]*`", lambda m: m[0].replace("|", "/"), bare.strip("|"))
            cells = re.split(r"(?<!\\)\|", row)
            found += [[number, c.strip()] for c in cells]
            current = None
        elif bare.startswith("#"):
            found.append([number, bare.lstrip("# ")])
            current = None
        elif current is None or re.match(r"([-*+]|\d+\.) ", bare) or bare.startswith(">"):
            current = [number, re.sub(r"^([-*+]|\d+\.|>) ", "", bare)]
            found.append(current)
        else:
            current[1] += "\n" + bare
    return found


def sentences(text):
    """[(line within the text, sentence)]"""
    text, found, line = plain(text), [], 0
    # The dots of abbreviations and of ellipses end nothing.
    marked = re.sub(r"\b(e\.g|i\.e|vs|cf|etc|al|Fig|No)\.", lambda m: m[0].replace(".", "\0"), text)
    marked = re.sub(r"\.{2,}", lambda m: "\0" * len(m[0]), marked)
    for part in re.split(r"(?<=[.!?])(?=\s)|(?<=[.!?][)\"'])(?=\s)", marked):
        found.append((line + part[:len(part) - len(part.lstrip())].count("\n"), part))
        line += part.count("\n")
    return found


def count(sentence):
    return sum(bool(re.search(r"\w", w)) for w in sentence.split())


def slug(heading):
    """The anchor that GitHub makes of a heading."""
    text = re.sub(r"[`*]|\[|\]\([^)]*\)", "", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def findings(path, text):
    """[(line, rule, what)] of the page `path`, relative to the root."""
    lines, found, fenced, generated = text.split("\n"), [], False, False
    if lines and lines[-1] == "":
        lines.pop()
    results = path.startswith(RESULTS)
    headings, links = set(), []
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            continue
        if fenced:
            continue
        if line.startswith("#"):
            headings.add(slug(line.lstrip("# ")))
        links += [(number, a) for a in re.findall(r"\]\(#([^)]*)\)", line)]
        generated = generated or bool(re.match(r"<!-- (generated|made by)", line))
        generated = generated and not line.startswith("<!-- end")
        row = line.lstrip().startswith("|")
        if generated or row and results:
            continue
        broken = len(line.split()) > 1 and not re.match(r"<!-- .* -->$", line)
        if len(line) > (ROW_COLUMNS if row else COLUMNS) and broken:
            found.append((number, "columns", "%d: %s.." % (len(line), line[:40])))
    if not results:
        if path.endswith("README.md") and len(lines) > LINES and path not in REFERENCE:
            found.append((1, "length", "a README of %d lines; at most %d" % (len(lines), LINES)))
        elif len(lines) > LINES and sum(n <= CONTENTS for n, _ in links) < 3:
            found.append((1, "length", "%d lines without a table of contents in the first %d"
                          % (len(lines), CONTENTS)))
    elif not re.match(r"# .*\n\nProved: ", text):
        found.append((3, "dates", 'expected "Proved: " after the title'))
    found += [(n, "length", "no heading #" + a) for n, a in links if a not in headings]
    for first, unit in units(lines):
        for offset, sentence in sentences(unit):
            number, flat = first + offset, " ".join(sentence.split())
            if not results:
                found += [(number, "dates", m[0]) for p in DATES for m in p.finditer(flat)]
            for pattern, instead, places in RULES:
                if any(path == p or path.startswith(p + "/") for p in places):
                    continue
                for m in pattern.finditer(flat):
                    if "who" in m[0].lower() and AFTER_PEOPLE.search(flat[:m.start()]):
                        continue
                    found.append((number, "words", "%s: %s" % (m[0], instead)))
            if count(sentence) > WORDS_A_SENTENCE:
                found.append((number, "sentences", "%d words: %s.." % (count(sentence), flat[:60])))
    return found


# (page, text, the rule that must catch it)
CAUGHT = [
    ("a/README.md", "word " * 20 + "\n", None),
    ("a/README.md", "This line of a page " * 5 + "is too wide.\n", "columns"),
    ("a/README.md", "| a cell | " + "another cell " * 12 + "|\n", "columns"),
    ("a/README.md", "A line.\n\n" * 41, "length"),
    ("a/page.md", "A line.\n\n" * 41, "length"),
    ("a/page.md", "[one](#one)\n\n# Two\n", "length"),
    ("a/README.md", "It took 3 ms on 24 November 2026.\n", "dates"),
    ("a/README.md", "It took 3 ms in November 2026.\n", "dates"),
    ("a/README.md", "Run of 2026-11-24.\n", "dates"),
    ("a/README.md", "A core of a Zen 4 was used.\n", "dates"),
    ("a/README.md", "CPU seconds, before and after:\n", "dates"),
    (RESULTS + "2026-11-24-x.md", "# X\n\nIt took 3 ms.\n", "dates"),
    ("a/README.md", "A pass whose patterns\nread it.\n", "words"),
    ("a/README.md", "The pass decides who reads the tile.\n", "words"),
    ("a/README.md", "Nobody reads this tile.\n", "words"),
    ("a/README.md", "| file | the table beside it |\n", "words"),
    ("a/README.md", "The options are behind the colon.\n", "words"),
    ("a/README.md", "Measured in turns with the other.\n", "words"),
    ("a/README.md", "A piece of the weights.\n", "words"),
    ("a/README.md", "The rule stands in the table.\n", "words"),
    ("a/README.md", "A program of its own.\n", "words"),
    ("a/README.md", "one " * 20 + "\n" + "two " * 16 + "\n", "sentences"),
    ("a/README.md", "- " + "one " * 20 + "\n  " + "two " * 16 + "\n", "sentences"),
]
# (page, text) without a finding
FREE = [
    ("a/README.md", "```sh\n" + "x" * 60 + " " + "y" * 60 + "  # beside 24 November 2026\n```\n"),
    ("a/README.md", "See\n[figures](" + "long/" * 30 + ").\n"),
    ("a/README.md", "`beside.py` and `test/Bench/results/2026-11-24-fuzzing.md`\n"),
    ("a/README.md", "[A link](test/Bench/results/2026-11-24-fuzzing.md) to a page.\n"),
    ("a/README.md", "Users who ask get the name. `who` is a name.\n"),
    ("a/README.md", "- " + "one " * 19 + ".\n- " + "two " * 19 + ".\n"),
    ("a/README.md", "One " + "some " * 12 + "words.\nThe other " + "more " * 10 + "words.\n"),
    ("a/README.md", "In one place, e.g. " + "here " * 9 + "or there.\n"),
    ("dialects/Tile/README.md", "A piece of a tile.\n"),
    ("a/page.md", "[one](#one) [two](#two) [three](#a-b-c)\n\n# One\n\n## Two\n\n## `A`: b, c\n"
     + "A line.\n\n" * 41),
    (RESULTS + "2026-11-24-x.md", "# X\n\nProved: it is fast.\n\nA Zen 4 on 24 November 2026.\n\n| "
     + "a cell | " * 30 + "\n"),
]


def descriptions(path, text):
    """[(line, rule, what)] of the descriptions in a .td file"""
    found = []
    for m in re.finditer(r"\bdescription = \[\{(.*?)\}\]", text, re.S):
        first = text.count("\n", 0, m.start(1))
        found += [(first + n, rule, what) for n, rule, what in findings(path, textwrap.dedent(m[1]))
                  if rule in ("words", "sentences")]
    return found


LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')


def messages(path, text):
    """[(line, rule, what)] of the string literals of several words in a source"""
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        if re.match(r"\s*(//|#\s*include)", line):
            continue
        for m in LITERAL.finditer(re.sub(r"(?<!:)//(?=[^\"]*$).*", "", line)):
            for pattern, instead, places in RULES if " " in m[1] else ():
                q = pattern.search(m[1])
                # A question to a model, in an example of --help, asks for a person.
                if not q or q[0] == "Who" or any(path == p or path.startswith(p + "/") for p in places) or q[0].lower().startswith("piece") \
                        or "who" in q[0].lower() and AFTER_PEOPLE.search(m[1][:q.start()]):
                    continue
                found.append((number, "words", "%s: %s" % (q[0], instead)))
    return found


def self_test():
    wrong = []
    for line, count in (('  return error("it stands in the weights");', 1), ('  // it stands there', 0), ('#include "behind the x"', 0),
                        ('{"stands"}', 0), ('f("see the file", g); // what stands there', 0), ('"a look-behind of"', 0)):
        if len(messages("compiler/a.cpp", line)) != count:
            wrong.append("prose.py: expected %d findings of messages in %s" % (count, line))
    for path, text, rule in CAUGHT:
        rules = {r for _, r, _ in findings(path, text)}
        if rules != ({rule} if rule else set()):
            wrong.append("prose.py: %r: expected the finding %s, got %s"
                         % (text[:60], rule, sorted(rules)))
    ops = "  let description = [{\n    It lies there.\n  }];\n  // It lies.\n"
    if len(descriptions("a.td", ops)) != 1:
        wrong.append("prose.py: a description in a .td file is not read")
    for path, text in FREE:
        wrong += ["prose.py: %r is right, got %s" % (text[:60], f) for f in findings(path, text)]
    return wrong


def pages():
    for top, folders, names in os.walk(ROOT):
        folders[:] = sorted(f for f in folders if not f.startswith((".", "build", "__pycache__")))
        for name in sorted(names):
            path = os.path.relpath(os.path.join(top, name), ROOT)
            code = path.startswith(CODE) and os.path.splitext(name)[1] in KINDS
            if (code or name.endswith((".md", ".td"))) and path not in WRITTEN:
                yield path


KINDS = {".td": descriptions, ".cpp": messages, ".c": messages, ".h": messages, ".def": messages}
CODE = ("compiler/", "dialects/", "runtime/", "targets/")


def main():
    given = [a for a in sys.argv[1:] if not a.startswith("-")]
    named = [os.path.relpath(os.path.abspath(a), ROOT) for a in given]
    wrong, looked, total = self_test(), 0, 0
    for path in named or pages():
        with open(os.path.join(ROOT, path), encoding="utf-8") as f:
            found = sorted(KINDS.get(os.path.splitext(path)[1], findings)(path, f.read()))
        wrong += ["%s:%d: %s: %s" % (path, number, rule, what) for number, rule, what in found]
        looked, total = looked + 1, total + len(found)
    print("\n".join(wrong + ["%d pages and sources, %d findings" % (looked, total)]))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
