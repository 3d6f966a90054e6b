# The lit suite: .mlir files (IR in, IR out) and .test files (a command line and what it says).
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "support"))
import cached
from spoiled import Spoiled

config.name = "Heddle"
config.test_format = Spoiled(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "support", "Oracle", "Bench"]
config.test_source_root = os.path.dirname(__file__)

# One path list: our tools, then LLVM's (FileCheck, not, split-file).
config.environment["PATH"] = os.pathsep.join(
    [config.heddle_tools, config.llvm_tools, "/usr/bin", "/bin"])
config.environment["ASAN_OPTIONS"] = "detect_leaks=0:abort_on_error=1"
config.environment["UBSAN_OPTIONS"] = "halt_on_error=1:print_stacktrace=1"

python = "/usr/bin/python3"
support = os.path.join(config.test_source_root, "support")
config.substitutions += [
    ("%python", python),
    ("%root", config.heddle_source),
    ("%tools", config.heddle_tools),
    ("%llvm_tools", config.llvm_tools),
    ("%support", support),
    # Flags of `heddle compile`: machine code that other tests have made, and code that is made quickly; in test/run.sh alone.
    ("%cached", " ".join(cached.flags(os.path.join(config.heddle_tools, "heddle")))),
    ("%quick", " ".join(cached.quick(os.path.join(config.heddle_tools, "heddle")))),
    # `%exits 1 command...`: the command must end with just this status, by itself and not by a signal.
    ("%exits", "%s/exits.sh" % support),
    # `%tensor write|print FILE ...`: small safetensors on the command line.
    ("%tensor", "%s %s/tensor.py" % (python, support)),
    # `%spoil %s %t`: writes the good model that the test names into %t, then makes the edits the test lists.
    ("%spoil", "%s %s/spoil.py" % (python, support)),
]

for feature, tool in (("heddle", "heddle"), ("heddle-opt", "heddle-opt"), ("heddle-translate", "heddle-translate"), ("heddle-toy", "heddle-toy")):
    if os.path.exists(os.path.join(config.heddle_tools, tool)):
        config.available_features.add(feature)
# Cases next to the repository, which a clone alone does not have.
if os.path.exists(os.path.join(config.heddle_source, os.pardir, "shared", "gguf-cases")):
    config.available_features.add("gguf-cases")
if os.path.exists("/usr/bin/clang-format-22"):
    config.available_features.add("clang-format")
# Programs of aarch64 can be linked and run: `ninja runtime-aarch64`, and the emulator of Debian's qemu-user.
qemu = shutil.which("qemu-aarch64")
config.substitutions.append(("%qemu", "%s -L /usr/aarch64-linux-gnu" % qemu))
if qemu and os.path.exists(os.path.join(config.heddle_tools, os.pardir, "lib", "aarch64", "libheddle_core.a")):
    config.available_features.add("aarch64")
if config.heddle_sanitize:
    config.available_features.add("sanitize")
