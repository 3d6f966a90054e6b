"""Runs what a document promises: `readme.py --bin DIR [--all-but] DOCUMENT.md...`

Every ```sh block is executed by bash, in one scratch folder per document that looks like the root of the repository (`build/bin` is
the build under test, in test/run.sh with the machine code that other tests have made, support/cached.py; files that commands write
stay in the scratch folder). A ```text block after it must be exactly what the
commands printed; a line `...` in it stands for any lines. A block under a comment `<!-- file: NAME -->` becomes that file, for the
commands after it. A block under `<!-- not run: reason -->` is left alone, and ```mlir is examples.py's; any other is a failure: nothing
in a document goes unproved without saying so. One line a failure, then `N passed, N failed`."""
import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Where examples.py looks for mlir.
EXECUTED = ("dialects/", "compiler/", "targets/")


class Block:
    def __init__(self, kind, line, text, name=None):
        self.kind, self.line, self.text, self.name = kind, line, text, name
        self.expected = None


def blocks(path, text):
    """-> [Block], of the kinds sh, file and stray"""
    found, marks = [], {}
    for m in re.finditer(r"^[ ]*<!-- (not run|file): (.*?) -->|^[ ]*```(\w*)\n(.*?)^[ ]*```$", text, re.M | re.S):
        mark, said, kind, body = m.groups()
        if mark:
            marks[mark] = said
            continue
        line = text.count("\n", 0, m.start()) + 1
        if "file" in marks:
            found.append(Block("file", line, body, marks["file"]))
        elif "not run" in marks:
            found.append(Block("left", line, body))
        elif kind == "sh":
            found.append(Block("sh", line, body))
        elif kind == "text" and found and found[-1].kind == "sh" and found[-1].expected is None:
            found[-1].expected = body
        elif not (kind == "mlir" and os.path.relpath(path, ROOT).startswith(EXECUTED)):
            found.append(Block("stray", line, body))
        marks = {}
    return found


def documents():
    for top, folders, names in os.walk(ROOT):
        folders[:] = sorted(f for f in folders if not f.startswith((".", "build")))
        for name in sorted(names):
            # The examples of error pages fail, as they should: explain.py runs them.
            if name.endswith(".md") and top != os.path.join(ROOT, "compiler", "Explain", "codes"):
                yield os.path.join(top, name)


def fits(expected, actual):
    lines = [l.rstrip() for l in expected.strip("\n").split("\n")]
    pattern = "\n".join(r"[^\0]*" if l == "..." else re.escape(l) for l in lines)
    return re.fullmatch(pattern, "\n".join(l.rstrip() for l in actual.strip("\n").split("\n"))) is not None


def link_tools(bin_dir, folder):
    """The tools in `folder`; `heddle compile` keeps machine code where it has a folder for that."""
    flags = " ".join(map(shlex.quote, cached.flags(os.path.join(bin_dir, "heddle"))))
    if not flags:
        return os.symlink(bin_dir, folder)
    os.mkdir(folder)
    for name in os.listdir(bin_dir):
        if name != "heddle":
            os.symlink(os.path.join(bin_dir, name), os.path.join(folder, name))
    heddle = os.path.join(folder, "heddle")
    with open(heddle, "w") as f:
        f.write("""#!/bin/sh
case "$1 $*" in
*--code-cache*) ;;
"compile "*) exec %s "$@" %s ;;
esac
exec %s "$@"
""" % (shlex.quote(os.path.join(bin_dir, "heddle")), flags, shlex.quote(os.path.join(bin_dir, "heddle"))))
    os.chmod(heddle, 0o755)


def run(path, bin_dir, timeout):
    """-> failures, number of blocks"""
    with open(path, encoding="utf-8") as f:
        todo = [b for b in blocks(path, f.read()) if b.kind != "left"]
    failures = []
    with tempfile.TemporaryDirectory(prefix="heddle-docs-") as made:
        scratch = os.path.realpath(made)
        for name in os.listdir(ROOT):
            if name not in (".git", "build"):
                os.symlink(os.path.join(ROOT, name), os.path.join(scratch, name))
        os.mkdir(os.path.join(scratch, "build"))
        link_tools(bin_dir, os.path.join(scratch, "build", "bin"))
        for block in todo:
            where, expected = "%s:%d" % (os.path.relpath(path, ROOT), block.line), block.expected
            if block.kind == "stray":
                failures.append("%s: neither executed nor under <!-- not run: reason -->" % where)
                continue
            if block.kind == "file":
                written = os.path.join(scratch, block.name)
                os.makedirs(os.path.dirname(written), exist_ok=True)
                if os.path.realpath(written) != written:
                    sys.exit("%s: %s would change the tree" % (where, block.name))
                with open(written, "w", encoding="utf-8") as f:
                    f.write(block.text)
                continue
            try:
                p = subprocess.run(["bash", "-euo", "pipefail", "-c", block.text], cwd=scratch, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout)
            except subprocess.TimeoutExpired:
                failures.append("%s: not done after %d s" % (where, timeout))
                continue
            said = p.stdout.decode(errors="replace")
            if p.returncode:
                failures.append("%s: exit status %d: %s" % (where, p.returncode, said.strip()[-500:]))
            elif expected is not None and not fits(expected, said):
                failures.append("%s: expected\n%s\nfound\n%s" % (where, expected.strip("\n"), said.strip("\n")[:4000]))
    return failures, len(todo)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--bin", required=True)
    p.add_argument("--timeout", type=int, default=300)
    p.add_argument("--all-but", action="store_true", help="every document of the tree but those given, and but those of the examples")
    p.add_argument("document", nargs="+")
    o = p.parse_args()
    if o.all_but:
        given = {os.path.abspath(d) for d in o.document}
        o.document = [d for d in documents() if d not in given and not os.path.relpath(d, ROOT).startswith("examples/")]
    passed = failed = 0
    for path in o.document:
        failures, total = run(os.path.abspath(path), os.path.abspath(o.bin), o.timeout)
        for f in failures:
            print("FAIL " + f)
        passed, failed = passed + total - len(failures), failed + len(failures)
    print("%d passed, %d failed" % (passed, failed))
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
