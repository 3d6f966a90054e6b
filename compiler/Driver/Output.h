//===- Output.h - what the stages after `llvm` write ------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_DRIVER_OUTPUT_H
#define HEDDLE_COMPILER_DRIVER_OUTPUT_H

#include "compiler/Driver/Console.h"
#include "compiler/Driver/Options.h"
#include "compiler/Weights/Pack/BlobMap.h"
#include "mlir/IR/BuiltinOps.h"

namespace heddle {

struct TextBlobs;

/// The packed weights that a module of stage `tiled` or later asks for (its `model.blob`).
BlobMap blobMapOf(mlir::ModuleOp module);

/// Opens the files of `model.weights`.
/// None after an error, which has been reported; `code` is then its exit code.
std::optional<WeightStore> openWeights(const Console &console, mlir::ModuleOp module, int &code);

/// What a target made of a model: a module of stage `llvm`.
struct TargetPart {
  const Target *target;
  mlir::ModuleOp module;
};

/// Writes an output stage of the targets' parts: text, an object, or the linked binary with the blobs of `words` in it.
/// `host` is the processor of the runtime.
int writeOutput(const Console &console, llvm::ArrayRef<TargetPart> parts, const CompileOptions &options,
                const host::Machine &host, const TextBlobs &words);

/// Says what went wrong with weights or with a file that is written; returns its exit code.
int complain(const Console &console, const absl::Status &status);

/// A file that appears whole or not at all. `write` fills a stream; "-" is standard output.
int writeAtomically(const Console &console, llvm::StringRef path,
                    llvm::function_ref<bool(llvm::raw_pwrite_stream &)> write);

} // namespace heddle

#endif
