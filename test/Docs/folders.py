"""Makes the tables of folders in the READMEs from the tree: `folders.py [--write]`.

A table is between the lines `<!-- generated: folders -->` and `<!-- end of folders -->` of
FOLDER/README.md. It has a row for each folder directly in FOLDER that holds a file. The second
column is what the README of that folder says: its title after the colon, or else its first
sentence. A folder without a README keeps the text of its row; a row without text is a failure.

The list of results in test/Bench/README.md, after `<!-- generated: results -->`, has the title of
each page of test/Bench/results and the paragraph that begins with "Proved: ".

A README with the line `<!-- checked: files -->` before its table of files must name each source of
its folder as inline code; the first column of that table may name nothing else.

Without --write the script compares: a line for each difference, exit status 1. The last line
counts tables, folders and files."""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FILES, SOURCES = "<!-- checked: files -->\n", (".cpp", ".h", ".c", ".def")
BEGIN, END = "<!-- generated: folders -->\n", "<!-- end of folders -->\n"
RESULTS, END_OF_RESULTS = "<!-- generated: results -->\n", "<!-- end of results -->\n"


def subfolders(folder):
    for name in sorted(os.listdir(folder), key=str.lower):
        if name.startswith((".", "build")) or name in ("__pycache__", "Inputs"):
            continue
        path = os.path.join(folder, name)
        if os.path.isdir(path) and any(files for _, _, files in os.walk(path)):
            yield name


def purpose(folder):
    """What the README of the folder says of it, in one line; None without a README."""
    path = os.path.join(folder, "README.md")
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as f:
        title, _, rest = f.read().partition("\n")
    if ": " in title:
        return title.partition(": ")[2].strip()
    first = re.match(r"\s*(.*?\.)(?=\s)", rest, re.S)
    text = " ".join(first[1].split()) if first else ""
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text).rstrip(".")


def table(folder, old):
    rows = "| folder | what |\n|---|---|\n"
    kept = dict(re.findall(r"^\| (?:\[?`([^`]+)`.*?) \| (.*?) \|$", old, re.M))
    for name in subfolders(folder):
        text = purpose(os.path.join(folder, name))
        if text is None:
            rows += "| `%s` | %s |\n" % (name, kept.get(name, ""))
        else:
            rows += "| [`%s`](%s/README.md) | %s |\n" % (name, name, text)
    return rows


def results(folder):
    rows = "| page | what it proved |\n|---|---|\n"
    for name in sorted(os.listdir(os.path.join(folder, "results"))):
        if name.endswith(".md"):
            with open(os.path.join(folder, "results", name), encoding="utf-8") as f:
                page = f.read()
            proved = re.search(r"^Proved: (.*?)\n(?:\n|$)", page, re.M | re.S)
            title = page.partition("\n")[0].lstrip("# ")
            text = " ".join(proved[1].split()).rstrip(".") if proved else ""
            rows += "| [%s](results/%s) | %s |\n" % (title, name, text)
    return rows


def files_of(folder, page):
    """(number of sources, what is wrong with the table of files)"""
    sources = {os.path.splitext(f)[0] for f in os.listdir(folder) if f.endswith(SOURCES)}
    known = sources | set(os.listdir(folder))
    said = set(re.findall(r"`([\w.]+)`", page))
    rows = re.match(r"(?:\|.*\n)+", page.split(FILES)[1])[0].split("\n")[2:-1]
    missing = sources - said - {os.path.splitext(n)[0] for n in said}
    named = [n for row in rows for n in re.findall(r"`([\w.]+)`", row.split("|")[1])]
    wrong = ["the file %s is not named" % f for f in sorted(missing)]
    return len(sources), wrong + ["there is no file %s" % n for n in named if n not in known]


def main():
    tables = folders = files = wrong = 0
    for top, names, here in os.walk(ROOT):
        names[:] = sorted(n for n in names if not n.startswith((".", "build")))
        if "README.md" not in here:
            continue
        path = os.path.join(top, "README.md")
        shown = os.path.relpath(path, ROOT)
        with open(path, encoding="utf-8") as f:
            page = f.read()
        if FILES in page:
            count, found = files_of(top, page)
            tables, files, wrong = tables + 1, files + count, wrong + len(found)
            for what in found:
                print("%s: %s" % (shown, what))
        now = page
        if BEGIN in page:
            before, rest = page.split(BEGIN)
            old, after = rest.split(END)
            rows = table(top, old)
            now = before + BEGIN + rows + END + after
            tables, folders = tables + 1, folders + rows.count("\n") - 2
            for name in re.findall(r"^\| `(\S+)` \|  \|$", rows, re.M):
                print("%s: the folder %s has no README and no text in the table" % (shown, name))
                wrong += 1
        if RESULTS in now:
            before, rest = now.split(RESULTS)
            now = before + RESULTS + results(top) + END_OF_RESULTS + rest.split(END_OF_RESULTS)[1]
            tables += 1
        if now == page:
            continue
        if "--write" in sys.argv:
            with open(path, "w", encoding="utf-8") as f:
                f.write(now)
        else:
            for line in sorted(set(now.split("\n")) ^ set(page.split("\n"))):
                said = "expected" if line in now.split("\n") else "got"
                print("%s: %s: %s" % (shown, said, line))
            print("%s: the table is not that of the tree: test/Docs/folders.py --write" % shown)
            wrong += 1
    print("%d tables, %d folders, %d files, %d wrong" % (tables, folders, files, wrong))
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
