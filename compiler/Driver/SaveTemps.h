//===- SaveTemps.h - everything between a model and its binary --*- C++ -*-===//
#ifndef HEDDLE_COMPILER_DRIVER_SAVETEMPS_H
#define HEDDLE_COMPILER_DRIVER_SAVETEMPS_H

#include "compiler/Driver/CompileWatcher.h"
#include "compiler/Driver/Console.h"
#include "compiler/Driver/Options.h"

namespace heddle {

/// --save-temps: writes into a folder STAGE.mlir of every stage, code/NAME.ll, .s and .o of every function,
/// kernels.ll and kernels.ptx of a device, the objects of weights and digests, card.txt, link.sh, which links them, and
/// repeat.sh, which makes the binary from the text of a stage. Of several targets, stages and kernels are in folders of
/// their names, and there is no repeat.sh.
class SaveTemps final : public CompileWatcher {
public:
  explicit SaveTemps(const CompileOptions &options) : options(options) {}

  /// The folder of `options`; where code generation writes its texts.
  static std::string folderOf(const CompileOptions &options);
  static std::string codeFolderOf(const CompileOptions &options);

  /// Makes the folders; the exit code, an error has been reported.
  int begin(const Console &console);
  /// Writes card and repeat.sh, unless `code` says that the compilation has failed; reports what could not be written.
  int end(const Console &console, int code);

  void imported(mlir::ModuleOp module, const Target &target) override;
  void ended(const Stage &stage, mlir::ModuleOp module) override;
  void generated(llvm::ArrayRef<host::CodePart> parts) override;
  void linked(llvm::ArrayRef<std::string> line, llvm::StringRef folder) override;

private:
  using Printer = llvm::function_ref<void(llvm::raw_pwrite_stream &)>;
  /// `isScript`: it may be run.
  void writeFile(const llvm::Twine &name, Printer print, bool isScript = false);
  void fail(Error kind, const llvm::Twine &text);
  void fail(std::error_code ec, const llvm::Twine &file); ///< unless it is none
  void printKernels(mlir::ModuleOp module);
  void printRepeat(llvm::raw_ostream &os) const;

  const CompileOptions &options;
  const Target *target = nullptr; ///< while its stages run
  std::string targetName;         ///< of the last one
  bool hasSeveral = false;
  std::string prefix;                         ///< of the target's files: "", or "cuda/"
  std::vector<std::string> stages, functions; ///< files of stages; files of functions without .o
  std::string card;
  std::optional<std::pair<Error, std::string>> problem; ///< the first
};

} // namespace heddle

#endif
