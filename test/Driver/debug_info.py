"""Lines of a description in its code: `debug_info.py HEDDLE FOLDER LLVM_TOOLS`. One line a failure, then `N passed, N failed`."""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
from checks import check, finish
from ptx_code import code

heddle, folder, tools = sys.argv[1:]
os.chdir(folder)
with open("model.json", encoding="utf-8") as f:
    source = f.read().split("\n")


def run(*words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=100)
    check(done.returncode == 0, "%s: exit status %d: %s" % (words, done.returncode, done.stderr.decode()))
    return done.stdout.decode(errors="replace")


def section(binary, name):
    run(os.path.join(tools, "llvm-objcopy"), "--dump-section", "%s=%s" % (name, binary + name), binary, os.devnull)
    with open(binary + name, "rb") as f:
        return f.read()


def lines_of(text):
    """The lines of model.json that a table of lines names."""
    return {int(n) for n in re.findall(r"^0x\w+ +(\d+) +\d+ +1 ", text, re.M)}


run(heddle, "compile", "model.json", "-o", "plain")
run(heddle, "compile", "model.json", "-o", "lined", "--debug-info")
for name in (".text", ".rodata", ".data.rel.ro"):
    check(section("plain", name) == section("lined", name), name + " differs")
with open("plain", "rb") as f:
    check(b".debug_line" not in f.read(), "there are lines without --debug-info")

# Every statement that computes has a line, and the function of a linear is at its line.
table = run(os.path.join(tools, "llvm-dwarfdump"), "--debug-line", "lined")
check('name: "model.json"' in table, "the file is not named")
named = {source[n - 1].strip() for n in lines_of(table) if n}
for word in ('"linear": "x"', '"linear": "b"', "l2_norm", '"attention"'):
    check(any(word in line for line in named), "no line has %s: %s" % (word, sorted(named)))
symbols = re.findall(r"^(\w+) \w (heddle_linear\w*|run)$", run(os.path.join(tools, "llvm-nm"), "lined"), re.M)
check(symbols, "no symbol of the code is left")
for address, name in symbols:
    at = run(os.path.join(tools, "llvm-dwarfdump"), "--lookup=0x" + address, "lined")
    line = re.search(r"Line info: file 'model.json', line (\d+), column \d+", at)
    check(line and (name == "run" or '"linear"' in source[int(line[1]) - 1]), "%s is at %s" % (name, line and line[0]))

# A device: `.loc` of the same lines, and nothing else changes.
plain = run(heddle, "compile", "model.json", "--target=cuda", "--mcpu=sm_80", "--emit=ptx")
lined = run(heddle, "compile", "model.json", "--target=cuda", "--mcpu=sm_80", "--emit=ptx", "--debug-info")
check(re.search(r'^\s*\.file\s+1 "[^"]*model.json"', lined, re.M), "the PTX names no file")
named = {source[int(n) - 1].strip() for n in re.findall(r"^\s*\.loc\s+1 (\d+)", lined, re.M) if int(n)}
check(any('"linear"' in line for line in named), "no .loc of a linear: %s" % sorted(named))
check(code(plain) == code(lined), "the kernels differ")
check(".loc" not in plain, "there are lines without --debug-info")
sys.exit(finish())
