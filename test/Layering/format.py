"""format.py [--fix]: whether every source stands as .clang-format says; with --fix it is made so (`ninja check-format` asks).

Versions differ in what they make of a rule, so it is clang-format-22 or nothing: without it this says so and passes. Tables whose
rows are to stay stand between `// clang-format off` and `// clang-format on`."""
import os
import shutil
import subprocess
import sys

from layering import CODE, ROOT, sources

TOOL = "clang-format-22"


def main():
    if not shutil.which(TOOL):
        print("skipped: there is no " + TOOL)
        return 0
    files = [p for folder in CODE + ("test",) for p in sources(folder) if p.endswith((".h", ".cpp", ".c"))]
    how = ["-i"] if sys.argv[1:] == ["--fix"] else ["--dry-run", "-Werror", "--ferror-limit=1"]
    done = subprocess.run([TOOL] + how + files, cwd=ROOT, capture_output=True, text=True)
    wrong = [line for line in done.stderr.splitlines() if "error:" in line]
    print("\n".join(wrong) or "%d files, all formatted" % len(files))
    return int(done.returncode != 0)


if __name__ == "__main__":
    sys.exit(main())
