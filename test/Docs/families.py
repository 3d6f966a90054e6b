"""The table of families, heads and what is known of them: `families.py [--write]`.

Made from the family files themselves, from the table of published config.json files in test/Configs/README.md, from known.json (classes
that must be accepted) and from what compiler/Families/README.md says was held against recorded results, which is compared with the
oracle where that is there. Without --write it compares with compiler/Families/supported.md, which holds the table between two marks."""
import collections
import glob
import json
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FAMILIES = os.path.join(ROOT, "compiler", "Families")
PAGE = os.path.join(FAMILIES, "supported.md")
BEGIN, END = "<!-- generated: families -->\n", "<!-- end of families -->\n"


def read(*parts):
    with open(os.path.join(ROOT, *parts), encoding="utf-8") as f:
        return f.read()


def merged(base, patch):
    """RFC 7396."""
    if not isinstance(patch, dict):
        return patch
    out = dict(base) if isinstance(base, dict) else {}
    for key, value in patch.items():
        if value is None:
            out.pop(key, None)
        else:
            out[key] = merged(out.get(key), value)
    return out


def family(name):
    doc = json.loads(read("compiler", "Families", name + ".json"))
    return merged(family(doc.pop("like")), doc) if "like" in doc else doc


def heads(known):
    """{pattern: constants} -> `lm` CausalLM, LMHeadModel; ..."""
    groups = collections.OrderedDict()
    for pattern, constants in known.items():
        said = ", ".join(str(v) for v in constants.values() if isinstance(v, str)) or "-"
        groups.setdefault(said, []).append("`%s`" % pattern)
    return "; ".join("%s: %s" % (head, " ".join(names)) for head, names in groups.items())


def recorded():
    """the families whose results were recorded, as README.md says"""
    return set(re.search(r"recorded results of the published code.*?:\s+`([^`]*)`", read("compiler", "Families", "README.md"), re.S)[1].split())


def types(name):
    found = family(name)["family"]["model_type"]
    return [found] if isinstance(found, str) else found


def miscounted():
    """what README.md says of recorded results and the oracle does not, where there is one; or the other way round"""
    kinds = set()
    for path in glob.glob(os.path.join(ROOT, "..", "shared", "oracle*", "*", "config.json")):
        with open(path, encoding="utf-8") as f:
            kinds.add(json.load(f).get("model_type"))
    there = {f[:-5] for f in os.listdir(FAMILIES) if f.endswith(".json") and kinds & set(types(f[:-5]))}
    return sorted(there ^ recorded()) if kinds else []


def table():
    published = {t: (good or "0", bad or "0") for t, good, bad in
                 re.findall(r"^\| (\S+) \| (\d*) \| (\d*) \|", read("test", "Configs", "README.md"), re.M)}
    known = collections.Counter(c["model_type"] for n, c in json.loads(read("test", "Configs", "known.json")).items() if n != "about")
    known_results = recorded()
    rows = ["| family | model types | heads and the classes that ask for them | generates | configs accepted | held against |",
            "|---|---|---|---|---|---|"]
    for file in sorted(os.listdir(FAMILIES)):
        if not file.endswith(".json"):
            continue
        name, doc = file[:-5], family(file[:-5])
        kinds = types(name)
        accepted = sum(int(published[t][0]) for t in kinds if t in published)
        rows.append("| `%s` | %s | %s | %s | %d published, %d more | %s |" % (
            name, " ".join("`%s`" % t for t in kinds), heads(doc["family"]["architectures"]), "yes" if "generate" in doc else "",
            accepted, sum(known[t] for t in kinds), "recorded results" if name in known_results else "the definition"))
    return "\n".join(rows) + "\n"


def main():
    with open(PAGE, encoding="utf-8") as f:
        page = f.read()
    before, rest = page.split(BEGIN)
    now = before + BEGIN + table() + END + rest.split(END)[1]
    if "--write" in sys.argv:
        with open(PAGE, "w", encoding="utf-8") as f:
            f.write(now)
    elif now != page:
        print("compiler/Families/supported.md is not what the families say: test/Docs/families.py --write")
        return 1
    if miscounted():
        print("compiler/Families/README.md and the oracle do not agree about recorded results of " + " ".join(miscounted()))
        return 1
    count = now.count("\n| `")
    said = re.search(r"(\d+) \[families\]", read("README.md"))
    if not said or int(said[1]) != count:
        print("README.md does not say that there are %d families" % count)
        return 1
    print("%d families" % count)
    return 0


if __name__ == "__main__":
    sys.exit(main())
