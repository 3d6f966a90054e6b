"""Runs the commands of compiler/cmake/Docs.cmake and looks at the pages: `generated.py MLIR_TBLGEN INCLUDE`.

Each op, attribute and pass has a summary (the line in italics under its title). One line a failure, then the count."""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def main():
    with open(os.path.join(ROOT, "compiler", "cmake", "Docs.cmake"), encoding="utf-8") as f:
        pages = re.findall(r"^heddle_page\((\S+) (\S+) (.*)\)$", f.read(), re.M)
    ops = attributes = passes = bare = 0
    for name, td, flags in pages:
        command = [sys.argv[1], *flags.split(), "-I", ROOT, "-I", sys.argv[2], os.path.join(ROOT, td)]
        page = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode()
        titles = re.findall(r"^### (`\S+`|\w+Attr\b).*\n\n?(_.+_)?", page, re.M)
        for title, summary in titles:
            if title[0] != "`":
                attributes += 1
            elif title[1] == "-":
                passes += 1
            else:
                ops += 1
            if not summary:
                print("%s: %s has no summary" % (name, title))
                bare += 1
        if not titles:
            print("%s: an empty page" % name)
            bare += 1
    print("%d ops, %d attributes and %d passes with a summary, %d without" % (ops, attributes, passes, bare))
    return int(bare > 0)


if __name__ == "__main__":
    sys.exit(main())
