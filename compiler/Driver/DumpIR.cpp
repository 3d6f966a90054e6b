//===- DumpIR.cpp - one numbered file a pass ------------------------------===//

#include "compiler/Driver/DumpIR.h"
#include "compiler/Driver/Exit.h"
#include "compiler/Driver/PrintPasses.h"
#include "compiler/Driver/ShellWord.h"
#include "compiler/Pipelines/Contracts.h"
#include "compiler/Pipelines/PassText.h"
#include "dialects/Model/IR/ModelPlanAttrs.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace heddle;

namespace {
class Writer : public PassInstrumentation {
public:
  Writer(IRDump &dump, size_t passes) : dump(dump), left(passes) {}

  void runAfterPass(Pass *pass, Operation *op) override { ran(pass, op, /*failed=*/false); }
  /// A check that fails leaves the module as the last pass made it.
  void runAfterPassFailed(Pass *pass, Operation *op) override {
    if (pass->getArgument() == kCheckStage)
      ran(pass, op, /*failed=*/true);
  }

private:
  IRDump &dump;
  size_t left;
  std::optional<PassText> last; ///< the stage's last pass, which waits for the check

  void ran(Pass *pass, Operation *op, bool failed) {
    auto module = dyn_cast<ModuleOp>(op);
    // Passes without a flag are MLIR's own: those that go into functions.
    if (pass->getArgument().empty() || !module)
      return;
    PassText text = textOf(*pass);
    bool isCheck = text.flag == kCheckStage;
    if (left-- == 2 && !isCheck) {
      last = std::move(text);
      return;
    }
    std::string pipeline = (last ? last->pipeline() + "," : "") + text.pipeline();
    const PassText &shown = last ? *last : text;
    std::string after = "after the pass " + shown.pipeline() + ", " + (failed ? "before" : "after") + " the stage " +
                        stageOf(module).str();
    dump.write(module, shown.fileName(), after, pipeline);
    last.reset();
  }
};
} // namespace

void IRDump::write(ModuleOp module, std::string name, StringRef after, std::string pipeline) {
  DumpRow &row = index->all().back();
  since += (since.empty() ? "" : ",") + pipeline;
  if (!error.empty() || (changedOnly && row.run.number && !row.changed()))
    return;
  llvm::raw_string_ostream(row.file) << llvm::format("%02u-", row.run.number) << name << ".mlir";
  constexpr size_t kMostText = 1 << 16;
  // Names that --keep gives are part of the options.
  if (!since.empty() && filter->isAll())
    row.command =
        escaped("heddle-opt " + lastFile + " --pass-pipeline=" + shellWord("builtin.module(" + since + ")"), kMostText);
  llvm::SmallString<256> path(folder);
  llvm::sys::path::append(path, row.file);
  std::error_code ec;
  llvm::raw_fd_ostream os(path, ec);
  if (!ec) {
    printView(module, os, {locations, escaped(after, kMostText), row.command}, *filter);
    os.close();
    ec = os.error();
    os.clear_error();
  }
  if (ec) {
    error = (path + ": " + ec.message()).str();
    kind = errorOf(ec, Error::CannotWrite);
  }
  lastFile = row.file;
  since.clear();
}

void IRDump::begin(ModuleOp module) {
  index.emplace(folder, *filter);
  index->begin(module);
  write(module, "import", module->hasAttr(model::kStageAttr) ? "as it was read" : "as it was imported", "");
}

void IRDump::end(ModuleOp module) {
  std::string file;
  if (std::error_code ec = index->write(module, file); ec && error.empty()) {
    error = file + ": " + ec.message();
    kind = errorOf(ec, Error::CannotWrite);
  }
}

void IRDump::watch(PassManager &pm) { pm.addInstrumentation(std::make_unique<Writer>(*this, pm.size())); }
