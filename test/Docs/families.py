"""The tables of families: `families.py [--write] [--page FILE] [--shared DIR]`.

Made from the family files themselves, from the table of published config.json files in test/Configs/README.md, from known.json (classes
that must be accepted) and from the recorded cases of the oracles in ../shared (--shared DIR). Where there are none, the list of recorded
cases is taken from the page as it stands. Without --write it compares with compiler/Families/supported.md (--page FILE), which holds each
table between two marks."""
import argparse
import collections
import glob
import json
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
from family_files import family, names, types  # noqa: E402

PAGE = os.path.join(ROOT, "compiler", "Families", "supported.md")
END = "<!-- end of families -->\n"


def read(*parts):
    with open(os.path.join(ROOT, *parts), encoding="utf-8") as f:
        return f.read()


def heads(known):
    """{pattern: constants} -> `lm` CausalLM, LMHeadModel; ..."""
    groups = collections.OrderedDict()
    for pattern, constants in known.items():
        said = ", ".join(str(v) for v in constants.values() if isinstance(v, str)) or "-"
        groups.setdefault(said, []).append("`%s`" % pattern)
    return "; ".join("%s: %s" % (head, " ".join(names)) for head, names in groups.items())


def recorded(page, shared):
    """family -> names of the cases that others recorded"""
    cases = collections.defaultdict(list)
    for path in glob.glob(os.path.join(shared, "oracle*", "*", "config.json")):
        with open(path, encoding="utf-8") as f:
            cases[json.load(f).get("model_type")].append(os.path.basename(os.path.dirname(path)))
    if cases:
        found = {name: sorted(case for t in types(family(name)) for case in cases[t]) for name in names()}
        return {name: of for name, of in found.items() if of}
    return {name: re.findall("`(.*?)`", of) for name, of in re.findall(r"^\| `(\S+)` \| (.*) \|$", section(page, "recorded"), re.M)}


def section(page, name):
    """what stands between the marks of a table"""
    return page.split("<!-- generated: %s -->\n" % name)[1].split(END)[0]


def table(known_results):
    published = {t: (good or "0", bad or "0") for t, good, bad in
                 re.findall(r"^\| (\S+) \| (\d*) \| (\d*) \|", read("test", "Configs", "README.md"), re.M)}
    known = collections.Counter(c["model_type"] for n, c in json.loads(read("test", "Configs", "known.json")).items() if n != "about")
    rows = ["| family | model types | heads and the classes that ask for them | generates | configs accepted | held against |",
            "|---|---|---|---|---|---|"]
    for name in names():
        doc = family(name)
        kinds = types(doc)
        accepted = sum(int(published[t][0]) for t in kinds if t in published)
        rows.append("| `%s` | %s | %s | %s | %d published, %d more | %s |" % (
            name, " ".join("`%s`" % t for t in kinds), heads(doc["family"]["architectures"]), "yes" if "generate" in doc else "",
            accepted, sum(known[t] for t in kinds), "recorded results" if name in known_results else "the definition"))
    return "\n".join(rows) + "\n"


def cases(known_results):
    rows = ["| family | recorded cases |", "|---|---|"]
    rows += ["| `%s` | %s |" % (name, " ".join("`%s`" % case for case in of)) for name, of in sorted(known_results.items())]
    return "\n".join(rows) + "\n"


def main():
    args = argparse.ArgumentParser()
    args.add_argument("--write", action="store_true")
    args.add_argument("--page", default=PAGE)
    args.add_argument("--shared", default=os.path.join(ROOT, "..", "shared"))
    args = args.parse_args()
    page = read(args.page)
    known_results = recorded(page, args.shared)
    now = page
    refused = sum(int(bad or 0) for bad in re.findall(r"^\| \S+ \| \d* \| (\d*) \|", read("test", "Configs", "README.md"), re.M))
    now = re.sub(r"\d+(\s+published\s+files\s+of\s+other\s+types)", r"%d\1" % refused, now)
    for name, text in (("families", table(known_results)), ("recorded", cases(known_results))):
        now = now.replace(section(now, name), text)
    if args.write:
        with open(args.page, "w", encoding="utf-8") as f:
            f.write(now)
    elif now != page:
        print("%s is not what the families and the recorded cases say: test/Docs/families.py --write" % os.path.relpath(args.page, ROOT))
        return 1
    count = len(names())
    said = re.search(r"(\d+) \[families\]", read("README.md"))
    if not said or int(said[1]) != count:
        print("README.md does not say that there are %d families" % count)
        return 1
    print("%d families" % count)
    return 0


if __name__ == "__main__":
    sys.exit(main())
