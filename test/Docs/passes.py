"""Runs the examples of compiler/Explain/passes.md: `passes.py HEDDLE_OPT [--write]`.

A section is named as a pass. Its first ```mlir block is a function as heddle-opt prints it, the second one what
`heddle-opt --PASS` makes of it; options of the pass are in the words above the first. --write prints both anew. One line
a failure, then `N passed, N failed`."""
import os
import re
import subprocess
import sys
import textwrap

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = os.path.join(ROOT, "compiler", "Explain", "passes.md")
SECTION = re.compile(r"^## (\S+)\n\n(Before.*?:)\n\n```mlir\n(.*?)^```\n(?:\nAfter:\n\n```mlir\n(.*?)^```\n)?", re.M | re.S)


def printed(tool, text, flags):
    """What heddle-opt prints, without the module around it."""
    done = subprocess.run([tool, *flags, "-"], input=text.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    if done.returncode:
        return done.stderr.decode()
    out = done.stdout.decode()
    body = re.fullmatch(r"(.*?)^module \{\n(.*)^\}\n*", out, re.M | re.S)
    return body[1] + textwrap.dedent(body[2]) if body else out


def main():
    tool, write = sys.argv[1], "--write" in sys.argv
    passed = failed = 0
    with open(PAGE, encoding="utf-8") as f:
        page = f.read()

    def anew(section):
        nonlocal passed, failed
        flag, words, before, after = section.groups()
        options = re.search(r"`([^`]*)`", words)
        before_now = printed(tool, before, [])
        after_now = printed(tool, before, ["--%s=%s" % (flag, options[1]) if options else "--" + flag])
        good = before == before_now and after == after_now and before != after
        if not good and not write:
            print("FAIL %s: expected\n%s\n->\n%s\nprinted\n%s\n->\n%s" % (flag, before, after, before_now, after_now))
        passed, failed = passed + good, failed + (not good)
        return "## %s\n\n%s\n\n```mlir\n%s```\n\nAfter:\n\n```mlir\n%s```\n" % (flag, words, before_now, after_now)

    new = SECTION.sub(anew, page)
    if len(SECTION.findall(page)) != len(re.findall(r"^## ", page, re.M)):
        print("FAIL a section has no example")
        failed += 1
    if write:
        with open(PAGE, "w", encoding="utf-8") as f:
            f.write(new)
    print("%d passed, %d failed" % (passed, failed))
    return int(bool(failed) or not passed)


if __name__ == "__main__":
    sys.exit(main())
