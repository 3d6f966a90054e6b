"""The code of models is the same bytes with --debug-info: `debug_text.py HEDDLE WORK LLVM_TOOLS MODEL...`.

Of a processor .text and .rodata of the program, of a device the PTX without its lines. One line a failure, then
`N passed, N failed`."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
from checks import check, finish
from ptx_code import code

heddle, work, tools, *models = sys.argv[1:]
os.makedirs(work, exist_ok=True)


def run(*words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=1000)
    check(done.returncode == 0, "%s: exit status %d: %s" % (words, done.returncode, done.stderr.decode(errors="replace")[-500:]))
    return done.stdout.decode(errors="replace")


def section(binary, name):
    out = binary + name
    run(os.path.join(tools, "llvm-objcopy"), "--dump-section", "%s=%s" % (name, out), binary, os.devnull)
    with open(out, "rb") as f:
        return f.read()


for model in models:
    for flags in (["--mcpu=x86-64-v3"], ["--mcpu=x86-64-v4", "--dtype=bf16"]):
        plain, lined = os.path.join(work, "plain"), os.path.join(work, "lined")
        run(heddle, "compile", model, "-q", "-o", plain, *flags)
        run(heddle, "compile", model, "-q", "-o", lined, "--debug-info", *flags)
        for name in (".text", ".rodata"):
            check(section(plain, name) == section(lined, name), "%s %s: %s differs" % (model, flags, name))
    device = ["--target=cuda", "--mcpu=sm_80", "--emit=ptx"]
    check(code(run(heddle, "compile", model, *device)) == code(run(heddle, "compile", model, "--debug-info", *device)), "%s: the PTX differs" % model)
sys.exit(finish())
