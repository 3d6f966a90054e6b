// model.safetensors.index.json: which shard has which tensor. Names in it must
// be plain file names, so that they cannot leave the directory (rule S25).
#ifndef HEDDLE_COMPILER_WEIGHTS_SAFETENSORS_SHARDINDEX_H
#define HEDDLE_COMPILER_WEIGHTS_SAFETENSORS_SHARDINDEX_H

#include "absl/status/statusor.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace heddle {

struct ShardIndex {
  struct Item {
    std::string tensor;
    /// Into `shards`.
    size_t shard;
    /// Where the tensor is in the index.
    uint64_t byte;
  };
  /// Ordered by tensor.
  std::vector<Item> items;
  /// Plain file names, ordered.
  std::vector<std::string> shards;
  std::optional<uint64_t> totalBytes;
  uint64_t totalBytesAt = 0;
};

/// Parses the text of an index; `file` is its name in messages.
absl::StatusOr<ShardIndex> parseShardIndex(llvm::StringRef text, llvm::StringRef file);

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_SAFETENSORS_SHARDINDEX_H
