//===- heddle-translate.cpp - --import-json and --card, for tests ---------===//

#include "compiler/Import/Import.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "targets/Card/CardText.h"
#include "targets/Registration.h"
#include "llvm/Support/SourceMgr.h"

static void registerImportJson() {
  static mlir::TranslateToMLIRRegistration translation(
      "import-json", "a description in Heddle's language becomes a module of the stage `model`",
      [](llvm::SourceMgr &sources, mlir::MLIRContext *context) -> mlir::OwningOpRef<mlir::Operation *> {
        heddle::ImportOptions options;
        const llvm::MemoryBuffer *main = sources.getMemoryBuffer(sources.getMainFileID());
        options.path = main->getBufferIdentifier().str();
        options.text = main->getBuffer().str();
        options.weightsOptional = true;
        heddle::DiagnosticSink sink;
        auto module = heddle::importModel(*context, options, sink);
        sink.print(llvm::errs());
        return sink.hasErrors() ? nullptr : module.release().getOperation();
      },
      [](mlir::DialectRegistry &registry) { heddle::registerDialects(registry); });
}

static void registerCard() {
  static mlir::TranslateFromMLIRRegistration translation(
      "card", "what a program of a module of stage `kernels` or `llvm` says of its model",
      [](mlir::ModuleOp module, llvm::raw_ostream &os) -> mlir::LogicalResult {
        os << heddle::cardText(module);
        return mlir::success();
      },
      [](mlir::DialectRegistry &registry) { heddle::registerDialects(registry); });
}

int main(int argc, char **argv) {
  registerImportJson();
  registerCard();
  return mlir::failed(mlir::mlirTranslateMain(argc, argv, "Heddle's importer, and its card\n"));
}
