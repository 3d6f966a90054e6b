//===- CodeGen.h - functions to machine code, on all cores -----*- C++ -*-===//
//
// Every function of a module is optimised and compiled as a module of its own, so that all cores
// take part, its time is known, and its bytes depend on nothing but the function and the processor.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TARGETS_CPU_CODEGEN_H
#define HEDDLE_TARGETS_CPU_CODEGEN_H

#include "targets/CPU/CPUTarget.h"
#include "llvm/ADT/SmallVector.h"
#include <vector>

namespace heddle::cpu {

/// One function, or the data of the module.
struct CodePart {
  std::string name;                 ///< of the function; empty: the module's constants and tables
  llvm::SmallVector<char, 0> bytes; ///< bitcode, then an object file
  double seconds = 0;               ///< of CPU, to compile it
};

/// The functions of `module` as bitcode, in its order, the data last. Symbols that were local to
/// the module become hidden ones that the linker joins.
std::vector<CodePart> splitFunctions(llvm::Module &module);

/// Optimises every part, on all cores, and makes it an object unless it is to stay bitcode.
/// False where LLVM refuses a part; `error` then says why.
bool compileParts(llvm::MutableArrayRef<CodePart> parts, const CPUTarget &target, bool stayBitcode, std::string &error);

/// One module again, to be read or written as a whole: parts that stayed bitcode, joined.
std::unique_ptr<llvm::Module> joinParts(llvm::ArrayRef<CodePart> parts, llvm::LLVMContext &context, std::string &error);

} // namespace heddle::cpu

#endif
