// The packed weights as an ELF64 relocatable object. They are in the section
// `.lrodata.heddle` (flagged large on x86-64, so that gigabytes do not push
// code out of reach), which is streamed out while tensors are packed. With
// --no-embed they are a plain file next to the program instead. No time, path or
// host name gets into the bytes.
#ifndef HEDDLE_COMPILER_WEIGHTS_PACK_WEIGHTSOBJECT_H
#define HEDDLE_COMPILER_WEIGHTS_PACK_WEIGHTSOBJECT_H

#include "absl/status/statusor.h"
#include "compiler/Weights/Pack/BlobMap.h"
#include "compiler/Weights/Pack/Pack.h"
#include <string>
#include <vector>

namespace heddle {

enum class ObjectMachine : uint8_t { X86_64, AArch64 };

/// A small constant in .rodata next to the weights: a tokenizer, a card, a size.
struct ObjectSymbol {
  std::string name;
  std::string bytes;
  unsigned align = 16;

  /// A symbol with a little-endian uint64_t.
  static ObjectSymbol number(llvm::StringRef name, uint64_t value);
};

struct ObjectOptions {
  ObjectMachine machine = ObjectMachine::X86_64;
  std::string weights = "heddle_weights";
  std::vector<ObjectSymbol> symbols;
  PackOptions pack;
};

/// What was written; `digest` and `index` (heddle/seal.h) are of the blob alone
/// and equal for both forms.
struct WrittenWeights {
  uint64_t bytes = 0;
  uint64_t digest = 0;
  std::string index;
};

/// Whether so many bytes of weights begin with a huge page, for less than an eighth of padding. A step of generation
/// reads all weights, and an entry for every 4 KiB would be looked up on the way.
constexpr bool liesInHugePages(uint64_t bytes) { return bytes >= 16 << 20; }

absl::StatusOr<WrittenWeights> writeWeightsObject(llvm::StringRef path, const WeightStore &store, const BlobMap &plan,
                                                  const ObjectOptions &options = {});

absl::StatusOr<WrittenWeights> writeWeightsFile(llvm::StringRef path, const WeightStore &store, const BlobMap &plan,
                                                const PackOptions &options = {});

/// Writes an object with the symbols only, for a program whose weights are
/// elsewhere.
absl::Status writeSymbolsObject(llvm::StringRef path, const ObjectOptions &options);

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_PACK_WEIGHTSOBJECT_H
