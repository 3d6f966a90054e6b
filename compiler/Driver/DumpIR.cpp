//===- DumpIR.cpp - one numbered file a pass ------------------------------===//

#include "compiler/Driver/DumpIR.h"
#include "compiler/Driver/Exit.h"
#include "compiler/Driver/PrintIR.h"
#include "mlir/IR/BuiltinOps.h"
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
  explicit Writer(IRDump &dump) : dump(dump) {}

  void runAfterPass(Pass *pass, Operation *op) override {
    // Passes without a flag are MLIR's own: those that go into functions.
    if (pass->getArgument().empty() || !dump.error.empty())
      return;
    llvm::SmallString<256> path(dump.folder);
    std::string name;
    llvm::raw_string_ostream(name) << llvm::format("%02u-", dump.written++) << pass->getArgument() << ".mlir";
    llvm::sys::path::append(path, name);
    std::error_code ec;
    llvm::raw_fd_ostream os(path, ec);
    if (!ec) {
      auto module = dyn_cast<ModuleOp>(op);
      printIR(module ? module : op->getParentOfType<ModuleOp>(), os, {dump.locations, pass->getArgument()});
      os.close();
      ec = os.error();
      os.clear_error();
    }
    if (ec) {
      dump.error = (path + ": " + ec.message()).str();
      dump.kind = errorOf(ec, Error::CannotWrite);
    }
  }

private:
  IRDump &dump;
};
} // namespace

void IRDump::watch(PassManager &pm) { pm.addInstrumentation(std::make_unique<Writer>(*this)); }
