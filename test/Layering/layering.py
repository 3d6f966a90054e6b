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
    (["dialects"], r'#include\s*"(compiler|targets|runtime)/(?!include/heddle/abi\.def")', "dialects know no compiler, target or runtime", []),
    (["dialects/Model"], r'#include\s*"dialects/(Mask|Attn)/', "model stands below mask and attn", []),
    (["dialects/Mask"], r'#include\s*"dialects/Attn/', "mask stands below attn", []),
    (["compiler/Plan"], r'#include\s*"(compiler/(?!Plan/)|targets|runtime)', "a plan knows dialects, and a target through compiler/Plan/Target.h", []),
    (["dialects"], r"(?i)\bpanel(8|16|32|64)\b|\b(avx\w*|sse\d?|neon|sve|[xyz]mm\d*|warps?|warpSize|cuda|ptx|nvptx|x86\w*|aarch64)\b", "no word of a dialect names a target or its width", []),
    (["dialects"], r"(?i)^(?!.*#(model|attn)\.\w+<).*(lanes?|panel|rowTile|keyTile|vectorWidth|registers)\s*(=|==|%|/)\s*(4|8|16|32|64|128)\b", "no number of a dialect is a target's width", []),
    (["compiler", "targets", "runtime", "test"], r'"(model\.(place|scratch|arena|copy_in|copy_back|copies|in_place|schedule|pieces|target|blob|blob_bytes)|attn\.(cache|schedule))"', "the plan's attributes are asked of dialects/*/IR/*PlanAttrs.h", []),
    (["compiler", "targets", "runtime"], r'"(heddle|tile)\.\w+"', "attributes of modules and launches are asked of dialects/*/IR", []),
    (["compiler", "targets"], r'(getAttr|setAttr|hasAttr|removeAttr|getAttrOfType<\w+>|getAs<\w+>)\("(pack|layout|offset|strides|place|scratch|copies|copy_in|copy_out|cache|arena|part|first)"', "what is in ODS has an accessor", []),
    (["dialects/Model", "dialects/Mask", "dialects/Attn", "compiler/Import", "compiler/Interpreter", "compiler/Conversion/ModelToEntries", "compiler/Conversion/Lowering"], r"(?i)cuda|gpu|nvvm", "what stands above the targets names none of them", ["compiler/Conversion/Lowering/GPU"]),
    (["compiler", "dialects", "targets"], r'"heddle_card"|heddle/card(_words\.h|\.def)', "the text of the card is made in targets/Card", ["targets/Card"]),
    (["compiler/Conversion/Lowering/Language"], r'#include\s*"compiler/Conversion/Lowering/(Facts|Frame|Ops|CPU|GPU)/', "rooms of the lowering: Language stands below Facts, Frame, Ops and the targets", []),
    (["compiler/Conversion/Lowering/Facts"], r'#include\s*"compiler/Conversion/Lowering/(Frame|Ops|CPU|GPU)/', "rooms of the lowering: Facts stand below Frame, Ops and the targets", []),
    (["compiler/Conversion/Lowering/Frame"], r'#include\s*"compiler/Conversion/Lowering/(Ops|CPU|GPU)/', "rooms of the lowering: Frame stands below Ops and the targets", []),
    (["compiler/Conversion/Lowering/Ops"], r'#include\s*"compiler/Conversion/Lowering/(CPU|GPU)/', "rooms of the lowering: Ops serve all targets and include none", []),
    (["compiler/Conversion/Lowering/CPU"], r'#include\s*"compiler/Conversion/Lowering/GPU/', "CPU and GPU never include each other", []),
    (["compiler/Conversion/Lowering/GPU"], r'#include\s*"compiler/Conversion/Lowering/CPU/', "CPU and GPU never include each other", []),
    (["dialects"], r'#include\s*[<"]absl/', "Abseil serves Import, Weights, Driver and the runtime", []),
    (["compiler/Conversion", "compiler/Pipelines", "compiler/Interpreter"], r'#include\s*"compiler/(Driver|Tools|Import)/', "conversions, pipelines and interpreter stand below the driver", []),
    (["compiler/Import"], r'#include\s*"(compiler/(Driver|Tools|Pipelines|Conversion|Interpreter)|targets)/', "the importer knows dialects and weights only", []),
    (["compiler", "targets", "dialects"], r'#include\s*[<"]runtime/(?!include/heddle/abi\.def"|Base/)', "of the runtime's own files the compiler reads abi.def and its base", []),
    (["compiler", "targets", "dialects"], r'#include\s*[<"]runtime/Base/', "the base serves those who read and write files", ["compiler/Weights"]),
    (["runtime/Base"], r'#include\s*([<"](runtime/(?!Base/)|sys/socket|netinet/|event2/|png|jpeglib))', "the base stands on the headers in runtime/include alone, without sockets", []),
    (["compiler", "targets", "dialects"], r'#include\s*[<"]heddle/(?!(errors|card_words|digest|input_file|printable|standard_files|tensor_names|nearest|seal|settings|tiles|languages|tokenizer|terminal_output|tokenizer_format|template|template_format|utf8)\.h"|(card|cpu_features|errors|template_names)\.def")', "what compiler and runtime share is listed here", []),
    (["compiler", "targets", "dialects"], r'#include\s*[<"]heddle/tokenizer(_format)?\.h', "the tokenizer's code and format serve its compiler and the driver", ["compiler/Tokenizer", "compiler/Driver", "compiler/SideFiles", "compiler/ModelInfo", "compiler/Template/Lexer.cpp", "compiler/Template/CharacterTables.cpp"]),
    (["compiler", "targets", "dialects"], r'#include\s*[<"]heddle/template(_format|_names)?\.(h|def)', "the templates' code and format serve their compiler and the driver", ["compiler/Template", "compiler/Driver", "compiler/SideFiles"]),
    (["dialects", "compiler/Conversion", "compiler/Pipelines"], r'#include\s*[<"]heddle/', "dialects and passes know of the runtime what abi.def says", []),
    (["compiler", "targets", "dialects", "test"], r"\b(addPass|addNestedPass|parsePassPipeline)\b", "passes get an order in the lists of stages, which compiler/Pipelines adds", ["compiler/Pipelines", "targets/Registration.cpp", "compiler/Reduce/PassFault.cpp", "test/Driver/Replay.cpp", "test/Interpreter/Support.cpp", "test/Reduce"]),
    (["compiler"], r'#include\s*"targets/(?!(Target|Registration|Threads)\.h|(Host|Card)/)', "of targets the compiler includes Target.h, Registration.h, Host and Card, which every program has", []),
    (["compiler"], r'"(cpu|cuda)"', "targets are named in targets/ and in compiler/Tools", ["compiler/Tools"]),
    (["compiler/Driver", "compiler/MaskReport"], r"\b(cpu|gpu)::", "the driver names no target", []),
    (["targets/CPU", "targets/Host"], r'#include\s*"targets/GPU/', "CPU and GPU never include each other", []),
    (["targets/GPU", "targets/Host"], r'#include\s*"targets/CPU/', "CPU and GPU never include each other", []),
    (["compiler", "targets", "dialects"], r'#include\s*[<"]nlohmann/', "nlohmann stays with those who read JSON", ["compiler/Import", "compiler/Weights", "compiler/Tokenizer", "compiler/Gguf"]),
    (["compiler", "targets", "dialects"], r"\bcl::(opt|list|bits|alias)\b", "command-line options are declared in compiler/Tools", ["compiler/Tools"]),
    (["compiler", "targets", "dialects"], r"\b(llvm::)?(errs|outs)\(\)", "only a tool names a stream", ["compiler/Tools"]),
    (CODE, r"\bUnknownLoc::get|getUnknownLoc", "everything knows where it came from", []),
    (CODE, r"\bstd::w?regex\b", "no std::regex", []),
    (["compiler", "targets", "dialects"], r"#include\s*<iostream>", "LLVM's streams, not iostream", []),
    (["dialects", "compiler/Conversion", "compiler/Pipelines"], r"\bgetenv\b", "a pass never looks outside itself", []),
    (["compiler", "runtime"], r'MemoryBuffer::getFile\b|\bopenInputFile\b|\bfopen\((?!"/proc/)|\bifstream\b', "a file of somebody else is opened by heddle/input_file.h", []),
    (CODE, r"\b(TODO|FIXME|XXX|HACK)\b", "nothing is left open in a source", []),
]

