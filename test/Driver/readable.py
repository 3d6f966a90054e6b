"""readable.py HEDDLE MODEL [LINES COLUMNS]: every stage of MODEL that is printed before loops, held against what the driver promises
of its text: it prints the same when it is fed back, tells in three comments what it is, has every location behind everything, and
without locations is the same but for them. With LINES and COLUMNS no layer may be longer or wider, its last column being that before
the location. Prints a line a stage."""
import re
import subprocess
import sys
import tempfile

STAGES = ["model", "entries", "fused", "tiled", "buffers"]


def text(heddle, source, stage, *more):
    return subprocess.run([heddle, "compile", source, "--emit=" + stage, *more], check=True, stdout=subprocess.PIPE, text=True).stdout


def bare(line):
    """Without its location."""
    return re.sub(r" loc\(#loc\d*\)", "", line)


def layers(lines):
    """The lines of each repeat that holds no other."""
    begun, found = [], []
    for i, line in enumerate(lines):
        if " model.repeat " in line:
            begun = [i]
        elif begun and line.startswith(" " * (len(lines[begun[0]]) - len(lines[begun[0]].lstrip())) + "}"):
            found.append(lines[begun[0]:i + 1])
            begun = []
    return found


def wrong(stage, lines, again, plain):
    if lines != again:
        yield "fed back it prints otherwise: %r" % next(((a, b) for a, b in zip(lines, again) if a != b), "more or fewer lines")
    if not re.match(r"// .+, stage %s: " % stage, lines[0]) or not lines[1].startswith("// dims: ") or not lines[2].startswith("// parameters: "):
        yield "its header is %r" % lines[:3]
    last = max(i for i, line in enumerate(lines) if line.startswith("}"))
    body = [line for line in lines[:last + 1] if not line.startswith("//")]
    if any(re.search(r"loc\((?!#loc\d*\))", line) or line.startswith("#loc") for line in body):
        yield "a location stands in the text"
    if any(not line.startswith("#loc") for line in lines[last + 1:]):
        yield "not only locations stand at the end"
    if not any("Without locations" in line for line in plain[:4]) or [bare(line) for line in body] != [line for line in plain if not line.startswith("//")]:
        yield "without locations it is another"
    if any(re.search(r"!model\.(tensor|state)<", line) and not re.match(r"!\w+ = ", line) for line in body):
        yield "a tensor type is written out"


def main():
    heddle, model = sys.argv[1:3]
    most = tuple(map(int, sys.argv[3:5])) or (10**9, 10**9)
    failed = 0
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as saved:
        for stage in STAGES:
            whole = text(heddle, model, stage)
            saved.seek(0)
            saved.truncate()
            saved.write(whole)
            saved.flush()
            lines = whole.rstrip("\n").split("\n")
            said = list(wrong(stage, lines, text(heddle, saved.name, stage).rstrip("\n").split("\n"),
                              text(heddle, model, stage, "--no-locations").rstrip("\n").split("\n")))
            sizes = [(len(layer), max(len(bare(line)) for line in layer)) for layer in layers(lines)]
            said += ["a layer has %d lines of up to %d columns" % size for size in sizes if size[0] > most[0] or size[1] > most[1]]
            if not sizes:
                said.append("no layer was found")
            print("%s: %s" % (stage, "; ".join(said) or "layers of %s" % ", ".join("%d x %d" % size for size in sizes)))
            failed += bool(said)
    return failed


if __name__ == "__main__":
    sys.exit(main())
