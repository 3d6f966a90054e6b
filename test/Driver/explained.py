"""Looks at all topics of heddle explain: `explained.py ALL.json NAMES.txt`.

Each has a kind, a name, a title and, but for functions, a text; none has HTML or a table in it, which a terminal would
show as it is; the list of names has each."""
import json
import sys

with open(sys.argv[1], encoding="utf-8") as f:
    topics = json.load(f)
with open(sys.argv[2], encoding="utf-8") as f:
    names = set(f.read().split())
wrong = 0


def check(good, text):
    global wrong
    if not good:
        print(text)
        wrong += 1


for topic in topics:
    name = "%s %s" % (topic["kind"], topic["name"])
    check(topic["title"] or topic["kind"] == "block", name + " has no title")
    check(topic["text"].strip() or topic["kind"] in ("function", "op of descriptions"), name + " has no text")
    check("<td>" not in topic["text"] and "| --" not in topic["text"] and "| :-" not in topic["text"], name + " has a table")
    check(topic["name"] in names, name + " is not listed")
kinds = {topic["kind"] for topic in topics}
check({"error", "stage", "pass", "op", "attribute", "op of descriptions", "block", "mask"} <= kinds, "kinds: %s" % kinds)
print("%d topics, %d wrong" % (len(topics), wrong))
