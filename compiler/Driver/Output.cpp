//===- Output.cpp - objects, weights and the link -------------------------===//

#include "compiler/Driver/Output.h"
#include "compiler/Driver/Exit.h"
#include "compiler/Driver/Limits.h"
#include "compiler/Driver/Phase.h"
#include "compiler/Driver/Scratch.h"
#include "compiler/Weights/OutputFile.h"
#include "compiler/Weights/Problem.h"
#include "compiler/Weights/WeightsObject.h"
#include "compiler/Plan/Blob.h"
#include "heddle/input_file.h"
#include "heddle/seal.h"
#include "targets/CPU/CodeGen.h"
#include "targets/CPU/Link.h"
#include "llvm/IR/Constants.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include <future>
#include <map>

using namespace mlir;
using namespace heddle;

static int complain(const Console &console, const absl::Status &status) {
  ExitCode code = absl::IsResourceExhausted(status) ? Resources
                  : absl::IsUnimplemented(status)   ? Unsupported
                  : absl::IsInvalidArgument(status) || absl::IsNotFound(status) ? InputError
                                                                                : IOError;
  std::string text(status.message());
  if (!problemOf(status))
    return console.complain(code, text);
  console.err << "heddle: " << text << "\n"; // it begins with its own `error[H0207]: `
  return code;
}

int heddle::writeAtomically(const Console &console, StringRef path, llvm::function_ref<bool(llvm::raw_pwrite_stream &)> write) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream os(bytes);
  if (!write(os))
    return Internal;
  StringRef text(bytes.data(), bytes.size());
  if (path.empty() || path == "-") {
    console.out << text;
    return finish(console, Ok);
  }
  absl::StatusOr<OutputFile> file = OutputFile::create(path, bytes.size());
  if (!file.ok())
    return ::complain(console, file.status());
  absl::Status status = file->append({reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()});
  if (status.ok())
    status = file->commit();
  return status.ok() ? int(Ok) : ::complain(console, status);
}

std::optional<WeightStore> heddle::openWeights(const Console &console, ModuleOp module, int &code) {
  std::vector<std::string> files;
  if (auto list = module->getAttrOfType<ArrayAttr>("model.weights"))
    for (StringAttr file : list.getAsRange<StringAttr>())
      files.push_back(file.getValue().str());
  absl::StatusOr<WeightStore> store = WeightStore::openFiles(files);
  if (!store.ok()) {
    code = ::complain(console, store.status());
    return std::nullopt;
  }
  return std::move(*store);
}

PackPlan heddle::packPlanOf(ModuleOp module) {
  PackPlan plan;
  for (const plan::BlobTensor &t : plan::blobTensors(module))
    plan.entries.push_back({{t.name, t.shape, t.layout}, t.offset});
  plan.bytes = llvm::alignTo(plan::blobBytes(module), PackPlan::alignment);
  return plan;
}

/// A checkpoint in 16 bits that becomes f32 doubles: said once, with the flag that keeps it.
static void sayWidened(const Console &console, const CompileOptions &options, const WeightStore &store, const PackPlan &plan) {
  std::map<StoredType, uint64_t> bytes; // as f32, by how the file stores them
  uint64_t all = 0;
  for (const PackEntry &entry : plan.entries)
    if (entry.request.layout.type == PackedType::F32)
      if (const StoredTensor *tensor = store.find(entry.request.tensor)) {
        bytes[tensor->type()] += entry.request.bytes();
        all += entry.request.bytes();
      }
  for (auto [type, word] : {std::pair{StoredType::BF16, "bf16"}, std::pair{StoredType::F16, "f16"}})
    if (options.dtype.empty() && bytes[type] > all / 2)
      console.err << "heddle: note: weights that the file stores as " << word << " become f32, twice their size; --dtype=" << word << " keeps them\n";
}

static std::string runtimeArchive(const CompileOptions &options) {
  if (!options.runtimeArchive.empty())
    return options.runtimeArchive;
  std::string self = llvm::sys::fs::getMainExecutable(nullptr, nullptr);
  llvm::SmallString<256> path(llvm::sys::path::parent_path(llvm::sys::path::parent_path(self)));
  llvm::sys::path::append(path, "lib", "libheddle_rt.a");
  return std::string(path);
}

