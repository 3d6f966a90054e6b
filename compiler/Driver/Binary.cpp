//===- Binary.cpp - code, weights and runtime become one program ----------===//
//
// Builds a binary in a folder next to the output (Scratch.h): weights are packed while code is generated, both are
// linked with the runtime, the result is checked by running it, and the last step is a rename.
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/Binary.h"
#include "compiler/Driver/Archives.h"
#include "compiler/Driver/CodesReport.h"
#include "compiler/Driver/CommandRecord.h"
#include "compiler/Driver/CompileWatcher.h"
#include "compiler/Driver/Exit.h"
#include "compiler/Driver/FileStamps.h"
#include "compiler/Driver/Limits.h"
#include "compiler/Driver/Load.h"
#include "compiler/Driver/Output.h"
#include "compiler/Driver/Phase.h"
#include "compiler/Driver/ProgressLine.h"
#include "compiler/Driver/RemarkOutput.h"
#include "compiler/Driver/SaveTemps.h"
#include "compiler/Driver/Scratch.h"
#include "compiler/Weights/Adapter/MergedTensor.h"
#include "compiler/Weights/Coded/CodedTensor.h"
#include "compiler/Weights/Pack/OutputFile.h"
#include "compiler/Weights/Pack/WeightsObject.h"
#include "dialects/Card/IR/Card.h"
#include "dialects/Model/IR/Arithmetic.h"
#include "heddle/input_file.h"
#include "heddle/seal.h"
#include "targets/Card/CardText.h"
#include "targets/Host/CodeGen.h"
#include "targets/Host/Link.h"
#include "targets/Threads.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/Constants.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include <map>
#include <set>
#include <sys/resource.h>

using namespace mlir;
using namespace heddle;

/// Notes, once, that a checkpoint in 16 bits is stored in f32 and takes twice the space, and which flag avoids it.
static void sayWidened(const Console &console, const CompileOptions &options, const WeightStore &store,
                       const BlobMap &plan) {
  std::map<StoredType, uint64_t> bytes; // as f32, by how the file stores them
  uint64_t all = 0;
  for (const PackEntry &entry : plan.entries)
    if (entry.request.layout.type == PackedType::F32 && !entry.request.layout.coding)
      if (const StoredTensor *tensor = store.find(entry.request.tensor)) {
        const MergedTensor *merged = tensor->coded ? tensor->coded->merged() : nullptr;
        bytes[merged ? merged->sourceType() : tensor->type()] += entry.request.bytes();
        all += entry.request.bytes();
      }
  for (auto [type, word] : {std::pair{StoredType::BF16, "bf16"}, std::pair{StoredType::F16, "f16"}})
    if (options.dtype.empty() && bytes[type] > all / 2)
      console.note(Twine("weights that the file stores as ") + word + " become f32, twice their size; --dtype=" + word +
                   " keeps them");
}

/// Notes, once, that tensors which a GGUF file stores as blocks are packed as numbers: where layers are of different
/// types, or an op reads the matrix that takes no codes.
static void sayDecoded(const Console &console, const WeightStore &store, const BlobMap &plan) {
  std::set<std::string> from, to;
  uint64_t tensors = 0;
  for (const PackEntry &entry : plan.entries) {
    const WeightLayout &layout = entry.request.layout;
    const StoredTensor *tensor = layout.coding ? nullptr : store.find(entry.request.tensor);
    StringRef kind = tensor && tensor->coded ? StringRef(tensor->coded->kind()) : "";
    if (!kind.consume_front("gguf "))
      continue;
    absl::StatusOr<std::optional<CodedForm>> form = tensor->coded->form();
    if (!form.ok() || !*form)
      continue;
    ++tensors;
    from.insert(kind.str());
    to.insert(layout.type == PackedType::BF16 ? "bf16" : layout.type == PackedType::F16 ? "f16" : "f32");
  }
  if (tensors)
    console.note(Twine(tensors) + (tensors == 1 ? " tensor of " : " tensors of ") + llvm::join(from, ", ") +
                 (tensors == 1 ? " becomes " : " become ") + llvm::join(to, " and "));
}

