//===- CodeGen.cpp - one module a function --------------------------------===//

#include "targets/Host/CodeGen.h"
#include "targets/Host/CodeCache.h"
#include "targets/Threads.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Linker/Linker.h"
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

/// Compiles one part, in an LLVM context of its own so that threads share nothing.
static bool compilePart(CodePart &part, const Machine &target, const CodeOptions &how, const CodeCache &cache,
                        std::string &error) {
  double start = threadSeconds();
  std::string file = how.stayBitcode ? "" : cache.fileOf(part.bytes);
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
