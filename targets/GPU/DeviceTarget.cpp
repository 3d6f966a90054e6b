//===- DeviceTarget.cpp - NVIDIA's devices as a target ----------------------===//
//
// PTX is data: a program holds one text a chip, no entries of its own, and the runtime that hands a text to the driver.
// With --emulate the kernels are in it a second time, as host code; with --emulate-alone only so, which spares a third
// of compiling them. With --code-cache both are kept for the next compilation of the same kernels.
//
//===----------------------------------------------------------------------===//

#include "targets/GPU/DeviceTarget.h"
#include "compiler/Conversion/Lowering/GPU/Passes.h"
#include "targets/GPU/DeviceStages.h"
#include "targets/GPU/Emulate.h"
#include "targets/GPU/GPUTarget.h"
#include "targets/GPU/Ptxas.h"
#include "targets/GPU/Report/KernelReport.h"
#include "targets/GPU/Report/SlowKernels.h"
#include "targets/Host/CodeCache.h"
#include "targets/Threads.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Constants.h"
#include "llvm/Support/FormatVariadic.h"

using mlir::MLIRContext, mlir::ModuleOp, mlir::StringAttr;
using namespace heddle;
using llvm::StringRef;

/// The text of a program that only the emulator runs.
static constexpr StringRef kNoKernels = "// compiled with --emulate-alone: no kernels for a device\n";

/// Of a warp: threads, and registers a thread.
static constexpr int64_t kLanes = 32, kRegisters = 255;

namespace {
/// The kernels for one chip, as the program holds them.
struct Image {
  std::string chip, kind, bytes;
};
} // namespace

static llvm::Constant *textIn(llvm::Module &module, StringRef text, bool ended) {
  llvm::Constant *bytes = llvm::ConstantDataArray::getString(module.getContext(), text, ended);
  return new llvm::GlobalVariable(module, bytes->getType(), true, llvm::GlobalValue::PrivateLinkage, bytes);
}

/// heddle_device_images of runtime/include/heddle/image.h.
static void addImages(llvm::Module &module, llvm::ArrayRef<Image> images) {
  llvm::LLVMContext &context = module.getContext();
  llvm::Type *pointer = llvm::PointerType::get(context, 0), *i64 = llvm::Type::getInt64Ty(context);
  auto *row = llvm::StructType::get(context, {pointer, pointer, pointer, i64}); // chip, kind, bytes, size
  llvm::SmallVector<llvm::Constant *> rows;
  for (const Image &image : images) { // a driver reads PTX up to a NUL
    llvm::Constant *chip = textIn(module, image.chip, true), *kind = textIn(module, image.kind, true);
    llvm::Constant *bytes = textIn(module, image.bytes, true),
                   *size = llvm::ConstantInt::get(i64, image.bytes.size() + 1);
    rows.push_back(llvm::ConstantStruct::get(row, {chip, kind, bytes, size}));
  }
  rows.push_back(llvm::ConstantAggregateZero::get(row));
  auto *table = llvm::ArrayType::get(row, rows.size());
  new llvm::GlobalVariable(module, table, true, llvm::GlobalValue::ExternalLinkage,
                           llvm::ConstantArray::get(table, rows), "heddle_device_images");
}

static llvm::SmallVector<char, 0> bitcodeOf(const llvm::Module &module) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream os(bytes);
  llvm::WriteBitcodeToFile(module, os);
  return bytes;
}

static std::unique_ptr<llvm::Module> moduleOf(llvm::ArrayRef<char> bitcode, llvm::LLVMContext &context,
                                              std::string &error) {
  llvm::Expected<std::unique_ptr<llvm::Module>> module =
      llvm::parseBitcodeFile({StringRef(bitcode.data(), bitcode.size()), "kernels"}, context);
  if (module)
    return std::move(*module);
  error = llvm::toString(module.takeError());
  return nullptr;
}

namespace {
class DeviceTarget final : public Target {
public:
  /// `assembler` is "" where no cubins are wanted.
  DeviceTarget(std::vector<gpu::Chip> chips, const TargetOptions &options, std::string assembler)
      : chips(std::move(chips)), options(options), assembler(std::move(assembler)) {}

  StringRef name() const override { return kDevice; }
  llvm::ArrayRef<Stage> stages() const override { return deviceStages(); }
  llvm::ArrayRef<OutputStage> outputs() const override { return deviceOutputs(); }

  model::TargetAttr describe(MLIRContext *context) const override {
    return model::TargetAttr::get(context, name(), gpu::namesOf(chips), kLanes, kRegisters, StringAttr());
  }

  /// Every chip has units for pairs of bf16.
  Formats formats() const override { return {/*dots=*/true, /*fast=*/true, /*f16=*/true, /*codes=*/false}; }

  bool print(ModuleOp module, StringRef what, llvm::raw_pwrite_stream &os, std::string &error) const override {
    if (what == "llvmir") {
      host::CodeContext context; // as for a program, to the byte
      for (const gpu::Chip &chip : chips) {
        std::unique_ptr<llvm::Module> kernels = gpu::translate(module, context.llvm, chip, error);
        if (!kernels || !gpu::optimise(*kernels, chip, /*quick=*/false, error))
          return false;
        kernels->print(os, nullptr);
      }
      return true;
    }
    std::vector<Written> written = write(module, nullptr, error);
    for (const Written &one : written)
      os << one.text;
    return !written.empty();
  }