# The rooms of the runtime, lowest first, and the rooms below that each includes. Parts above are called by what they register
# (runtime/Core/Parts.h), so that a program is linked with those that its model needs.
RUNTIME = {
    "Core": ["Base"],
    "Json": ["Core"],
    "Device": ["Core"],
    "Media": ["Core"],
    "Tokenizer": ["Core"],
    "Program": ["Core"],
    "Generate": ["Core", "Tokenizer", "Program"],
    "Encode": ["Core", "Tokenizer", "Program"],
    "Bench": ["Core", "Program", "Generate"],
    "Template": ["Core", "Json"],
    "Chat": ["Core", "Json", "Tokenizer", "Program", "Generate", "Template"],
    "Serve": ["Core", "Json", "Tokenizer", "Program", "Generate", "Encode", "Chat"],
}
for room, below in RUNTIME.items():
    RULES.append((["runtime/" + room], r'#include\s*"runtime/(?!(%s)/)' % "|".join([room] + below),
                  "of the runtime %s includes %s" % (room, ", ".join(below) or "nothing"), []))


def sources(folder):
    for top, _, names in os.walk(os.path.join(ROOT, folder)):
        for name in sorted(names):
            if name.endswith(SOURCES):
                yield os.path.join(top, name)


# Lines that a rule must catch, and where: a rule that catches nothing would be none.
CAUGHT = [
    ("runtime/Core/Model.cpp", '#include "runtime/Device/Device.h"'),
    ("runtime/Core/PhaseClock.cpp", '#include "runtime/Bench/Peaks.h"'),
    ("runtime/Json/Tree.cpp", '#include "runtime/Template/Values.h"'),
    ("runtime/Device/Watch.cpp", '#include "runtime/Program/Commands.h"'),
    ("runtime/Media/Media.cpp", '#include "runtime/Encode/Answers.h"'),
    ("runtime/Tokenizer/Tokenizers.cpp", '#include "runtime/Program/Commands.h"'),
    ("runtime/Program/Help.cpp", '#include "runtime/Encode/Answers.h"'),
    ("runtime/Program/Info.cpp", '#include "runtime/Tokenizer/Tokenizers.h"'),
    ("runtime/Generate/GenerateCommand.cpp", '#include "runtime/Media/Picture.h"'),
    ("runtime/Generate/Stats.cpp", '#include "runtime/Bench/Peaks.h"'),
    ("runtime/Encode/Encoder.h", '#include "runtime/Generate/Prompt.h"'),
    ("runtime/Bench/Bench.cpp", '#include "runtime/Chat/Talk.h"'),
    ("runtime/Template/Machine.h", '#include "runtime/Chat/Conversation.h"'),
    ("runtime/Chat/Talk.cpp", '#include "runtime/Serve/Slots.h"'),
    ("runtime/Serve/ServeCommand.cpp", '#include "runtime/Bench/Peaks.h"'),
    ("dialects/Model/IR/Size.cpp", '#include "runtime/Core/Form.h"'),
    ("compiler/Conversion/Lowering/Frame/EntryCard.cpp", '#include "runtime/include/heddle/image.h"'),
    ("compiler/Driver/Output.cpp", '#include "heddle/image.h"'),
    ("compiler/Weights/Safetensors/SafetensorsHeader.cpp", '#include "runtime/Core/TensorFile.h"'),
    ("compiler/Driver/Output.cpp", '#include "runtime/Base/AtomicFile.h"'),
    ("runtime/Base/AtomicFile.h", '#include "runtime/Core/Status.h"'),
    ("runtime/Base/AtomicFile.cpp", '#include <sys/socket.h>'),
    ("compiler/Driver/Archives.cpp", '  code.getNamedGlobal("heddle_card");'),
    ("compiler/Conversion/ToKernels/Launch.cpp", '#include "heddle/card_words.h"'),
    ("compiler/Weights/Pack/Pack.cpp", '#include "heddle/tokenizer.h"'),
    ("compiler/Pipelines/Contracts.cpp", '#include "heddle/nearest.h"'),
    ("compiler/Driver/Compile.cpp", "  pm.addPass(createCSEPass());"),
    ("test/Numerics/Jit.cpp", "  if (failed(parsePassPipeline(text, pm)))"),
    ("dialects/Model/IR/WeightLayout.h", "  static constexpr int64_t panel = 32;"),
    ("dialects/Attn/IR/AttnAttrs.cpp", "  if (lanes % 16)"),
    ("dialects/Mask/IR/Mask.h", "/// One word of a warp."),
    ("dialects/Model/IR/ModelAttrs.td", "    Rows of panel32 lie side by side."),
    ("compiler/Conversion/Lowering/Ops/DataMovement.cpp", "  if (isGPU(target))"),
    ("compiler/Plan/PlanMemory.cpp", '  op->setAttr("model.place", places);'),
    ("test/Numerics/Jit.cpp", '  f->getAttrOfType<StringAttr>("model.arena");'),
    ("compiler/Conversion/ToKernels/Launch.cpp", 'constexpr llvm::StringLiteral kLaunchAttr = "heddle.launch";'),
    ("targets/GPU/GPUTarget.cpp", '    mlir::Attribute kernel = f->getAttr("tile.kernel");'),
    ("compiler/Conversion/Lowering/Language/Code.h", '#include "compiler/Conversion/Lowering/Facts/SumStep.h"'),
    ("compiler/Conversion/Lowering/Facts/LinearShape.h", '#include "compiler/Conversion/Lowering/Frame/Lowering.h"'),
    ("compiler/Conversion/Lowering/Facts/LinearShape.cpp", '#include "compiler/Conversion/Lowering/CPU/Linear/MatrixSums.h"'),
    ("compiler/Conversion/Lowering/Frame/Cost.cpp", '#include "compiler/Conversion/Lowering/CPU/Linear/KeptRows.h"'),
    ("compiler/Conversion/Lowering/Ops/Gather.cpp", '#include "compiler/Conversion/Lowering/CPU/Linear/CodedSums.h"'),
    ("compiler/Conversion/Lowering/CPU/CPUTiles.cpp", '#include "compiler/Conversion/Lowering/GPU/WarpLanes.h"'),
    ("compiler/Conversion/Lowering/GPU/WarpTiles.cpp", '#include "compiler/Conversion/Lowering/CPU/CPUTiles.h"'),
    ("compiler/Driver/Compile.cpp", '#include "targets/CPU/ProcessorTarget.h"'),
    ("compiler/Conversion/ModelToEntries/DeriveBatch.cpp", '  if (target.getName() != "cpu")'),
    ("compiler/Pipelines/Stages.cpp", '  return target == "cuda" ? kCudaStages : kCpuStages;'),
    ("compiler/Driver/Output.cpp", "  cpu::CodeContext context, joined;"),
    ("targets/GPU/Emulate.cpp", '#include "targets/CPU/ProcessorTarget.h"'),
    ("targets/CPU/ProcessorTarget.cpp", '#include "targets/GPU/GPUTarget.h"'),
]
FREE = [
    ("targets/Card/CardPrinter.cpp", '#include "heddle/card_words.h"'),
    ("compiler/Conversion/Lowering/GPU/WarpLanes.cpp", '#include "mlir/Dialect/LLVMIR/NVVMDialect.h"'),
    ("dialects/Model/IR/ReservedDims.h", '#include "runtime/include/heddle/abi.def"'),
    ("compiler/Driver/Binary.cpp", '#include "heddle/seal.h"'),
    ("compiler/Weights/Pack/OutputFile.h", '#include "runtime/Base/AtomicFile.h"'),
    ("runtime/Base/TensorHeader.cpp", '#include "heddle/utf8.h"'),
    ("dialects/Model/IR/ModelAttrs.td", '`#model.target<"cpu", chip = "znver5", lanes = 16, registers = 32>`'),
    ("compiler/Pipelines/Stages.cpp", "  pm.addPass(createCSEPass());"),
    ("compiler/Conversion/Lowering/GPU/Attention/KeyParts.h", '#include "compiler/Conversion/Lowering/Facts/AttentionShape.h"'),
    ("compiler/Conversion/Lowering/CPU/Linear/Linear.cpp", '#include "compiler/Conversion/Lowering/Ops/LinearCode.h"'),
    ("compiler/Driver/Output.cpp", '#include "targets/Host/CodeGen.h"'),
    ("compiler/Tools/heddle/CommandLine.cpp", '  line.compile.target = "cuda";'),
]


def broken(name, line, rules):
    """The rules, of those given, that a line of the file `name` breaks."""
    return [rule for folders, pattern, rule, excepted in rules if pattern.search(line)
            and any(name.startswith(f + "/") for f in folders) and not any(name == e or name.startswith(e + "/") for e in excepted)]


def main():
    rules = [(folders, re.compile(pattern), rule, excepted) for folders, pattern, rule, excepted in RULES]
    breaches = ["layering.py: no rule catches %s: %s" % (name, line) for name, line in CAUGHT if not broken(name, line, rules)]
    breaches += ["layering.py: %s: %s: %s" % (name, line, rule) for name, line in FREE for rule in broken(name, line, rules)]
    for path in (path for folder in CODE + ("test",) for path in sources(folder)):
        name = os.path.relpath(path, ROOT)
        mine = [r for r in rules if any(name.startswith(f + "/") for f in r[0])]
        with open(path, encoding="utf-8") as f:
            for number, line in enumerate(f, 1):
                breaches += ["%s:%d: %s: %s" % (name, number, rule, line.strip()) for rule in broken(name, line, mine)]
    print("\n".join(breaches))
    return int(bool(breaches))


if __name__ == "__main__":
    sys.exit(main())
