//===- CodeGen.cpp - one module a function --------------------------------===//

#include "targets/Host/CodeGen.h"
#include "targets/Host/CodeCache.h"
#include "targets/Threads.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/TimeProfiler.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include <ctime>
#include <numeric>

using namespace heddle::host;

static double threadSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

/// Gives local symbols names and hidden visibility, so that the parts can refer to them.
static void shareSymbols(llvm::Module &module) {
  unsigned unnamed = 0;
  for (llvm::GlobalValue &value : module.global_values()) {
    if (!value.hasLocalLinkage())
      continue;
    if (!value.getName().starts_with("heddle_"))
      value.setName("heddle_local_" + (value.hasName() ? value.getName().str() : std::to_string(unnamed++)));
    value.setLinkage(llvm::GlobalValue::ExternalLinkage);
    value.setVisibility(llvm::GlobalValue::HiddenVisibility);
    value.setDSOLocal(true);
  }
}

/// The bitcode of the definitions that `keep` selects; others that they use are declared.
static llvm::SmallVector<char, 0> bitcodeOf(const llvm::Module &module,
                                            llvm::function_ref<bool(const llvm::GlobalValue *)> keep) {
  llvm::ValueToValueMapTy map;
  std::unique_ptr<llvm::Module> part = llvm::CloneModule(module, map, keep);
  for (llvm::GlobalValue &value : llvm::make_early_inc_range(part->global_values()))
    if (value.isDeclaration() && value.use_empty())
      value.eraseFromParent();
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream os(bytes);
  llvm::WriteBitcodeToFile(*part, os);
  return bytes;
}

std::string heddle::host::fileNameOf(const CodePart &part) {
  std::string name = part.name.empty() ? "constants" : part.name;
  for (char &c : name)
    if (c == '/' || !llvm::isPrint(c))
      c = '_';
  return name;
}

/// Calls `print` with a file that ends in `ending`; false with `error`.
static bool writeText(const llvm::Twine &file, std::string &error,
                      llvm::function_ref<bool(llvm::raw_pwrite_stream &)> print) {
  std::error_code ec;
  llvm::raw_fd_ostream os(file.str(), ec);
  if (ec || !print(os)) {
    if (ec)
      error = file.str() + ": " + ec.message();
    return false;
  }
  os.close();
  if (os.has_error())
    error = file.str() + ": " + os.error().message();
  os.clear_error();
  return error.empty();
}

/// The part as it goes into code generation, and as assembly.
static bool writeTexts(const llvm::Module &module, llvm::TargetMachine &machine, const llvm::Twine &file,
                       std::string &error) {
  std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module); // code generation changes it
  return writeText(file + ".ll", error,
                   [&](llvm::raw_pwrite_stream &os) {
                     module.print(os, nullptr);
                     return true;
                   }) &&
         writeText(file + ".s", error,
                   [&](llvm::raw_pwrite_stream &os) { return emit(*copy, machine, Output::Assembly, os, error); });
}
namespace {
/// Takes the numbers out of the remarks that LLVM's register allocator and its printer make.
class Counter final : public llvm::DiagnosticHandler {
public:
  explicit Counter(CodePart &part) : part(part) {}

  bool isAnyRemarkEnabled() const override { return true; }
  bool isAnalysisRemarkEnabled(llvm::StringRef pass) const override { return pass == "asm-printer"; }
  bool isMissedOptRemarkEnabled(llvm::StringRef pass) const override { return pass == "regalloc"; }
  bool isPassedOptRemarkEnabled(llvm::StringRef) const override { return false; }

  bool handleDiagnostics(const llvm::DiagnosticInfo &said) override {
    const auto *remark = llvm::dyn_cast<llvm::DiagnosticInfoOptimizationBase>(&said);
    if (!remark)
      return false;
    bool whole = remark->getRemarkName() == "SpillReloadCopies"; // of the function; loops have others
    for (const auto &argument : remark->getArgs()) {
      int64_t count = 0;
      if (llvm::StringRef(argument.Val).getAsInteger(10, count))
        continue;
      if (argument.Key == "NumInstructions")
        part.instructions += count;
      else if (whole && (argument.Key == "NumSpills" || argument.Key == "NumFoldedSpills"))
        part.spills += count;
    }
    return true;
  }

private:
  CodePart &part;
};
} // namespace