  std::unique_ptr<llvm::Module> code(ModuleOp module, llvm::TargetMachine &host, llvm::LLVMContext &context,
                                     std::string &error, std::string &note) const override {
    auto out = std::make_unique<llvm::Module>("heddle", context);
    out->setTargetTriple(host.getTargetTriple());
    out->setDataLayout(host.createDataLayout());
    std::vector<Written> written = write(module, options.emulate ? &context : nullptr, error);
    if (written.empty())
      return nullptr;
    if (options.emulate) {
      out = std::move(written.front().kernels);
      if (!gpu::emulate(*out, host, options.races, error))
        return nullptr;
    }
    note = gpu::noteOnSlowKernels(module, written.back().text, chips.back().name);
    std::vector<Image> images;
    for (auto [chip, one] : llvm::zip_equal(chips, written)) {
      if (!assembler.empty()) {
        std::optional<gpu::Assembled> binary = gpu::assemble(assembler, one.text, chip.name, error);
        if (!binary)
          return nullptr;
        images.push_back({chip.name, "cubin", std::move(binary->bytes)});
      }
      images.push_back({chip.name, "ptx", std::move(one.text)});
    }
    addImages(*out, images);
    return out;
  }

  bool report(ModuleOp module, const ReportOptions &how, llvm::raw_ostream &os, std::string &error) const override {
    llvm::json::Array all;
    std::vector<Written> written = write(module, nullptr, error);
    if (written.empty())
      return false;
    for (auto [chip, text] : llvm::zip_equal(chips, written)) {
      std::optional<llvm::json::Object> one =
          gpu::report(module, text.text, chip.name, how.dims, gpu::findAssembler(), error);
      if (!one)
        return false;
      if (how.json)
        all.push_back(std::move(*one));
      else
        gpu::print(*one, os);
    }
    if (how.json)
      os << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(all)));
    return true;
  }

private:
  /// What becomes of the kernels for one chip.
  struct Written {
    std::string text;                      ///< PTX
    std::unique_ptr<llvm::Module> kernels; ///< of the first chip, optimised, where they are wanted
  };

  std::vector<gpu::Chip> chips;
  TargetOptions options;
  std::string assembler;

  /// Optimises the kernels and writes their text, unless an earlier compilation has left both. `ptx`: the text is
  /// wanted. `into`: where the kernels are wanted, too; null: nowhere.
  Written writeOne(std::unique_ptr<llvm::Module> module, const gpu::Chip &chip, bool ptx, llvm::LLVMContext *into,
                   std::string &error) const {
    bool quick = options.quick && !ptx;
    host::CodeCache texts(options.codeCache, chip.name + " PTX"),
        modules(options.codeCache, chip.name + (quick ? " quick kernels" : " kernels"));
    llvm::SmallVector<char, 0> text, code;
    std::string textFile, codeFile;
    if (!options.codeCache.empty()) {
      llvm::SmallVector<char, 0> source = bitcodeOf(*module);
      textFile = texts.fileOf(source);
      codeFile = modules.fileOf(source);
      if ((!ptx || host::CodeCache::find(textFile, text)) && (!into || host::CodeCache::find(codeFile, code))) {
        std::unique_ptr<llvm::Module> kernels;
        if (into && !(kernels = moduleOf(code, *into, error)))
          return {};
        return {ptx ? std::string(text.begin(), text.end()) : kNoKernels.str(), std::move(kernels)};
      }
    }
    if (!gpu::optimise(*module, chip, quick, error))
      return {};
    Written written;
    if (into) {
      code = bitcodeOf(*module);
      modules.keep(codeFile, code);
      if (!(written.kernels = moduleOf(code, *into, error)))
        return {};
    }
    written.text = ptx ? gpu::writePTX(*module, chip, error) : kNoKernels.str();
    if (ptx && error.empty())
      texts.keep(textFile, llvm::ArrayRef(written.text.data(), written.text.size()));
    return written;
  }

  /// Writes the kernels for each chip. Where `first` is given the first chip's come into that context as well. Empty
  /// with `error`. Every chip has a core and an LLVM context of its own, so that threads share nothing.
  std::vector<Written> write(ModuleOp module, llvm::LLVMContext *first, std::string &error) const {
    std::vector<Written> written(chips.size());
    std::vector<host::CodeContext> contexts(chips.size());
    std::vector<std::unique_ptr<llvm::Module>> modules;
    std::vector<std::string> errors(chips.size());
    for (auto [i, chip] : llvm::enumerate(chips)) { // the module of the LLVM dialect is read by one thread
      modules.push_back(gpu::translate(module, contexts[i].llvm, chip, error));
      if (!modules.back())
        return {};
    }
    bool ptx = !first || !options.alone;
    inParallel(chips.size(), [&](size_t i) {
      written[i] = writeOne(std::move(modules[i]), chips[i], ptx, i == 0 ? first : nullptr, errors[i]);
    });
    for (std::string &said : errors)
      if (error.empty())
        error = std::move(said);
    if (!error.empty())
      written.clear();
    return written;
  }
};
} // namespace

void heddle::registerDeviceTiles(mlir::DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *, model::ModelDialect *dialect) {
    plan::Targets::of(dialect).add(kDevice, loops::makeWarpTiles());
  });
}

std::unique_ptr<Target> heddle::makeDeviceTarget(StringRef machine, const TargetOptions &options, Refusal &why) {
  std::optional<std::vector<gpu::Chip>> chips = gpu::chipsOf(machine, why);
  if (!chips)
    return nullptr;
  std::string assembler = options.cubin ? gpu::findAssembler() : "";
  if (options.cubin && assembler.empty()) {
    why.text =
        "--cubin assembles with NVIDIA's ptxas, and there is none on the path; without it the driver assembles when a program starts";
    return nullptr;
  }
  return std::make_unique<DeviceTarget>(std::move(*chips), options, std::move(assembler));
}
