//===- Compile.h - from a description to a binary ---------------*- C++ -*-===//
//
// import (Load.h) -> stages (compiler/Pipelines) -> target -> link.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_DRIVER_COMPILE_H
#define HEDDLE_COMPILER_DRIVER_COMPILE_H

#include "compiler/Import/Import.h"
#include "compiler/Pipelines/Stages.h"
#include "targets/CPU/Processors.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

namespace heddle {

/// Exit codes of the command line (one table for the tool and the emitted binary).
enum ExitCode { Ok = 0, InputError = 1, UsageError = 2, Unsupported = 3, Resources = 4, IOError = 5, Internal = 70 };

/// What a model from standard input is called in messages (Unsaid.h).
constexpr llvm::StringLiteral kStandardInput = "<stdin>";

/// Where a command speaks: results on `out`, all else on `err`. The tool names the streams.
struct Console {
  llvm::raw_fd_ostream &out;
  llvm::raw_ostream &err;
  /// Prints `error: text` and returns `code`.
  int complain(ExitCode code, const llvm::Twine &text) const;
};

struct CompileOptions {
  ImportOptions import;
  std::string output;       ///< -o; empty or "-": standard output (text stages only)
  std::string emit = "exe"; ///< a stage of the table
  std::string mcpu = "native";
  std::string dtype;        ///< f32, bf16, f16; empty: what an .mlir file says, or f32
  std::string math = "auto"; ///< of bf16: dots, wide, or dots where the processor has them
  std::string depfile;      ///< --depfile: the files it was made of, as a rule of make
  std::vector<std::string> alsoRead; ///< for the depfile: what the tool itself has read
  std::string dumpDir;      ///< --dump-ir: numbered files, one a pass
  PipelineOptions pipeline;
  bool embed = true;        ///< false: weights in a second file beside the binary
  bool time = false;        ///< --time: where time and memory went, on standard error
  double timeout = 0;       ///< seconds; 0: none
  uint64_t maxMemory = 0;   ///< bytes; 0: what the system has
  std::string runtimeArchive; ///< libheddle_rt.a; empty: beside the tool
};

/// Writes how reals are stored and multiplied on the module (dialects/Model/IR/Arithmetic.h).
int setArithmetic(const Console &console, mlir::ModuleOp module, const CompileOptions &options, const cpu::Processor &target);

/// Runs the stages after the module's own up to `stage`. Errors go to the sink, or are printed.
int runStages(const Console &console, mlir::ModuleOp module, llvm::StringRef stage, const CompileOptions &options,
              DiagnosticSink &sink);
int runStages(const Console &console, mlir::ModuleOp module, llvm::StringRef stage, const CompileOptions &options);

/// `heddle compile`. Returns the exit code.
int compile(const Console &console, const CompileOptions &options);

/// A context that loads Heddle's dialects and whose diagnostics show the line of the JSON.
std::unique_ptr<mlir::MLIRContext> makeContext();

} // namespace heddle

#endif
