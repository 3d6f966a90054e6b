#!/usr/bin/env python3
"""What programs weigh: `sizes.py HEDDLE WORK`.

One program of every kind is compiled for one processor. Its size is that of all sections that lie in the file but
`.lrodata`, which holds weights (a tokenizer counts). A limit is 3 % above what was measured when it was last set: an archive
of the runtime that a kind of program does not need (compiler/Driver/Archives.cpp) is more than that. So each kind is
also compiled with one part more, and must then be beyond its limit. Ends in `N passed, N failed`."""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached
from checks import check, finish
from first_tokens import speech

EXAMPLES = os.path.join(ROOT, "examples")
TEMPLATE = os.path.join(EXAMPLES, "chat", "chat_template.jinja")
# kind: model, flags, most bytes, flags of the same with one part more
KINDS = {
    "tensors": ("seed000_encoder", ["--without=bench"], 373900, []),
    "texts to labels": ("sentiment", ["--without=bench,serve"], 966600, ["--without=serve"]),
    "labels, server": ("sentiment", ["--without=bench"], 1351700, []),
    "texts": ("stories", ["--without=bench,serve"], 801000, ["--without=serve"]),
    "chat and server": ("stories", ["--template", TEMPLATE, "--without=bench"], 1599800, ["--template", TEMPLATE]),
    "pictures": ("shapes", ["--without=bench"], 1146400, []),
    "speech": ("speech", ["--without=bench"], 1301600, []),
    "GPU": ("seed000_encoder", ["--target=cpu,cuda", "--without=bench"], 942900, ["--target=cpu,cuda"]),
}


def size(program):
    said = subprocess.run(["llvm-readelf", "--sections", "--wide", program], check=True, capture_output=True, text=True).stdout
    total = 0
    for line in said.splitlines():
        words = line.replace("[ ", "[").split()
        if len(words) > 6 and re.match(r"\[\d+\]", words[0]) and words[1] != ".lrodata" and words[2] not in ("NULL", "NOBITS"):
            total += int(words[5], 16)
    return total


def main():
    heddle, work = sys.argv[1:]
    os.makedirs(os.path.join(work, "speech"), exist_ok=True)
    speech(os.path.join(work, "speech"), 300)
    for kind, (model, flags, most, more) in KINDS.items():
        path, out = os.path.join(work if model == "speech" else EXAMPLES, model), os.path.join(work, "program")

        def compiled(flags):
            mcpu = "x86-64-v3,sm_80" if "--target=cpu,cuda" in flags else "x86-64-v3"
            subprocess.run([heddle, "compile", path, "--mcpu=" + mcpu, "-o", out, *cached.flags(heddle), *flags], check=True, stderr=subprocess.DEVNULL)
            return size(out)

        small, large = compiled(flags), compiled(more)
        print("%-16s %8d bytes, at most %8d; with one part more %8d" % (kind, small, most, large))
        check(small <= most, "%s: %d bytes; expected at most %d" % (kind, small, most))
        check(large > most, "%s: with one part more %d bytes, which the limit of %d lets through" % (kind, large, most))
    return finish()


if __name__ == "__main__":
    sys.exit(main())
