"""damage.py HEDDLE WORK [--count N] [--seed N]: bits of a compiled model are turned over, one at a time, in its weights, its
tokenizer, its card, the index and the seal, and in a side file of weights: `BINARY --verify` finds every one and says where; what
is cheap is found at every start. One line a failure, then `N passed, N failed`."""
import argparse
import os
import random
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached
from checks import check, finish

parser = argparse.ArgumentParser()
parser.add_argument("heddle")
parser.add_argument("work")
parser.add_argument("--count", type=int, default=200)
parser.add_argument("--seed", type=int, default=1)
options = parser.parse_args()
EXAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, "examples", "sentiment")
MAGIC = b"hdseal3\0"
MASK = (1 << 64) - 1


def run(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)


def digest(data):
    """runtime/include/heddle/digest.h, written again"""
    def mix(lane, word):
        lane ^= word
        return ((lane << 27 | lane >> 37) & MASK) * 0x9E3779B97F4A7C15 & MASK
    lanes = list(range(1, 9))
    padded = data + bytes(-len(data) % 64)
    for at in range(0, len(padded), 8):
        lanes[at // 8 % 8] = mix(lanes[at // 8 % 8], int.from_bytes(padded[at:at + 8], "little"))
    result = mix(0x68656464_6c650001, len(data))
    for lane in lanes:
        result = mix(result, lane)
    return result ^ result >> 32


class Parts:
    """Where a binary has what the seal speaks of: (offset, bytes) in the file."""

    def __init__(self, path):
        with open(path, "rb") as f:
            data = f.read()
        def word(at, size=8):
            return int.from_bytes(data[at:at + size], "little")
        # Code may hold the same bytes; the digest decides.
        def find(start, size, wanted):
            at = data.find(start)
            while at >= 0 and digest(data[at:at + size]) != wanted:
                at = data.find(start, at + 1)
            return at, size
        seal = data.find(MAGIC)
        while seal >= 0 and digest(data[seal:seal + 112]) != word(seal + 112):
            seal = data.find(MAGIC, seal + 1)
        check(seal >= 0, "there is no seal")
        of = [word(seal + at) for at in range(0, 120, 8)]
        self.seal = seal, 120
        self.card = find(b"heddle-card 1", of[1], of[2])
        self.index = find((256 << 10).to_bytes(8, "little"), of[3], of[4])
        self.tokenizer = find(b"hdtk", of[7], of[8])
        # The section of the weights.
        table, entry, count, names = word(40), word(58, 2), word(60, 2), word(62, 2)
        strings = word(table + names * entry + 24)
        self.weights = -1, of[5]
        for header in range(table, table + count * entry, entry):
            if data.startswith(b".lrodata", strings + word(header, 4)):
                self.weights = word(header + 24), of[5]
        # What the index says of tensors, in words of its own: where each begins, its name.
        at = self.index[0]
        self.tensors = []
        for i in range(word(at + 8)):
            begin, name = word(at + 24 + 16 * i), at + word(at + 32 + 16 * i)
            self.tensors.append((begin, data[name:data.index(b"\0", name)].decode()))

    def tensor(self, at):
        """The name of what lies at a byte of the weights."""
        return [name for begin, name in self.tensors if begin <= at][-1]


def flipped(path, at, bit, *commands):
    """What the commands say while a bit of a file is turned over."""
    def flip():
        with open(path, "r+b") as f:
            f.seek(at)
            byte = f.read(1)[0]
            f.seek(at)
            f.write(bytes([byte ^ 1 << bit]))
    flip()
    said = [run(*command) for command in commands]
    flip()
    return said


def main():
    shutil.rmtree(options.work, ignore_errors=True)
    os.makedirs(options.work)
    binary, beside = os.path.join(options.work, "model"), os.path.join(options.work, "beside")
    made = run(options.heddle, "compile", EXAMPLE, "-o", binary, *cached.flags(options.heddle))
    check(made.returncode == 0 and made.stderr == "", "compile: " + made.stderr)
    whole = run(binary, "--verify")
    good = r"verified: the card, the tokenizer and .* of weights in \d+ blocks\n"
    check(whole.returncode == 0 and re.fullmatch(good, whole.stdout), "%s" % whole)
    check(run(binary, "--verify", "--threads", "1").stdout == whole.stdout, "one thread says something else")
    parts, random_ = Parts(binary), random.Random(options.seed)
    check(min(part[0] for part in (parts.card, parts.index, parts.tokenizer, parts.weights)) > 0, "parts are missing: %s" % vars(parts))

    # What is small is looked at by everything that is asked of the binary; a flip in the weights by --verify alone.
    found = 0
    for i in range(options.count):
        name = ("weights", "weights", "tokenizer", "card", "index", "seal")[i % 6]
        begin, size = getattr(parts, name)
        at, bit = random_.randrange(size), random_.randrange(8)
        said, info = flipped(binary, begin + at, bit, (binary, "--verify"), (binary, "info"))
        good = said.returncode == 1 and said.stderr.startswith("error[H0111]: ") and said.stdout == ""
        if name == "weights":
            good = good and "block" in said.stderr and "of `%s`" % parts.tensor(at) in said.stderr
        elif name != "tokenizer":
            good = good and info.returncode == 1 and info.stderr == said.stderr
        found += good
        check(good, "byte %d, bit %d of the %s: %s %s" % (at, bit, name, said, info))
    check(run(binary, "--verify").returncode == 0, "the binary is not what it was")
    print("%d of %d flips found" % (found, options.count))

    # A side file of weights is looked at by every call that needs it.
    made = run(options.heddle, "compile", EXAMPLE, "--no-embed", "-o", beside, *cached.flags(options.heddle))
    check(made.returncode == 0 and made.stderr == "", "compile --no-embed: " + made.stderr)
    check(run(beside, "--verify").stdout == whole.stdout, "--no-embed: %s" % run(beside, "--verify"))
    for _ in range(10):
        at, bit = random_.randrange(parts.weights[1]), random_.randrange(8)
        for said in flipped(beside + ".weights", at, bit, (beside, "--verify"), (beside, "a good story")):
            check(said.returncode == 1 and "of `%s`" % parts.tensor(at) in said.stderr, "side file, byte %d: %s" % (at, said))
    check(run(beside, "a good story").returncode == 0, "the side file is not what it was")
    with open(beside + ".weights", "r+b") as f:
        f.write(bytes(random_.randrange(1, 256) for _ in range(parts.weights[1])))
    said = run(beside, "a good story")
    check(said.returncode == 1 and "is not the file this program was compiled with" in said.stderr, "another side file: %s" % said)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
