"""callers.py BUILD_DIR: exported functions that nothing calls, by the symbols of what `heddle` and its tools are linked of.

A function is called if some relocation of some object names it (calls, tables of virtual functions, addresses), or if the
sources of its object name it beside its definition, where the compiler may have put it inline. What only a test calls is called by nobody.
Left out: what is generated from ODS (no source spells it), operators, main, what the linker leads calls to (--wrap), and what abi.def lists for generated code."""
import os
import re
import subprocess
import sys

from layering import CODE, ROOT, SOURCES

TARGETS = ["heddle", "heddle-opt", "heddle-translate", "heddle_main", "heddle_inflate", "heddle_device", "heddle_media", "heddle_pictures", "heddle_bench", "heddle_serve"]


def run(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, check=True, **more).stdout


def objects(build):
    """{object: its sources} of the tools and the runtime; a build that lacks one is no build."""
    out = {}
    for line in run("ninja", "-C", build, "-t", "commands", *TARGETS).splitlines():
        m = re.search(r" -o (\S+\.o) .*-c (\S+)$", line)
        if m and "/cmake_pch" not in m[2]:
            out[os.path.join(build, m[1])] = joined(m[2])
    missing = [o for o in out if not os.path.exists(o)]
    if missing:
        sys.exit("callers.py: not built: %s and %d more" % (missing[0], len(missing) - 1))
    return out


def joined(source):
    """The sources that CMake's unity build compiles as this one, else the source alone."""
    if "/Unity/unity_" not in source:
        return [source]
    with open(source, encoding="utf-8") as f:
        return re.findall(r'^#include "(.*)"$', f.read(), re.M)


def symbols(files):
    """{symbol: object} of the functions that are defined, and the symbols that relocations name."""
    defined, named, now, section = {}, set(), "", ""
    for line in run("nm", "-P", "--defined-only", "--extern-only", *files).splitlines():
        words = line.split()
        if line.endswith(":"):
            now = line[:-1]
        elif len(words) > 1 and words[1] == "T":
            defined[words[0]] = now
    for line in run("readelf", "-rW", *files).splitlines():
        if line.startswith("Relocation section"):
            section = line
        elif ".eh_frame" not in section:
            words = line.split()
            if len(words) > 4 and words[2].startswith("R_"):
                named.add(words[4].split("@")[0])
    return defined, named


def plain(text):
    return re.sub(r"//.*", "", text)


def read(path):
    with open(path, encoding="utf-8") as f:
        return plain(f.read())


def generated(build):
    """What code made from ODS calls."""
    words = set()
    for top, _, names in os.walk(build):
        for name in names:
            if name.endswith(".inc"):
                words |= set(re.findall(r"(\w+)\(", read(os.path.join(top, name))))
    return words


def uncalled(build):
    sources = objects(build)
    defined, named = symbols(list(sources))
    spelled = dict(zip(defined, run("c++filt", input="\n".join(defined)).splitlines()))
    called = {spelled[s] for s in defined if s in named} # constructors have several symbols
    abi, inc = read(os.path.join(ROOT, "runtime/include/heddle/abi.def")), generated(build)
    alike = {} # overloads that an object defines
    for symbol, text in spelled.items():
        alike.setdefault((defined[symbol], baseOf(text)), set()).add(text)
    for symbol, text in sorted(spelled.items(), key=lambda e: (defined[e[0]], e[1])):
        owner, base = ownerOf(text), baseOf(text)
        if text in called or base == "main" or base.startswith(("operator", "__wrap_")) or base in inc or re.search(r"\b%s\b" % re.escape(base), abi):
            continue
        texts = {path: read(path) for path in sources[defined[symbol]]}
        source = "\n".join(texts.values())
        own = len(re.findall(r"\b%s::%s\s*\([^;{}]*\)[^;{}]*\{" % (re.escape(owner), re.escape(base)), source)) # definitions
        member = owner[:1].isupper()
        uses = len(re.findall(r"(?<![\w~])%s\b(?=\s*%s)" % (re.escape(base), r"\(" if member else "[(,)>]"), source))
        if member and not own or not uses or base == owner:
            continue
        if uses <= max(own, len(alike[defined[symbol], base])):
            path = next(path for path in texts if re.search(r"\b%s\b" % re.escape(base), texts[path]))
            yield os.path.relpath(os.path.realpath(path), os.path.realpath(ROOT)), text


def baseOf(text):
    return re.sub(r"[\[(<].*", "", re.sub(r"\(.*", "", text).split("::")[-1])


def ownerOf(text):
    return ([""] + re.sub(r"\(.*", "", text).split("::"))[-2]


def main():
    found = list(uncalled(os.path.abspath(sys.argv[1])))
    for source, text in found:
        print("%s: nobody calls %s" % (source, text))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
