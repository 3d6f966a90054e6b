"""Runs the examples of the error pages: `explain.py HEDDLE [--write] [CODE...]`.

Each row of runtime/include/heddle/errors.def has a page compiler/Explain/codes/CODE.md: what caused it, an example, what
helps. A block under `<!-- file: NAME -->` becomes that file, the ```sh block is run by bash in a scratch folder next to a
link to examples/, and the ```text block is what it prints. The example must print its code and no other, and end with the
status of its row. In the text block `...` is any text of a line. A page with `<!-- shown by: PATH -->` has an example that
needs more than a folder; the file at PATH must name its code.

--write puts what the commands print into the pages. One line a failure, then `N passed, N failed`."""
import argparse
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TABLE = os.path.join(ROOT, "runtime", "include", "heddle", "errors.def")
PAGES = os.path.join(ROOT, "compiler", "Explain", "codes")
EXITS = {"Input": 1, "Usage": 2, "Unsupported": 3, "Resources": 4, "InputOutput": 5, "Internal": 70}
FILE = re.compile(r"^<!-- file: (\S+) -->\n```\w+\n(.*?)^```$", re.M | re.S)
SHELL = re.compile(r"^```sh\n(.*?)^```\n(?:```text\n(.*?)^```\n)?", re.M | re.S)
SHOWN = re.compile(r"^<!-- shown by: (\S+) -->\n```sh$", re.M)


# What programs do here does not depend on how fast their code is.
AS_HEDDLE = 'heddle() { if [ "$1" = compile ]; then shift; set -- compile --quick "$@"; fi; command "%s" "$@"; }\n'


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as f:
        return f.read()


def fits(expected, actual):
    pattern = re.escape(expected.strip()).replace(r"\.\.\.", ".*")
    return re.fullmatch(pattern, actual.strip()) is not None


def run(heddle, files, commands):
    """-> exit status, what was printed"""
    with tempfile.TemporaryDirectory(prefix="heddle-explain-") as folder:
        os.symlink(os.path.join(ROOT, "examples"), os.path.join(folder, "examples"))
        for name, text in files:
            with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                f.write(text)
        done = subprocess.run(["bash", "-c", AS_HEDDLE % heddle + commands], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=100)
        return done.returncode, done.stdout.decode(errors="replace")


def try_page(code, name, exit_code, heddle, write):
    """-> what is wrong with the page, one string each"""
    path = os.path.join(PAGES, code + ".md")
    if not os.path.exists(path):
        return ["%s: there is no page %s" % (code, os.path.relpath(path, ROOT))]
    page = read(path)
    shells, shown = SHELL.findall(page), SHOWN.search(page)
    if not page.startswith("# %s\n\n" % code) or len(shells) != 1 or page.rstrip().endswith("```"):
        return ["%s: expected its title, a cause, one ```sh block, and what helps" % code]
    if shown:
        holds = os.path.exists(os.path.join(ROOT, shown[1])) and re.search(r"\b(%s|S%s|Error::%s)\b" % (code, code[3:], name), read(ROOT, shown[1]))
        return [] if holds else ["%s: %s does not show it" % (code, shown[1])]
    status, said = run(heddle, FILE.findall(page), shells[0][0])
    codes = set(re.findall(r"error\[(H\d{4})\]", said))
    if codes != {code} or status != EXITS[exit_code]:
        return ["%s: expected the status %d, got %d, and the codes %s:\n%s" % (code, EXITS[exit_code], status, sorted(codes), said)]
    if fits(shells[0][1], said):
        return []
    if not write:
        return ["%s: expected\n%s\nprinted\n%s" % (code, shells[0][1], said)]
    at = SHELL.search(page)
    with open(path, "w", encoding="utf-8") as f:
        f.write(page[:at.start()] + "```sh\n%s```\n```text\n%s\n```\n" % (shells[0][0], said.strip("\n")) + page[at.end():])
    return []


def main():
    p = argparse.ArgumentParser()
    p.add_argument("heddle")
    p.add_argument("--write", action="store_true")
    p.add_argument("code", nargs="*")
    o = p.parse_intermixed_args()
    rows = re.findall(r"^HEDDLE_ERROR\((H\d{4}), (\w+), (\w+), ", read(TABLE), re.M)
    stray = {name[:-3] for name in os.listdir(PAGES)} - {code for code, _, _ in rows}
    failures = ["%s: a page of no code" % code for code in sorted(stray)]
    todo = [row for row in rows if not o.code or row[0] in o.code]
    with ThreadPoolExecutor(2) as pool:
        for wrong in pool.map(lambda row: try_page(*row, os.path.abspath(o.heddle), o.write), todo):
            failures += wrong
    print("\n".join(["FAIL " + f for f in failures] + ["%d passed, %d failed" % (len(todo) - len(failures), len(failures))]))
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
