//===- KernelReport.h - what kernels take, and their bound ------*- C++ -*-===//
//
// What can be said of speed without a device: bytes and operations from the types, instructions from the PTX, registers
// from ptxas where there is one, and from these the time that a kernel takes at least. A bound is no measurement, and
// is printed as such.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TARGETS_GPU_REPORT_KERNELREPORT_H
#define HEDDLE_TARGETS_GPU_REPORT_KERNELREPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"
#include <map>
#include <string>

namespace heddle::gpu {

/// Lengths by the names of dims; what is missing has the value that the report says.
using Dims = std::map<std::string, int64_t>;

/// Of a module of stage `llvm` and its PTX for a chip: {"chip", "entries": [{"entry", "dims", "kernels": [...],
/// totals}]}. `assembler` is a ptxas or "". None with `error`: a dim that the model does not have, PTX that ptxas
/// refuses.
std::optional<llvm::json::Object> report(mlir::ModuleOp module, llvm::StringRef ptx, llvm::StringRef chip,
                                         const Dims &dims, llvm::StringRef assembler, std::string &error);

/// The same as tables for people.
void print(const llvm::json::Object &report, llvm::raw_ostream &os);

} // namespace heddle::gpu

#endif
