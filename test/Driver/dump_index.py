"""dump_index.py HEDDLE MODEL WORK [OPTIONS...]: a dump of MODEL (--emit=buffers), held against what the driver promises of it.

index.json and index.html name every file, and no file is there that they do not name. The differences of all passes,
applied in order to the functions of the first file, give the functions of every later one but for the numbers of values;
a pass without a difference leaves the text as it is. With --only=changed the same rows have the same files, but for those
of passes that changed nothing."""
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import urllib.parse

NAME = re.compile(r"%[\w.$-]+|\^bb\d+")


def dump(heddle, model, folder, *options):
    shutil.rmtree(folder, ignore_errors=True)
    emit = [] if any(o.startswith("--emit=") for o in options) else ["--emit=buffers"]
    subprocess.run([heddle, "compile", model, *emit, "-o", os.path.join(os.path.dirname(folder), "out.mlir"), "--dump-ir=" + folder, *options], check=True)
    with open(os.path.join(folder, "index.json")) as f:
        return json.load(f)


def functions(path):
    """{name: lines} of a file of IR, without locations."""
    found, name = {}, None
    with open(path) as f:
        lines = [re.sub(r" loc\(#loc\d*\)", "", line.rstrip("\n")) for line in f]
    body = next(i for i, line in enumerate(lines) if line.startswith("module"))
    for line in lines[body + 1:]:
        if line.startswith("}"):
            break
        if re.match(r"  [^ }^]", line):
            name = re.search(r'@"?([\w.$-]+)', line)[1]
            found[name] = []
        found[name].append(line)
    return found


def said(lines):
    """Lines without numbers of values, aliases and long constants."""
    return [re.sub(r"dense(_resource)?<.*?>", "dense", re.sub(r"[#!][A-Za-z_]\w*", "#", NAME.sub("%", line))) for line in lines]


def apply(text, path):
    """Applies the difference to {name: lines}; every line that stays or goes must be there."""
    with open(path) as f:
        lines = f.read().split("\n")
    i = 0
    while i < len(lines):
        if not lines[i].startswith("--- "):
            i += 1
            continue
        old, new = lines[i][4:], lines[i + 1][4:]
        name = (old if old != "/dev/null" else new)[2:]
        i += 2
        if not name.startswith("@"):
            while i < len(lines) and not lines[i].startswith("--- "):
                i += 1
            continue
        before, after, at = text.get(name[1:], []), [], 0
        assert (old == "/dev/null") == (name[1:] not in text), "%s: %s" % (path, name)
        while i < len(lines) and (hunk := re.match(r"@@ -(\d+),(\d+) \+(\d+),(\d+) @@", lines[i])):
            first, count, new_first, new_count = map(int, hunk.groups())
            first, new_first = first - bool(count), new_first - bool(new_count)
            after += before[at:first]
            at, i = first, i + 1
            assert len(after) == new_first, "%s: %s begins at line %d, not %d" % (path, name, len(after), new_first)
            while i < len(lines) and lines[i][:1] in (" ", "-", "+") and not lines[i].startswith("--- "):
                sign, line = lines[i][0], lines[i][1:]
                if sign != "+":
                    assert before[at] == line, "%s: %s line %d is %r, not %r" % (path, name, at, before[at], line)
                    at += 1
                if sign != "-":
                    after.append(line)
                i += 1
            assert at == first + count and len(after) == new_first + new_count, "%s: a hunk of %s has other lines" % (path, name)
        after += before[at:]
        if new == "/dev/null":
            assert not after, "%s: %s is gone" % (path, name)
            del text[name[1:]]
        else:
            text[name[1:]] = after


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.links, self.rows, self.tags = [], 0, set()

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.rows += tag == "tr"
        self.links += [value for name, value in attributes if name in ("href", "src")]


def main():
    heddle, model, work, *options = sys.argv[1:]
    os.makedirs(work, exist_ok=True)
    folder = os.path.join(work, "ir")
    index = dump(heddle, model, folder, *options)
    passes = index["passes"]
    assert index["schema"] == "heddle-dump/1" and [p["number"] for p in passes] == list(range(len(passes))), index["schema"]
    named = {name for p in passes for name in (p["file"], p["diff"]) if name} | {"index.json", "index.html"}
    assert named == set(os.listdir(folder)), named ^ set(os.listdir(folder))
    page = Page()
    with open(os.path.join(folder, "index.html")) as f:
        page.feed(f.read())
    assert page.rows == len(passes) + 1 and {urllib.parse.unquote(link) for link in page.links} == named - {"index.json", "index.html"}, page.links
    assert not page.tags & {"script", "img", "link", "iframe"}, page.tags

    text = functions(os.path.join(folder, passes[0]["file"]))
    for last, now in zip(passes, passes[1:]):
        assert now["ops"][0] == last["ops"][1], now
        assert now["changed"] == bool(now["diff"]) == bool(now["functions"] or now["attributes"]), now
        if now["diff"]:
            apply(text, os.path.join(folder, now["diff"]))
        real = functions(os.path.join(folder, now["file"]))
        assert {n: said(lines) for n, lines in text.items()} == {n: said(lines) for n, lines in real.items()}, "%s: its difference makes another text" % now["file"]
    changed = sum(p["changed"] for p in passes)

    few = dump(heddle, model, os.path.join(work, "few"), "--only=changed", *options)["passes"]
    assert [p["diff"] for p in few] == [p["diff"] for p in passes]
    assert [p["file"] for p in few] == [p["file"] if p["changed"] or not p["number"] else None for p in passes]
    for p in few:
        if p["file"]:
            with open(os.path.join(work, "few", p["file"])) as a, open(os.path.join(folder, p["file"])) as b:
                bare = [[line for line in f if "heddle-opt" not in line] for f in (a, b)]
                assert bare[0] == bare[1], p["file"]
    print("%d passes, %d changed something, 0 failed" % (len(passes) - 1, changed))
    return not 0 < changed < len(passes) - 1


if __name__ == "__main__":
    sys.exit(main())
