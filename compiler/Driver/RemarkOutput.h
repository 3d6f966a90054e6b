//===- RemarkOutput.h - --remarks and --remarks-file ------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_DRIVER_REMARKOUTPUT_H
#define HEDDLE_COMPILER_DRIVER_REMARKOUTPUT_H

#include "compiler/Driver/Console.h"
#include "compiler/Driver/Options.h"
#include "compiler/Driver/RemarkCollector.h"
#include "targets/Host/CodeGen.h"
#include "llvm/Support/JSON.h"

namespace heddle {

class DiagnosticSink;

/// One remark as JSON: kind, name, pass, entry, file, line, column, path, message, args {name: number or form} and
/// notes [file, line, column, message].
llvm::json::Object remarkJson(const RemarkRecord &remark);

/// Adds all remarks to `sink`, each at its place.
void sayRemarks(llvm::ArrayRef<RemarkRecord> remarks, DiagnosticSink &sink);

/// Remarks on the machine code of the functions of `module`, of stage `llvm`.
void remarkOnCode(mlir::ModuleOp module, llvm::ArrayRef<host::CodePart> functions);

/// Why remarks cannot be written into a file of this name: it says the format by its ending, .yaml or .json. "" if they
/// can.
std::string wrongRemarksFile(llvm::StringRef file);

/// What a command line asks of remarks, while a model is compiled: collects them, then prints and writes them.
class RemarkOutput {
public:
  /// Nothing is collected where `options` ask for none. Otherwise `options.collector` is set.
  RemarkOutput(mlir::MLIRContext &context, CompileOptions &options);
  /// Adds the remarks to `sink`, or without one prints them, and writes the file. Returns `code`, or the status of what
  /// went wrong.
  int finish(const Console &console, int code, DiagnosticSink *sink = nullptr) const;

private:
  std::optional<RemarkCollector> collector;
  bool lines;
  std::string file;
  std::vector<CompileWatcher *> watchers; ///< that want remarks
};

} // namespace heddle

#endif