/// Sizes and digests of what a binary is made of beside its code, as the runtime reads them.
static std::string sealOf(const llvm::Module &code, const WrittenWeights &weights, StringRef tokenizer, StringRef side) {
  Seal seal;
  if (const llvm::GlobalVariable *global = code.getNamedGlobal("heddle_card"); global && global->hasInitializer())
    if (auto *text = dyn_cast<llvm::ConstantDataArray>(global->getInitializer())) {
      StringRef card = text->getAsString();
      seal.cardBytes = card.size();
      seal.card = digestOf(card.data(), card.size());
    }
  seal.indexBytes = weights.index.size();
  seal.index = digestOf(weights.index.data(), weights.index.size());
  seal.weightsBytes = weights.bytes;
  seal.weights = weights.digest;
  seal.tokenizerBytes = tokenizer.size();
  seal.tokenizer = digestOf(tokenizer.data(), tokenizer.size());
  if (!side.empty()) {
    std::string name = side.str() + '\0';
    seal.fileBytes = name.size();
    seal.file = digestOf(name.data(), name.size());
  }
  seal.self = seal.ofItself();
  return std::string(reinterpret_cast<const char *>(&seal), sizeof seal);
}

/// Runs `binary --verify`: what lies on the disk is what was meant to.
static int verify(const Console &console, Scratch &folder, const std::string &binary, const std::string &output) {
  std::string log = folder.file("verify"), why;
  bool failed = false;
  StringRef args[] = {binary, "--verify"};
  llvm::sys::ProcessInfo process =
      llvm::sys::ExecuteNoWait(binary, args, std::nullopt, {StringRef(""), StringRef(log), StringRef(log)}, 0, &why, &failed);
  if (failed) {
    console.err << "heddle: note: " << output << " was not checked, it cannot be run where it lies: " << why << "\n";
    return Ok;
  }
  folder.writer(int(process.Pid));
  int code = llvm::sys::Wait(process, std::nullopt, &why).ReturnCode;
  folder.writer(0);
  if (code == 0)
    return Ok;
  ReadFile said = readInputFile(log.c_str(), 1 << 20);
  return console.complain(code == Resources ? Resources : IOError,
                          output + ": what was written is not what lies on the disk: " + (said.ok() ? said.bytes : said.why));
}

