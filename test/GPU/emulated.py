#!/usr/bin/env python3
"""Examples on the emulated device: `emulated.py --heddle HEDDLE`.

The encoder's numbers are those of a processor within 2e-5, the rewritten date is the same text; and whatever the order of blocks,
warps and lanes and the number of multiprocessors, the bits are the same and no race is found. Ends in `N passed, N failed`."""
import argparse
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached  # noqa: E402
import tensors  # noqa: E402

DEVICES = ["emulator", "emulator:order=reverse", "emulator:order=random,seed=3,sms=3", "emulator:races"]


def say(command):
    p = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if p.returncode:
        raise RuntimeError("%s: exit status %d: %s" % (os.path.basename(command[0]), p.returncode, p.stdout.decode(errors="replace")[-400:]))
    return p.stdout.decode()


def encoder(heddle, work):
    """-> name, problem"""
    example = os.path.join(ROOT, "examples", "seed000_encoder")
    programs = {}
    for name, flags in (("cpu", []), ("device", ["--target=cuda", "--mcpu=sm_80", "--emulate-alone", "--emulate-races"])):
        programs[name] = os.path.join(work, "encoder-" + name)
        say([heddle, "compile", os.path.join(example, "model.json"), "-o", programs[name]] + cached.quick(heddle) + flags)
    given, result = os.path.join(example, "input.safetensors"), os.path.join(work, "out.safetensors")
    say([programs["cpu"], "run", "--input", given, "--output", result])
    expected, first = tensors.read(result), None
    for device in DEVICES:
        say([programs["device"], "run", "--input", given, "--output", result, "--device=" + device])
        got = tensors.read(result)
        wrong = [tensors.differs(expected[k], got[k], 2e-5, 2e-5) for k in expected]
        first = first or got
        other = [k for k in got if got[k].tobytes() != first[k].tobytes()]
        yield "encoder on " + device, next((w for w in wrong if w), "") or ("other bits than before" if other else "")


def dates(heddle, work):
    program = os.path.join(work, "dates")
    say([heddle, "compile", os.path.join(ROOT, "examples", "dates", "model.json"), "--target=cuda", "--mcpu=sm_80", "--emulate", "-o", program, *cached.flags(heddle)])
    text = say([program, "the twenty-second of November 1963", "--device=emulator"]).strip()
    yield "a date on the emulator", "" if text == "1963-11-22" else "says " + text


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--heddle", required=True)
    o = p.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as work:
        for cases in (encoder, dates):
            try:
                for name, problem in cases(os.path.abspath(o.heddle), work):
                    passed, failed = passed + (not problem), failed + bool(problem)
                    if problem:
                        print("FAIL %s: %s" % (name, problem))
            except RuntimeError as e:
                failed += 1
                print("FAIL %s: %s" % (cases.__name__, e))
    print("%d passed, %d failed" % (passed, failed))
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
