//===- GPUTarget.h - from kernels in the LLVM dialect to PTX ----*- C++ -*-===//
//
// PTX is made in process by LLVM's NVPTX back end and is text in the object file; the driver on the machine that runs
// it translates it for the device at hand. No toolkit and no device library takes part: functions of calculus are ours.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TARGETS_GPU_GPUTARGET_H
#define HEDDLE_TARGETS_GPU_GPUTARGET_H

#include "targets/Target.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heddle::gpu {

/// An instruction set that PTX is written for: "sm_80" runs on every later device, "sm_90a" on Hopper alone.
struct Chip {
  std::string name;
};

/// The chips of --mcpu: names joined by '+'; "native" is both bases, sm_80+sm_90a. None with `why`.
std::optional<std::vector<Chip>> chipsOf(llvm::StringRef mcpu, Refusal &why);

/// The chips, each with what runs its code.
std::string describeChips();

/// "sm_80+sm_90a".
std::string namesOf(llvm::ArrayRef<Chip> chips);

/// The kernels of a module of stage `llvm` as LLVM IR for `chip`, not yet optimised. Null with the reason in `error`.
std::unique_ptr<llvm::Module> translate(mlir::ModuleOp module, llvm::LLVMContext &context, const Chip &chip,
                                        std::string &error);

/// Optimises what `translate` gave: what becomes PTX, and what the emulator makes host code of. `quick`: as much as the
/// emulator needs. False with the reason in `error`.
bool optimise(llvm::Module &module, const Chip &chip, bool quick, std::string &error);

/// PTX of an optimised module, which is used up. Empty with the reason in `error`; a text that calls a device library
/// or leaves rounding to the assembler is such a reason.
std::string writePTX(llvm::Module &module, const Chip &chip, std::string &error);

} // namespace heddle::gpu

#endif
