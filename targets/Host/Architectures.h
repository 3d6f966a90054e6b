//===- Architectures.h - the instruction sets of processors -----*- C++ -*-===//
//
// The instruction sets that programs are made for, one row of a table each: LLVM's triple and names, what a program can
// ask its machine for, how wide vectors are, and the dynamic linker of the C library. `--mcpu` names a processor of any
// of them.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TARGETS_HOST_ARCHITECTURES_H
#define HEDDLE_TARGETS_HOST_ARCHITECTURES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/TargetParser/Triple.h"
#include <string>
#include <vector>

namespace heddle::host {

/// What kernels want to know of a processor.
struct Vectors {
  int64_t width;     ///< f32 lanes
  int64_t registers; ///< vector registers
  bool f16;          ///< has conversions between f32 and f16
  bool dots;         ///< has dot products of pairs of bf16 (vdpbf16ps), and vpermi2b
  /// Multiply-adds of bf16 pairs in the time of one of f32; 0 without `dots`. Filled in by `findProcessor`.
  double pairs = 0;
};

struct Architecture {
  llvm::Triple::ArchType type;
  llvm::StringRef name;   ///< of it, and of the folder next to the host's archives where those for it are
  llvm::StringRef loader; ///< the dynamic linker, where a program of it finds it
  /// The name that --mcpu has for code that every processor of it runs, and LLVM's name for that.
  llvm::StringRef least, leastOfLLVM;
  llvm::ArrayRef<llvm::StringRef> asked;  ///< features that a program can ask for (cpu_features.def)
  llvm::ArrayRef<llvm::StringRef> always; ///< instructions that every processor of it has, or that only concern LLVM
  llvm::StringRef needed;                 ///< a feature without which there is no code ("": none)
  bool (*isInstruction)(llvm::StringRef feature); ///< other features describe what is fast
  std::vector<llvm::StringRef> (*names)();        ///< of --mcpu
  Vectors (*vectors)(llvm::function_ref<bool(llvm::StringRef)> has);
  void (*load)(); ///< its code generator

  bool isHost() const;
  llvm::Triple triple() const;
  /// Whether a feature is an instruction that a program cannot ask for.
  bool cannotBeAsked(llvm::StringRef feature) const {
    return isInstruction(feature) && !llvm::is_contained(always, feature) && !llvm::is_contained(asked, feature);
  }
};

/// All of them, that of this machine first.
std::vector<const Architecture *> architectures();

} // namespace heddle::host

#endif