/// The seal (heddle/seal.h): sizes and digests of all parts of a binary except its code.
static std::string sealOf(ModuleOp module, const std::string &card, const WrittenWeights &weights,
                          const TextBlobs &words, StringRef side) {
  Seal seal;
  seal.cardBytes = card.size() + 1; // with the zero byte at its end
  seal.card = digestOf(card.c_str(), seal.cardBytes);
  seal.indexBytes = weights.index.size();
  seal.index = digestOf(weights.index.data(), weights.index.size());
  seal.weightsBytes = weights.bytes;
  seal.weights = weights.digest;
  seal.tokenizerBytes = words.blob.size();
  seal.tokenizer = digestOf(words.blob.data(), words.blob.size());
  seal.targetTokenizerBytes = words.target.size();
  seal.targetTokenizer = digestOf(words.target.data(), words.target.size());
  if (!side.empty()) {
    std::string name = side.str() + '\0';
    seal.fileBytes = name.size();
    seal.file = digestOf(name.data(), name.size());
  }
  seal.texts = digestOfTexts(module);
  seal.self = seal.ofItself();
  return std::string(reinterpret_cast<const char *>(&seal), sizeof seal);
}

/// Runs `BINARY --verify`, which compares what is on the disk with what was written.
static int verify(const Console &console, Scratch &folder, const std::string &binary, const std::string &output) {
  std::string log = folder.file("verify"), why;
  bool failed = false;
  StringRef args[] = {binary, "--verify"};
  llvm::sys::ProcessInfo process = llvm::sys::ExecuteNoWait(
      binary, args, std::nullopt, {StringRef(""), StringRef(log), StringRef(log)}, 0, &why, &failed);
  if (failed) {
    console.note(output + " was not checked: it cannot be run in its folder: " + why);
    return Ok;
  }
  folder.writer(int(process.Pid));
  int code = llvm::sys::Wait(process, std::nullopt, &why).ReturnCode;
  folder.writer(0);
  if (code == 0)
    return Ok;
  ReadFile said = readInputFile(log.c_str(), 1 << 20);
  return console.complain(code == int(Exit::Resources) ? Error::NoResources : Error::CannotRead,
                          output +
                              ": what was written is not what is on the disk: " + (said.ok() ? said.bytes : said.why));
}

/// The name of the side file with the weights; "" if they are in the binary. It has this name from the beginning, since
/// the binary looks for it when it is checked.
static std::string sideFile(const CompileOptions &options) {
  return options.embed ? "" : llvm::sys::path::filename(options.output).str() + ".weights";
}

namespace {
/// What rounding to 16 bits changed of the tensors that adapters were merged into.
struct Narrowed {
  llvm::StringSet<> tensors;
  CodingError error;
};
} // namespace

/// Packs the weights and writes the object `data` with the tokenizer and the weights, unless these go into the file
/// `side` of the folder.
static absl::StatusOr<WrittenWeights> writeData(const Scratch &folder, StringRef data, StringRef side,
                                                ObjectMachine machine, const WeightStore &store, const BlobMap &plan,
                                                const TextBlobs &words, CodesReport &codes, Narrowed &narrowed) {
  ObjectOptions parts;
  parts.machine = machine;
  parts.pack.packed = [&](uint64_t bytes) { ProgressLine::bytes(bytes, plan.bytes); };
  parts.pack.rounded = [&](const PackRequest &request, const CodingError &error) { codes.add(request, error); };
  parts.pack.narrowed = [&](const PackRequest &request, const CodingError &error) {
    narrowed.tensors.insert(request.tensor);
    narrowed.error.add(error);
  };
  const std::string &tokenizer = words.blob;
  parts.symbols.push_back({"heddle_tokenizer", tokenizer.empty() ? std::string(1, '\0') : tokenizer, 64});
  parts.symbols.push_back(ObjectSymbol::number("heddle_tokenizer_size", tokenizer.size()));
  if (!words.target.empty()) {
    parts.symbols.push_back({"heddle_target_tokenizer", words.target, 64});
    parts.symbols.push_back(ObjectSymbol::number("heddle_target_tokenizer_size", words.target.size()));
  }
  if (!words.templates.empty()) {
    parts.symbols.push_back({"heddle_template", words.templates, 64});
    parts.symbols.push_back(ObjectSymbol::number("heddle_template_size", words.templates.size()));
  }
  parts.symbols.push_back(ObjectSymbol::number("heddle_weights_size", plan.bytes));
  if (side.empty())
    return writeWeightsObject(data, store, plan, parts);
  parts.symbols.push_back({"heddle_weights_file", side.str() + '\0', 16});
  absl::StatusOr<WrittenWeights> weights = writeWeightsFile(folder.file(side), store, plan, parts.pack);
  if (absl::Status status = writeSymbolsObject(data, parts); weights.ok() && !status.ok())
    return status;
  return weights;
}

/// Writes the object with the digests, which are known only when the weights have been written.
static absl::Status writeDigests(StringRef file, ObjectMachine machine, ModuleOp module, const std::string &card,
                                 const WrittenWeights &weights, const TextBlobs &words, StringRef side) {
  ObjectOptions seal;
  seal.machine = machine;
  seal.symbols = {{"heddle_seal", sealOf(module, card, weights, words, side), 64}, {"heddle_index", weights.index, 64}};
  return writeSymbolsObject(file, seal);
}

