"""Runs what a README promises: `readme.py --bin DIR README.md...`

Every ```sh block is executed by bash, in one scratch folder per README that looks like the root of the repository (`build/bin` is
the build under test; files that commands write stay in the scratch folder). A ```text block after it must be exactly what the
commands printed; a line `...` in it stands for any lines. A ```sh block under a comment `<!-- not run: reason -->` is left alone.
One line a failure, then `N passed, N failed`."""
import argparse
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def blocks(text):
    """-> [(line, commands, expected text or None)]"""
    found, last, unrun = [], None, False
    for m in re.finditer(r"<!-- not run: .*?-->|^```(\w*)\n(.*?)^```$", text, re.M | re.S):
        kind = m.group(1)
        if kind is None:
            unrun = True
        elif kind == "sh":
            last = None
            if not unrun:
                last = [text.count("\n", 0, m.start()) + 1, m.group(2), None]
                found.append(last)
            unrun = False
        elif kind == "text" and last and last[2] is None:
            last[2] = m.group(2)
    return found


def fits(expected, actual):
    lines = [l.rstrip() for l in expected.strip("\n").split("\n")]
    pattern = "\n".join(r"[^\0]*" if l == "..." else re.escape(l) for l in lines)
    return re.fullmatch(pattern, "\n".join(l.rstrip() for l in actual.strip("\n").split("\n"))) is not None


def run(path, bin_dir, timeout):
    """-> failures, number of blocks"""
    with open(path, encoding="utf-8") as f:
        todo = blocks(f.read())
    failures = []
    with tempfile.TemporaryDirectory(prefix="heddle-docs-") as scratch:
        for name in os.listdir(ROOT):
            if name not in (".git", "build"):
                os.symlink(os.path.join(ROOT, name), os.path.join(scratch, name))
        os.mkdir(os.path.join(scratch, "build"))
        os.symlink(bin_dir, os.path.join(scratch, "build", "bin"))
        for line, commands, expected in todo:
            where = "%s:%d" % (os.path.relpath(path, ROOT), line)
            try:
                p = subprocess.run(["bash", "-euo", "pipefail", "-c", commands], cwd=scratch, stdin=subprocess.DEVNULL,
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
    p.add_argument("readme", nargs="+")
    o = p.parse_args()
    passed = failed = 0
    for path in o.readme:
        failures, total = run(os.path.abspath(path), os.path.abspath(o.bin), o.timeout)
        for f in failures:
            print("FAIL " + f)
        passed, failed = passed + total - len(failures), failed + len(failures)
    print("%d passed, %d failed" % (passed, failed))
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
