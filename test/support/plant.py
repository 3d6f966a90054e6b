"""Planted faults: each is one wrong line in the C++, which a test must notice.

A fault is (what is wrong, source, right, wrong, ...): a substitution in a copy of one source. The copy alone (in a unity
build together with the sources beside it) is compiled and linked in front of the libraries of a build, which is not touched;
then `check(build, made, fault)` says what noticed it (None: nobody). Where lines break does not matter: white space and the
marks of comments are passed over. A substitution whose text is not found exactly once is a failure; `--applies` looks for no
more than that.

    FAULTS.PY BUILD_DIR [--only TEXT] [--quick] [--list] [--keep-going-from N]
    FAULTS.PY --applies"""
import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))


def read(path):
    with open(path) as f:
        return f.read()


def write(path, text):
    with open(path, "w") as f:
        f.write(text)


class Build:
    """The commands of a build for some of its targets, to be repeated with one source replaced."""

    def __init__(self, path, scratch, targets):
        self.path, self.scratch, self.targets, self.links, self.lines = os.path.abspath(path), scratch, targets, {}, []

    def commands(self, target):
        out = subprocess.run(["ninja", "-C", self.path, "-t", "commands", target], capture_output=True, text=True, check=True).stdout
        return out.splitlines()

    def compile_command(self, file):
        """As the build compiles it, with its precompiled headers, up to the outputs; and the source of CMake's unity build that
        includes it, if one does."""
        self.lines = self.lines or [line for target in self.targets for line in self.commands(target)]
        for line in self.lines:
            words = shlex.split(line) if " -c " in line else [""]
            unity = words[-1] if "/Unity/unity_" in words[-1] else None
            if words[-1].endswith("/" + file) or unity and '/%s"' % file in read(unity):
                words = words[next(i for i, w in enumerate(words) if re.search(r"\+\+(-\d+)?$", w)):]
                return words[: words.index("-MD")] + ["-w"], unity
        raise SystemExit("no command compiles " + file)

    def compile(self, file, text):
        source, made = os.path.join(self.scratch, os.path.basename(file)), os.path.join(self.scratch, "fault.o")
        write(source, text)
        command, unity = self.compile_command(file)
        if unity:
            spoilt = re.sub('".*/%s"' % re.escape(file), lambda _: '"%s"' % source, read(unity))
            source = os.path.join(self.scratch, "unity.cxx")
            write(source, spoilt)
        done = subprocess.run(command + ["-o", made, "-c", source], cwd=self.path, capture_output=True, text=True)
        return made if done.returncode == 0 else None, done.stderr

    def link(self, tool, made):
        """The tool with this object in front: what it defines is not taken from a library."""
        if tool not in self.links:
            self.links[tool] = self.commands(tool)[-1]
        line, out = self.links[tool], os.path.join(self.scratch, tool)
        line = re.sub(r" -o \S+", " %s -o %s" % (shlex.quote(made), shlex.quote(out)), line, count=1)
        if shutil.which("ld.lld"): # a fifth of the time
            line = line.replace(" -o ", " -fuse-ld=lld -o ", 1)
        subprocess.run(line, shell=True, check=True, cwd=self.path, capture_output=True)
        return out


def visible(text):
    """What is left of a text without white space and the marks of comments, and where each character of it stands."""
    places = [m.start() for m in re.finditer(r"(?!//|(?<=/)/)\S", text)]
    return "".join(text[i] for i in places), places


def substituted(text, right, wrong):
    r"""The text with the wrong lines in the place of the right ones, or why there is none.

    >>> substituted("a; f(b, // of\n    // c\n    c);", "f(b, // of c\n c)", "g()")
    ('a; g();', '')
    >>> substituted("f(a); f( a);", "f(a)", "g()")
    (None, 'not planted (2 places)')
    """
    (all, places), (wanted, _) = visible(text), visible(right)
    count = all.count(wanted)
    if count != 1 or right == wrong:
        return None, "not planted (%d places)" % count
    first = all.index(wanted)
    return text[: places[first]] + wrong + text[places[first + len(wanted) - 1] + 1 :], ""


def spoiled(fault):
    """The source with the fault in it, or why there is none."""
    name, file, right, wrong = fault[:4]
    return substituted(read(os.path.join(ROOT, file)), right, wrong)


def plant(build, fault, check):
    text, why = spoiled(fault)
    if text is None:
        return why, ""
    made, error = build.compile(fault[1], text)
    if not made:
        return "does not compile", next((l for l in error.splitlines() if "error" in l), "")[:160]
    what = check(build, made, fault)
    return ("caught", what) if what else ("SURVIVED", "")


def applies(faults):
    bad = [(f, why) for f in faults for text, why in [spoiled(f)] if text is None]
    for fault, why in bad:
        print("%s: %s: %s: %s" % (fault[1], fault[0], why, fault[2]))
    print("%d passed, %d failed" % (len(faults) - len(bad), len(bad)))
    return int(bool(bad))


def campaign(faults, targets, check, sound=lambda build: None, equivalent=()):
    """The main function of a list of faults. `sound(build)`: what fails without a fault."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?")
    parser.add_argument("--applies", action="store_true", help="only whether each can be planted; needs no build")
    parser.add_argument("--only", default="", help="faults whose name or file has this in it")
    parser.add_argument("--quick", action="store_true", help="every twentieth")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--keep-going-from", type=int, default=0, metavar="N")
    args = parser.parse_args()
    if args.applies:
        return applies(faults)
    chosen = [(n, f) for n, f in enumerate(faults) if args.only in f[0] or args.only in f[1]]
    chosen = [(n, f) for n, f in chosen if n >= args.keep_going_from and (not args.quick or n % 20 == 7)]
    if args.list:
        for n, f in chosen:
            print("%3d %-32s %s" % (n, os.path.basename(f[1]), f[0]))
        for name, file, why in equivalent:
            print("  = %-32s %s: %s" % (os.path.basename(file), name, why))
        return 0
    if not args.build:
        parser.error("which build?")
    caught, start = 0, time.time()
    with tempfile.TemporaryDirectory() as scratch:
        build = Build(args.build, scratch, targets)
        if what := sound(build):
            print("without a fault this fails: %s" % what)
            return 1
        for n, fault in chosen:
            verdict, how = plant(build, fault, check)
            caught += verdict == "caught"
            print("%3d %-9s %-32s %-56s %s" % (n, verdict, os.path.basename(fault[1]), fault[0], how), flush=True)
    print("%d faults in %d s, %d equivalent ones explained (--list)" % (len(chosen), time.time() - start, len(equivalent)))
    print("%d passed, %d failed" % (caught, len(chosen) - caught))
    return int(caught != len(chosen) or not chosen)
