//===- CodeCache.h - machine code of earlier compilations -------*- C++ -*-===//
//
// The bytes of a function's object file depend on its bitcode, the processor and this compiler alone (CodeGen.h). So a
// folder can keep them, by a digest of the three, for the next model that has the same function; and likewise what
// becomes of all kernels of a model for a device.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TARGETS_HOST_CODECACHE_H
#define HEDDLE_TARGETS_HOST_CODECACHE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace heddle::host {

struct Machine;

/// A folder of files, one a function or a module of kernels; safe for threads and for compilers that run at the same
/// time. A folder that cannot be read or written is no error: everything is compiled then.
class CodeCache {
public:
  /// `folder` is made at the first function that is kept; empty: there is no cache. `how`: what else code depends on.
  CodeCache(llvm::StringRef folder, const Machine &target, llvm::StringRef how);
  /// `what`: the target, and what else results depend on beside the bitcode; empty: there is no cache.
  CodeCache(llvm::StringRef folder, llvm::StringRef what);

  /// The file for what becomes of this bitcode; empty without a cache.
  std::string fileOf(llvm::ArrayRef<char> bitcode) const;
  /// Reads what `keep` has written into `file`; false if it is not there, or damaged.
  static bool find(const std::string &file, llvm::SmallVectorImpl<char> &object);
  /// Writes `file`, whole or not at all.
  void keep(const std::string &file, llvm::ArrayRef<char> object) const;

private:
  std::string folder;
  std::string compiler; ///< this program and the target, as the digest of a function begins
};

} // namespace heddle::host

#endif
