//===- heddle-translate.cpp - --import-json, for tests of the importer ----===//

#include "compiler/Import/Import.h"
#include "compiler/Pipelines/Stages.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "mlir/Tools/mlir-translate/Translation.h"
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

int main(int argc, char **argv) {
  registerImportJson();
  return mlir::failed(mlir::mlirTranslateMain(argc, argv, "Heddle's importer\n"));
}