/// Writes each function's object into the folder and appends its name to `objects`.
static int writeFunctions(const Console &console, const Scratch &folder, ArrayRef<host::CodePart> functions,
                          std::vector<std::string> &objects) {
  for (const host::CodePart &part : functions) {
    objects.push_back(folder.file("code" + std::to_string(objects.size()) + ".o"));
    if (int failed = writeAtomically(console, objects.back(), [&](llvm::raw_pwrite_stream &os) {
          os.write(part.bytes.data(), part.bytes.size());
          return true;
        }))
      return failed;
  }
  return Ok;
}

/// Checks that the disk has room for the output: the linker maps it, and a full disk would end the linker by a signal.
static int askForSpace(const Console &console, const Scratch &folder, const std::vector<std::string> &files,
                       const std::string &output) {
  uint64_t needed = 0;
  for (const std::string &file : files)
    if (uint64_t size = 0; !llvm::sys::fs::file_size(file, size))
      needed += size;
  llvm::ErrorOr<llvm::sys::fs::space_info> disk = llvm::sys::fs::disk_space(folder.file(""));
  if (!disk || disk->available >= needed)
    return Ok;
  return console.complain(Error::NoResources, output + ": " + std::to_string(needed >> 20) + " MB to write, " +
                                                  std::to_string(disk->available >> 20) + " MB free on the disk");
}

/// Links `files` with the archives into the file `linked` of the folder.
static int linkInto(const Console &console, Scratch &folder, StringRef linked, std::vector<std::string> files,
                    const Archives &archives, const host::Architecture &architecture, const CompileOptions &options) {
  std::string error;
  llvm::append_range(files, archives.parts);
  if (int full = askForSpace(console, folder, files, options.output))
    return full;
  std::vector<std::string> line =
      host::linkLine(architecture, files, archives.folder, folder.fileForLinker(linked), options.debugInfo, error);
  switch (host::link(line, folder.file("log"), [&](int pid) { folder.writer(pid); }, error)) {
  case host::Linked::Yes:
    for (CompileWatcher *watcher : options.watchers)
      watcher->linked(line, folder.file(""));
    return Ok;
  case host::Linked::Unreadable:
    return console.complain(speaksOfResources(error) ? Error::NoResources : Error::CannotRead, error);
  case host::Linked::Stopped: {
    rlimit stack{};
    bool little = getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur < kThreadStack;
    return console.complain(Error::NoResources,
                            error + (little ? "\nthe stack may have " + std::to_string(stack.rlim_cur >> 10) +
                                                  " KiB, which is little for a linker; allow more with ulimit -s 8192"
                                            : ""));
  }
  case host::Linked::Refused:
    return console.complain(speaksOfResources(error) ? Error::NoResources : Error::OurMistake, error);
  }
  llvm_unreachable("all messages of the linker are above");
}

/// Writes `linked` anew from front to back as `program`. The linker writes through a mapping, which leaves the file in
/// the page cache in pieces of any size; then no page of the weights can be a huge one.
static absl::Status inHugePages(const std::string &linked, const std::string &data, const std::string &program) {
  llvm::sys::fs::remove(data); // its space is needed
  absl::Status status = OutputFile::copy(linked, program);
  llvm::sys::fs::remove(linked);
  return status;
}

/// Renames the result to its final name. An older binary keeps its own weights until then.
static int moveIntoPlace(const Console &console, const Scratch &folder, const std::string &linked, StringRef side,
                         const std::string &output) {
  dropLimits(); // a limit that struck between the two renames would leave a binary with the weights of another
  if (!side.empty())
    if (std::error_code ec = llvm::sys::fs::rename(folder.file(side), output + ".weights"))
      return console.complain(errorOf(ec, Error::CannotWrite), output + ".weights: " + ec.message());
  if (std::error_code ec = llvm::sys::fs::rename(linked, output))
    return console.complain(errorOf(ec, Error::CannotWrite), output + ": " + ec.message());
  return Ok;
}

/// What the program has, for --json.
static void record(ModuleOp module, const CompileOptions &options, const BlobMap &plan, const CodesReport &codes,
                   llvm::json::Object &made) {
  model::TargetAttr target = model::targetOf(module);
  made["target"] = target ? llvm::json::Value((target.getName() + " " + target.getChip()).str()) : nullptr;
  llvm::json::Array entries;
  for (card::EntryAttr entry : card::entriesOf(module))
    entries.push_back(entry.getName().str());
  made["entries"] = std::move(entries);
  made["weights"] =
      llvm::json::Object{{"tensors", int64_t(plan.entries.size())},
                         {"bytes", int64_t(plan.bytes)},
                         {"file", options.embed ? nullptr : llvm::json::Value(options.output + ".weights")}};
  made["rounding"] = codes.empty() ? llvm::json::Value(nullptr) : codes.json(plan);
}

