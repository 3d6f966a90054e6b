"""Places of ops: `statements.py FILE.mlir`, the text of a stage with its locations.

Every linear and attention of the file has a call in the description and a statement of the library; no two of one call have the
same. The first file of a location is the description's, which messages show."""
import os
import re
import sys

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
from checks import check, finish  # noqa: E402


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        lines = f.read().splitlines()
    aliases = dict(re.match(r"(#loc\d*) = loc\((.*)\)$", line).groups() for line in lines if re.match(r"#loc\d* = ", line))

    def full(text):
        return re.sub(r"#loc\d*", lambda m: full(aliases[m.group(0)]), text)

    seen = {}
    for i, line in enumerate(lines):
        if not re.search(r"= (model\.linear|attn\.sdpa) ", line):
            continue
        depth, at = line.endswith("{"), i  # an epilogue is behind it; its location is after the brace
        while depth and not re.match(r"\s*} .*loc\(#", lines[at]):
            at += 1
        where = full(re.search(r"loc\((#loc\d*)\)$", lines[at]).group(1))
        files = re.findall(r'"([^"]*)":(\d+):(\d+)', where)
        check(files and files[0][0].endswith("model.json"), "messages show the description: %s" % where)
        found = re.search(r'callsite\("stdlib\.json":\d+:\d+ at ', where)
        check(found, "a statement of the library, called from somewhere: %s" % where)
        check("$.body" in where and " > " in where, "the path of the call: %s" % where)
        place = re.sub(r'^"[^"]*"\(', "", where)  # without the name of the value
        check(seen.setdefault(place, i) == i, "two ops at %s: lines %d and %d" % (place, seen[place] + 1, i + 1))
    check(len(seen) > 4, "products of a layer")
    return finish()


if __name__ == "__main__":
    sys.exit(main())
