//===- Output.cpp - what the stages after `llvm` write --------------------===//

#include "compiler/Driver/Output.h"
#include "compiler/Driver/Binary.h"
#include "compiler/Driver/CompileWatcher.h"
#include "compiler/Driver/Exit.h"
#include "compiler/Driver/Load.h"
#include "compiler/Driver/Phase.h"
#include "compiler/Driver/RemarkOutput.h"
#include "compiler/Driver/SaveTemps.h"
#include "compiler/Interpreter/ParameterFiles.h"
#include "compiler/Plan/ParameterBlob.h"
#include "compiler/Weights/Files/Problem.h"
#include "compiler/Weights/Pack/OutputFile.h"
#include "dialects/Model/IR/ModelPlanAttrs.h"
#include "targets/Card/CardText.h"
#include "targets/Host/CodeGen.h"
#include "llvm/Linker/Linker.h"

using namespace mlir;
using namespace heddle;

int heddle::complain(const Console &console, const absl::Status &status) {
  return console.complain(errorOf(status), textOf(status));
}

int heddle::writeAtomically(const Console &console, StringRef path,
                            llvm::function_ref<bool(llvm::raw_pwrite_stream &)> write) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream os(bytes);
  if (!write(os))
    return int(Exit::Internal);
  StringRef text(bytes.data(), bytes.size());
  if (path.empty() || path == "-") {
    console.out << text;
    return Ok; // `finish` says what the stream has not taken
  }
  absl::StatusOr<OutputFile> file = OutputFile::create(path, bytes.size());
  if (!file.ok())
    return complain(console, file.status());
  absl::Status status = file->append({reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()});
  if (status.ok())
    status = file->commit();
  return status.ok() ? int(Ok) : complain(console, status);
}

std::optional<WeightStore> heddle::openWeights(const Console &console, ModuleOp module, int &code) {
  absl::StatusOr<WeightStore> store = openWeightsOf(module);
  if (!store.ok()) {
    code = complain(console, store.status());
    return std::nullopt;
  }
  return std::move(*store);
}

BlobMap heddle::blobMapOf(ModuleOp module) {
  BlobMap plan;
  for (const plan::BlobTensor &t : plan::blobTensors(module))
    plan.entries.push_back({{t.name, t.shape, t.layout}, t.offset});
  plan.bytes = llvm::alignTo(plan::blobBytes(module), BlobMap::alignment);
  return plan;
}

/// Whether the targets read the same weights; one file serves them all.
static bool sameBlob(ArrayRef<TargetPart> parts) {
  return llvm::all_of(parts, [&](const TargetPart &part) {
    return model::blobOf(part.module) == model::blobOf(parts[0].module) &&
           model::blobBytesOf(part.module) == model::blobBytesOf(parts[0].module);
  });
}

/// What a program holds of all targets, as one module for `machine`. `card` becomes one text, the targets' cards one
/// after the other; `note` is that of the last target that has one.
static std::unique_ptr<llvm::Module> joinedCode(ArrayRef<TargetPart> parts, llvm::TargetMachine &machine,
                                                llvm::LLVMContext &context, std::string &card, std::string &error,
                                                std::string &note) {
  std::unique_ptr<llvm::Module> all;
  for (const TargetPart &part : parts) {
    card += cardText(part.module);
    std::unique_ptr<llvm::Module> code = part.target->code(part.module, machine, context, error, note);
    if (!code)
      return nullptr;
    if (!all) {
      all = std::move(code);
    } else if (llvm::Linker::linkModules(*all, std::move(code))) {
      error = "the code of the targets cannot be joined";
      return nullptr;
    }
  }
  addCard(*all, card);
  return all;
}

int heddle::writeOutput(const Console &console, ArrayRef<TargetPart> parts, const CompileOptions &options,
                        const host::Machine &host, const TextBlobs &words) {
  std::optional<Phase> phase;
  std::string error;
  auto refused = [&] { return console.complain(Error::OurMistake, error); };
  if (options.emit != "exe" && options.emit != "obj") {
    phase.emplace("code generation", options.times);
    int rc = writeAtomically(console, options.output, [&](llvm::raw_pwrite_stream &os) {
      return parts[0].target->print(parts[0].module, options.emit, os, error);
    });
    return error.empty() ? rc : refused();
  }
  if (!sameBlob(parts))
    return console.complain(Error::OurMistake, "the targets lay the weights out differently");
  phase.emplace("translation to LLVM IR", options.times);
  std::unique_ptr<llvm::TargetMachine> machine = host.machine(error);
  if (!machine)
    return refused();
  host::CodeContext context, joined;
  std::string card, note;
  std::unique_ptr<llvm::Module> code = joinedCode(parts, *machine, context.llvm, card, error, note);
  if (!code)
    return refused();
  if (!note.empty())
    console.note(note);
  phase.reset();
  if (!options.watchers.empty() && options.output.empty()) {
    phase.emplace("code generation", options.times);
    std::vector<host::CodePart> functions = host::splitFunctions(*code);
    host::CodeOptions how{/*stayBitcode=*/false, options.forTarget.quick, options.forTarget.codeCache,
                          /*counts=*/options.collector != nullptr};
    if (!host::compileParts(functions, host, how, error))
      return refused();
    if (options.collector)
      remarkOnCode(parts[0].module, functions);
    for (CompileWatcher *watcher : options.watchers)
      watcher->generated(functions);
    return Ok;
  }
  if (options.emit == "exe")
    return writeBinary(console, parts[0].module, *code, card, host, options, words);
  phase.emplace("code generation", options.times);
  std::vector<host::CodePart> functions = host::splitFunctions(*code);
  std::string texts = SaveTemps::codeFolderOf(options);
  if (!host::compileParts(functions, host,
                          {/*stayBitcode=*/true, /*quick=*/false, /*cache=*/"", /*counts=*/false, texts}, error) ||
      !(code = host::joinParts(functions, joined.llvm, error)))
    return refused();
  int rc = writeAtomically(console, options.output, [&](llvm::raw_pwrite_stream &os) {
    return host::emit(*code, *machine, host::Output::Object, os, error);
  });
  return error.empty() ? rc : refused();
}
