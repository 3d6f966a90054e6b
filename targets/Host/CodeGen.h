//===- CodeGen.h - functions to machine code, on all cores -----*- C++ -*-===//
//
// Machine code on all cores. Every function of a module is optimised and compiled as a module of its
// own, so that all cores take part, each function's time is known, and its bytes depend only on the
// function and the processor.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TARGETS_HOST_CODEGEN_H
#define HEDDLE_TARGETS_HOST_CODEGEN_H

#include "targets/Host/HostMachine.h"
#include "llvm/ADT/SmallVector.h"
#include <vector>

namespace heddle::host {

/// One function, or the data of the module.
struct CodePart {
  std::string name;                     ///< of the function; empty: the module's constants and tables
  llvm::SmallVector<char, 0> bytes;     ///< bitcode, then an object file
  double seconds = 0;                   ///< of CPU, to compile it
  int64_t instructions = 0, spills = 0; ///< where `CodeOptions::counts` asks; 0 also where it came from the cache
};

/// What a file of the part is called: its function with / and control characters replaced.
std::string fileNameOf(const CodePart &part);

/// Splits `module` into the bitcode of its functions, in order, and of its data, last. Symbols that were
/// local become hidden ones, which the linker resolves.
std::vector<CodePart> splitFunctions(llvm::Module &module);

/// Marks a function that LLVM's pipeline has optimised already (kernels for the emulator: as they go to the device).
constexpr llvm::StringLiteral kOptimised = "heddle-optimised";

/// How `compileParts` compiles.
struct CodeOptions {
  bool stayBitcode = false;   ///< optimised bitcode instead of objects
  bool quick = false;         ///< not optimised, by LLVM's quickest code generation: for tests
  llvm::StringRef cache = ""; ///< the folder that objects are taken from and kept in; empty: there is none
  bool counts = false;        ///< also count instructions and spills of each function
  llvm::StringRef texts = ""; ///< a folder for FILE.ll and FILE.s of every part (fileNameOf); then nothing is cached
};

/// Optimises every part on all cores and compiles it. False with `error` if LLVM refuses a part. `refused` receives how
/// many threads the system did not give.
bool compileParts(llvm::MutableArrayRef<CodePart> parts, const Machine &target, const CodeOptions &how,
                  std::string &error, unsigned *refused = nullptr);

/// Joins parts that stayed bitcode to one module, to be printed or written as a whole; null with `error`.
std::unique_ptr<llvm::Module> joinParts(llvm::ArrayRef<CodePart> parts, llvm::LLVMContext &context, std::string &error);

} // namespace heddle::host

#endif
