"""Tidying between the passes of the stage `kernels` changes no launch: `tidied.py HEDDLE HEDDLE_OPT FOLDER MODEL[,FLAG..]..`.

Each model is compiled up to `buffers` for a device. Then the passes of `kernels` run as the table of stages has them, and once
more with CSE and canonicalization before and after each. Compared are the launches in the order of the entries' calls (items,
threads, shared memory, chips, places, costs) and the repeats around them. The names of kernels and their numbers are left out:
they say which kernels were found equal, and that is a matter of their code. With the flag `alone` no kernel is joined, and PTX
is compared too: each kernel has the same accesses of memory, arithmetic of reals and
exchanges between threads, in any order. Prints a line a difference, then the counts; exit 1 if there is one."""
import collections
import os
import re
import subprocess
import sys

TIDY = ["--cse", "--canonicalize"]
JOIN = "--heddle-join-kernels"


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode()


def passes(heddle):
    """Of the row `kernels` in the table of stages."""
    row = re.search(r"^\| `kernels` .*\| ([^|]*) \|$", run(heddle, "stages"), re.M)
    return ["--" + name for name in row[1].split(", ")]


def launched(text):
    """What a module says of launches: {"launch": in the order of the entries' calls, "repeat": around them}. The numbers that
    tell launches of one kernel apart are left out."""
    launches = re.findall(r"#tile\.launch<((?:[^<>\"]|\"[^\"]*\"|<[^<>]*>)*)>", text)
    place = lambda one: (re.search(r'entry = "(.*?)"', one)[1], int((re.search(r", number = (\d+)", one) or [0, 0])[1]))
    return {"launch": [re.sub(r", numbers = \[[^\]]*\]", "", one) for one in sorted(launches, key=place)],
            "repeat": re.findall(r"#card\.repeat<[^<>]*>", text)}


def instructions(ptx):
    counted = re.compile(r"\t(?:@%\w+ )?((?:ld\.(?!param)|st\.|cp\.|atom\.|fma\.|(?:add|sub|mul|div|sqrt)\.rn|mma\.|wgmma\.|shfl\.|bar)\S*)")
    kernels = re.findall(r"\.entry (\w+)\((.*?)^}", ptx, re.M | re.S)
    return [(name, collections.Counter(counted.findall(body))) for name, body in kernels]


def main():
    heddle, heddle_opt, folder = sys.argv[1:4]
    plain = passes(heddle)
    wrong = launches = kernels = 0
    for model in sys.argv[4:]:
        source, *flags = model.split(",")
        alone = "alone" in flags
        name = os.path.join(folder, model.replace("/", "_"))
        run(heddle, "compile", source, "--target=cuda", "--emit=buffers", "-o", name, *[flag for flag in flags if flag != "alone"])
        order = [one for one in plain if not (alone and one == JOIN)]
        made = []
        for kind, what in (("plain", order), ("tidied", TIDY + [one for name in order for one in [name] + TIDY])):
            text = run(heddle_opt, name, *what)
            made.append(launched(text))
            if alone:
                with open(name + kind + ".mlir", "w", encoding="utf-8") as f:
                    f.write(text.replace('heddle.stage = "buffers"', 'heddle.stage = "kernels"'))
                made[-1]["ptx"] = instructions(run(heddle, "compile", f.name, "--target=cuda", "--emit=ptx", "-o", "-"))
                kernels += len(made[-1]["ptx"]) if kind == "plain" else 0
        launches += len(made[0]["launch"])
        for what in made[0]:
            if len(made[0][what]) != len(made[1][what]):
                wrong += 1
                print("%s: %d and %d %s" % (model, len(made[0][what]), len(made[1][what]), what))
            for a, b in zip(made[0][what], made[1][what]):
                if a != b:
                    wrong += 1
                    print("%s: %s: %s\n  tidied: %s" % (model, what, a, b))
    print("%d launches, PTX of %d kernels, %d wrong" % (launches, kernels, wrong))
    return int(bool(wrong) or not launches or not kernels)


if __name__ == "__main__":
    sys.exit(main())
