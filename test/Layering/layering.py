"""The rules of the house that a compiler does not check: who may include whom, and what no source may say.

Prints a line `path:line: rule` for each breach; exit status 1 if there is any."""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SOURCES = (".h", ".cpp", ".c", ".def", ".td", ".inc")
CODE = ("compiler", "dialects", "runtime", "targets")

# folders, what no line of them may match, the rule, the folders that it excepts
RULES = [
    (["runtime"], r'#include\s*[<"](llvm|mlir|dialects|compiler|targets|nlohmann)/', "the runtime knows nothing of the compiler", []),
    (["dialects"], r'#include\s*"(compiler|targets|runtime)/', "dialects know no compiler, target or runtime", []),
    (["dialects/Model"], r'#include\s*"dialects/(Mask|Attn)/', "model stands below mask and attn", []),
    (["dialects/Mask"], r'#include\s*"dialects/Attn/', "mask stands below attn", []),
    (["dialects"], r'#include\s*[<"]absl/', "Abseil serves Import, Weights, Driver and the runtime", []),
    (["compiler/Conversion", "compiler/Pipelines", "compiler/Interpreter"], r'#include\s*"compiler/(Driver|Tools|Import)/', "conversions, pipelines and interpreter stand below the driver", []),
    (["compiler/Import"], r'#include\s*"(compiler/(Driver|Tools|Pipelines|Conversion|Interpreter)|targets)/', "the importer knows dialects and weights only", []),
    (["compiler", "targets", "dialects"], r'#include\s*[<"]runtime/', "the compiler reads one runtime file, abi.def", []),
    (["compiler", "targets", "dialects"], r'#include\s*[<"]nlohmann/', "nlohmann stays with those who read JSON", ["compiler/Import", "compiler/Weights", "compiler/Tokenizer"]),
    (["compiler", "targets", "dialects"], r"\bcl::(opt|list|bits|alias)\b", "command-line options are declared in compiler/Tools", ["compiler/Tools"]),
    (["compiler", "targets", "dialects"], r"\b(llvm::)?(errs|outs)\(\)", "only a tool names a stream", ["compiler/Tools"]),
    (CODE, r"\bUnknownLoc::get|getUnknownLoc", "everything knows where it came from", []),
    (CODE, r"\bstd::w?regex\b", "no std::regex", []),
    (["compiler", "targets", "dialects"], r"#include\s*<iostream>", "LLVM's streams, not iostream", []),
    (["dialects", "compiler/Conversion", "compiler/Pipelines"], r"\bgetenv\b", "a pass never looks outside itself", []),
    (["compiler", "runtime"], r'MemoryBuffer::getFile\b|\bopenInputFile\b|\bfopen\((?!"/proc/)|\bifstream\b', "a file of somebody else is opened by heddle/input_file.h", []),
    (CODE, r"\b(TODO|FIXME|XXX|HACK)\b", "nothing is left open in a source", []),
]


def sources(folder):
    for top, _, names in os.walk(os.path.join(ROOT, folder)):
        for name in sorted(names):
            if name.endswith(SOURCES):
                yield os.path.join(top, name)


def main():
    breaches = 0
    for folders, pattern, rule, excepted in RULES:
        wrong = re.compile(pattern)
        for folder in folders:
            for path in sources(folder):
                name = os.path.relpath(path, ROOT)
                if any(name.startswith(e + os.sep) for e in excepted) or name.endswith("abi.def"):
                    continue
                with open(path, encoding="utf-8") as f:
                    for number, line in enumerate(f, 1):
                        if wrong.search(line) and "abi.def" not in line:
                            print("%s:%d: %s: %s" % (name, number, rule, line.strip()))
                            breaches += 1
    return int(breaches > 0)


if __name__ == "__main__":
    sys.exit(main())