/// Object, weights and link, in a folder of their own; the last step is a rename.
static int writeBinary(const Console &console, ModuleOp module, llvm::Module &llvmModule, const cpu::CPUTarget &target,
                       const CompileOptions &options, const std::string &tokenizer) {
  PackPlan plan = packPlanOf(module);
  int code = Ok;
  std::optional<WeightStore> store = openWeights(console, module, code);
  if (!store)
    return code;
  sayWidened(console, options, *store, plan);
  Scratch folder;
  if (std::error_code ec = folder.create(options.output))
    return console.complain(exitCodeOf(ec), options.output + ": cannot write beside it: " + ec.message());
  std::string data = folder.file("data.o"), linked = folder.file("linked"), error;
  // Code is made while the weights are read and written.
  std::vector<cpu::CodePart> functions = cpu::splitFunctions(llvmModule);
  std::string refused;
  std::future<bool> compiled = std::async(std::launch::async, [&] { return cpu::compileParts(functions, target, false, refused); });

  std::optional<Phase> phase;
  llvm::raw_ostream *say = options.time ? &console.err : nullptr;
  phase.emplace("weights, while code is generated", say);
  ObjectOptions parts;
  parts.machine = llvmModule.getTargetTriple().isAArch64() ? ObjectMachine::AArch64 : ObjectMachine::X86_64;
  parts.symbols.push_back({"heddle_tokenizer", tokenizer.empty() ? std::string(1, '\0') : tokenizer, 64});
  parts.symbols.push_back(ObjectSymbol::number("heddle_tokenizer_size", tokenizer.size()));
  // The side file bears its last name from the beginning: the binary looks for it when it is checked.
  std::string side = options.embed ? "" : llvm::sys::path::filename(options.output).str() + ".weights";
  absl::StatusOr<WrittenWeights> weights;
  parts.symbols.push_back(ObjectSymbol::number("heddle_weights_size", plan.bytes));
  if (options.embed) {
    weights = writeWeightsObject(data, *store, plan, parts);
  } else {
    parts.symbols.push_back({"heddle_weights_file", side + '\0', 16});
    weights = writeWeightsFile(folder.file(side), *store, plan);
    if (absl::Status status = writeSymbolsObject(data, parts); weights.ok() && !status.ok())
      weights = status;
  }
  if (!weights.ok())
    return ::complain(console, weights.status());
  // The digests are known when the weights have been written.
  std::string digests = folder.file("digests.o");
  ObjectOptions seal;
  seal.machine = parts.machine;
  seal.symbols = {{"heddle_seal", sealOf(llvmModule, *weights, tokenizer, side), 64}, {"heddle_index", weights->index, 64}};
  if (absl::Status status = writeSymbolsObject(digests, seal); !status.ok())
    return ::complain(console, status);
  phase.emplace("rest of the code generation", say);
  bool good = compiled.get();
  phase.reset();
  if (!good)
    return console.complain(Internal, refused);
  if (say)
    printFunctions(*say, functions);
  std::vector<std::string> files;
  for (const cpu::CodePart &part : functions) {
    files.push_back(folder.file("code" + std::to_string(files.size()) + ".o"));
    if (int failed = writeAtomically(console, files.back(), [&](llvm::raw_pwrite_stream &os) {
          os.write(part.bytes.data(), part.bytes.size());
          return true;
        }))
      return failed;
  }
  files.insert(files.end(), {data, digests});
  std::string runtime = runtimeArchive(options);
  // A model without pictures has no reader of PNG and JPEG in it.
  if (module->hasAttr("model.picture")) {
    llvm::SmallString<128> pictures(runtime);
    llvm::sys::path::remove_filename(pictures);
    llvm::sys::path::append(pictures, "libheddle_pictures.a");
    files.push_back("--undefined=heddle_decode_picture");
    files.push_back(std::string(pictures));
  }
  // The linker maps its output, and a map of a full disk ends it by a signal.
  uint64_t needed = 0;
  std::vector<std::string> copied = files;
  copied.push_back(runtime);
  for (const std::string &file : copied)
    if (uint64_t size = 0; !llvm::sys::fs::file_size(file, size))
      needed += size;
  if (llvm::ErrorOr<llvm::sys::fs::space_info> disk = llvm::sys::fs::disk_space(folder.file("")); disk && disk->available < needed)
    return console.complain(Resources, options.output + ": " + std::to_string(needed >> 20) + " MB to write, " +
                                         std::to_string(disk->available >> 20) + " MB free on the disk");
  phase.emplace("link", say);
  switch (cpu::link(files, runtime, linked, folder.file("log"), [&](int pid) { folder.writer(pid); }, error)) {
  case cpu::Linked::Yes:
    break;
  case cpu::Linked::Stopped:
    return console.complain(Resources, error);
  case cpu::Linked::Refused:
    return console.complain(speaksOfResources(error) ? Resources : Internal, error);
  }
  phase.emplace("check of the binary", say);
  if (int damaged = verify(console, folder, linked, options.output))
    return damaged;
  dropLimits(); // between the renames there would be a binary with the weights of another
  // An older binary keeps its own weights until there is a new one.
  if (!options.embed)
    if (std::error_code ec = llvm::sys::fs::rename(folder.file(side), options.output + ".weights"))
      return console.complain(exitCodeOf(ec), options.output + ".weights: " + ec.message());
  if (std::error_code ec = llvm::sys::fs::rename(linked, options.output))
    return console.complain(exitCodeOf(ec), options.output + ": " + ec.message());
  return Ok;
}

int heddle::writeOutput(const Console &console, ModuleOp module, const CompileOptions &options, const cpu::CPUTarget &target,
                        const std::string &tokenizer) {
  std::optional<Phase> phase;
  phase.emplace("translation to LLVM IR", options.time ? &console.err : nullptr);
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine = target.machine(error);
  if (!machine)
    return console.complain(Internal, error);
  cpu::CodeContext context;
  std::unique_ptr<llvm::Module> code = cpu::translate(module, context.llvm, *machine);
  if (!code)
    return Internal;
  phase.reset();
  if (options.emit == "exe")
    return writeBinary(console, module, *code, target, options, tokenizer);
  // Shown as it is compiled for a binary: function by function.
  phase.emplace("code generation", options.time ? &console.err : nullptr);
  std::vector<cpu::CodePart> parts = cpu::splitFunctions(*code);
  cpu::CodeContext joined;
  std::unique_ptr<llvm::Module> whole;
  if (!cpu::compileParts(parts, target, true, error) || !(whole = cpu::joinParts(parts, joined.llvm, error)))
    return console.complain(Internal, error);
  int rc = writeAtomically(console, options.output, [&](llvm::raw_pwrite_stream &os) {
    if (options.emit != "llvmir")
      return cpu::emit(*whole, *machine, options.emit == "asm" ? cpu::Output::Assembly : cpu::Output::Object, os, error);
    whole->print(os, nullptr);
    return true;
  });
  return error.empty() ? rc : console.complain(Internal, error);
}
