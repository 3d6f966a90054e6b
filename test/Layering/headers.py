"""Every header is guarded by a name made of its path, every file opens by saying what it is for."""
import os
import sys

from layering import CODE, ROOT, sources


def main():
    wrong = 0
    for folder in CODE:
        for path in sources(folder):
            name = os.path.relpath(path, ROOT)
            with open(path, encoding="utf-8") as f:
                text = f.read()
            said = []
            if name.endswith(".h"):
                inner = "runtime/" + name[len("runtime/include/heddle/"):] if name.startswith("runtime/include/heddle/") else name
                guards = {"HEDDLE_" + "".join(c if c.isalnum() else "_" for c in part).upper() for part in (name, inner)}
                if not any("#ifndef %s\n#define %s\n" % (g, g) in text for g in guards):
                    said.append("its guard should be %s" % sorted(guards)[-1])
            if not text.startswith(("//", "/*", "#", ";")):
                said.append("it should open with what it is for")
            if len(text.split("\n")) > 800:
                said.append("%d lines: at 800 a file is two files" % len(text.split("\n")))
            for s in said:
                print("%s: %s" % (name, s))
                wrong += 1
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
