//===- CrashFile.cpp - what a pass that fails leaves ----------------------===//

#include "compiler/Driver/CrashFile.h"
#include "compiler/Driver/PrintIR.h"
#include "compiler/Pipelines/PassText.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace heddle;

namespace {
class Counter : public PassInstrumentation {
public:
  explicit Counter(size_t &done) : done(done) {}
  void runAfterPass(Pass *pass, Operation *op) override { done += isa<ModuleOp>(op) && !pass->getArgument().empty(); }

private:
  size_t &done;
};
} // namespace

void CrashFile::watch(PassManager &pm) { pm.addInstrumentation(std::make_unique<Counter>(done)); }

/// What --run-reproducer reads, at the end of a file.
static void printReproducer(raw_ostream &os, StringRef pipeline) {
  os << "{-#\n  external_resources: {\n    mlir_reproducer: {\n      pipeline: \"";
  llvm::printEscapedString(pipeline, os);
  os << "\",\n      disable_threading: true,\n      verify_each: true\n    }\n  }\n#-}\n";
}

void CrashFile::leave(StringRef output, DiagnosticSink &sink) {
  PassManager all(input->getContext(), ModuleOp::getOperationName());
  addStage(all, stage, options);
  std::vector<std::string> texts;
  for (Pass &pass : all.getPasses())
    texts.push_back(textOf(pass).pipeline());
  // Passes give the same twice. If one does not, or the module is wrong only at the end, the whole stage is replayed.
  if (done < texts.size()) {
    OwningOpRef<ModuleOp> before(input->clone());
    PassManager again(input->getContext(), ModuleOp::getOperationName());
    size_t left = done;
    addPasses(again, stage, options, [&](StringRef) { return left > 0 && left-- > 0; });
    ScopedDiagnosticHandler quiet(input->getContext(), [](mlir::Diagnostic &) { return success(); });
    if (succeeded(again.run(*before))) {
      input = std::move(before);
      texts = {texts[done]};
    }
  }
  std::string failed = texts.size() == 1 ? "the pass " + texts[0] : "a pass of the stage " + stage.name.str();
  llvm::SmallString<256> file(llvm::sys::path::parent_path(output));
  llvm::sys::path::append(file, "heddle-crash.mlir");
  std::string command = ("heddle-opt " + Twine(file) + " --run-reproducer").str();
  std::error_code ec;
  llvm::raw_fd_ostream os(file, ec);
  if (!ec) {
    std::string before = "before " + failed + ", which fails";
    printIR(*input, os, {/*locations=*/true, before, command});
    printReproducer(os, "builtin.module(" + llvm::join(texts, ",") + ")");
    os.close();
    ec = os.error();
    os.clear_error();
  }
  if (!ec)
    sink.sayInFile(heddle::Diagnostic::Kind::Remark, "", "the pass that failed and its input: " + command);
}