/// Makes the program: generates objects from the code on all cores while the weights are packed into an object (or a
/// side file), links both with the runtime in a scratch folder next to the output, and renames the result. Returns the
/// exit code.
int heddle::writeBinary(const Console &console, ModuleOp module, llvm::Module &code, const std::string &card,
                        const host::Machine &target, const CompileOptions &options, const TextBlobs &words) {
  BlobMap plan = blobMapOf(module);
  int failed = Ok;
  const host::Architecture &architecture = *target.processor.architecture;
  std::optional<Archives> archives = archivesOf(console, module, code, options, words, architecture, failed);
  if (!archives)
    return failed;
  std::optional<WeightStore> store = openWeights(console, module, failed);
  if (!store)
    return failed;
  sayWidened(console, options, *store, plan);
  sayDecoded(console, *store, plan);
  Scratch folder;
  if (std::error_code ec = folder.create(options.output))
    return console.complain(errorOf(ec, Error::CannotWrite),
                            options.output + ": cannot write to its folder: " + ec.message());

  // Code is generated while weights are read and written; every return before `compiled.wait()` waits for it.
  std::vector<host::CodePart> functions = host::splitFunctions(code);
  std::string refused;
  bool good = false;
  unsigned missing = 0;
  std::string texts = SaveTemps::codeFolderOf(options);
  host::CodeOptions how{/*stayBitcode=*/false, options.forTarget.quick, options.forTarget.codeCache,
                        /*counts=*/options.collector != nullptr, texts};
  Background compiled([&] { good = host::compileParts(functions, target, how, refused, &missing); });
  std::optional<Phase> phase;
  phase.emplace("weights, while code is generated", options.times);
  ObjectMachine machine = code.getTargetTriple().isAArch64() ? ObjectMachine::AArch64 : ObjectMachine::X86_64;
  std::string data = folder.file("data.o"), digests = folder.file("digests.o"), side = sideFile(options);
  CodesReport codes;
  Narrowed narrowed;
  absl::StatusOr<WrittenWeights> weights = writeData(folder, data, side, machine, *store, plan, words, codes, narrowed);
  if (!weights.ok())
    return complain(console, weights.status());
  if (absl::Status status = writeDigests(digests, machine, module, card, *weights, words, side); !status.ok())
    return complain(console, status);
  phase.emplace("rest of the code generation", options.times);
  compiled.wait();
  phase.reset();
  if (!compiled.hasThread() || missing)
    console.note("the system gave fewer threads than there are cores; this only took longer");
  if (!good)
    return console.complain(Error::OurMistake, refused);
  if (options.collector)
    remarkOnCode(module, functions);
  for (CompileWatcher *watcher : options.watchers)
    watcher->generated(functions);
  std::vector<std::string> files;
  if ((failed = writeFunctions(console, folder, functions, files)))
    return failed;
  files.insert(files.end(), {data, digests});
  // Of large weights the segment begins as a huge page does; padding in front of them would only make the file longer.
  if (liesInHugePages(weights->bytes))
    files.insert(files.end(), {"-z", "max-page-size=" + std::to_string(kHugePage)});

  phase.emplace("link", options.times);
  std::string linked = folder.file("linked");
  if ((failed = linkInto(console, folder, "linked", files, *archives, architecture, options)))
    return failed;
  if (side.empty() && liesInHugePages(weights->bytes)) {
    std::string program = folder.file("program");
    if (absl::Status status = inHugePages(linked, data, program); !status.ok())
      return complain(console, status);
    linked = program;
  }
  phase.emplace("check of the binary", options.times);
  if ((failed = verify(console, folder, linked, options.output)))
    return failed;
  phase.reset();
  if (options.stamps && (failed = options.stamps->unchanged(console)))
    return failed;
  if ((failed = moveIntoPlace(console, folder, linked, side, options.output)))
    return failed;
  if (size_t count = narrowed.tensors.size())
    console.note(llvm::formatv("{0} {1} merged with adapters and rounded to {2}, relative error {3:F5}", count,
                               count == 1 ? "tensor" : "tensors", model::wordOf(model::arithmeticOf(module).stored),
                               narrowed.error.relative())
                     .str());
  if (console.record)
    record(module, options, plan, codes, console.record->made);
  else if (!codes.empty())
    codes.print(console.out, plan);
  return Ok;
}