/// Compiles one part, in an LLVM context of its own so that threads share nothing.
static bool compilePart(CodePart &part, const Machine &target, const CodeOptions &how, const CodeCache &cache,
                        std::string &error) {
  double start = threadSeconds();
  llvm::TimeTraceScope trace("function", part.name);
  std::string file = how.stayBitcode || !how.texts.empty() ? "" : cache.fileOf(part.bytes);
  if (CodeCache::find(file, part.bytes)) {
    part.seconds = threadSeconds() - start;
    return true;
  }
  CodeContext context;
  std::unique_ptr<llvm::TargetMachine> machine = target.machine(error);
  if (!machine)
    return false;
  llvm::Expected<std::unique_ptr<llvm::Module>> module =
      llvm::parseBitcodeFile({llvm::StringRef(part.bytes.data(), part.bytes.size()), part.name}, context.llvm);
  if (!module) {
    error = llvm::toString(module.takeError());
    return false;
  }
  // Kernels run for milliseconds on the emulator: the quickest code generation is a fifth of the best one's work.
  if (how.quick || llvm::any_of(**module, [](const llvm::Function &f) { return f.hasFnAttribute(kOptimised); }))
    machine->setOptLevel(llvm::CodeGenOptLevel::None);
  else
    optimise(**module, *machine);
  if (!how.texts.empty() && !writeTexts(**module, *machine, how.texts + "/" + fileNameOf(part), error))
    return false;
  if (how.counts)
    context.llvm.setDiagnosticHandler(std::make_unique<Counter>(part));
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream os(bytes);
  if (how.stayBitcode)
    llvm::WriteBitcodeToFile(**module, os);
  else if (!emit(**module, *machine, Output::Object, os, error))
    return false;
  part.bytes = std::move(bytes);
  cache.keep(file, part.bytes);
  part.seconds = threadSeconds() - start;
  return true;
}

std::vector<CodePart> heddle::host::splitFunctions(llvm::Module &module) {
  shareSymbols(module);
  std::vector<CodePart> parts;
  for (const llvm::Function &f : module)
    if (!f.isDeclaration())
      parts.push_back({f.getName().str(), bitcodeOf(module, [&](const llvm::GlobalValue *v) { return v == &f; })});
  parts.push_back({"", bitcodeOf(module, [](const llvm::GlobalValue *v) { return !llvm::isa<llvm::Function>(v); })});
  return parts;
}

bool heddle::host::compileParts(llvm::MutableArrayRef<CodePart> parts, const Machine &target, const CodeOptions &how,
                                std::string &error, unsigned *refused) {
  CodeCache kept(how.cache, target, how.quick ? "quick" : "optimised");
  std::vector<std::string> errors(parts.size());
  // The longest first, so that no core is left with a long one at the end.
  std::vector<size_t> order(parts.size());
  std::iota(order.begin(), order.end(), size_t(0));
  llvm::stable_sort(order, [&](size_t a, size_t b) { return parts[a].bytes.size() > parts[b].bytes.size(); });
  unsigned missing = heddle::inParallel(order.size(), [&](size_t turn) {
    size_t i = order[turn];
    if (!compilePart(parts[i], target, how, kept, errors[i]) && errors[i].empty())
      errors[i] = "LLVM did not compile " + parts[i].name;
  });
  if (refused)
    *refused = missing;
  for (std::string &said : errors)
    if (error.empty())
      error = std::move(said);
  return error.empty();
}

std::unique_ptr<llvm::Module> heddle::host::joinParts(llvm::ArrayRef<CodePart> parts, llvm::LLVMContext &context,
                                                      std::string &error) {
  auto whole = std::make_unique<llvm::Module>("heddle", context);
  llvm::Linker linker(*whole);
  for (const CodePart &part : parts) {
    llvm::Expected<std::unique_ptr<llvm::Module>> module =
        llvm::parseBitcodeFile({llvm::StringRef(part.bytes.data(), part.bytes.size()), part.name}, context);
    if (!module) {
      error = llvm::toString(module.takeError());
      return nullptr;
    }
    if (whole->getTargetTriple().empty()) {
      whole->setTargetTriple((*module)->getTargetTriple());
      whole->setDataLayout((*module)->getDataLayout());
    }
    if (linker.linkInModule(std::move(*module))) {
      error = "LLVM did not join the code of " + part.name;
      return nullptr;
    }
  }
  return whole;
}
