// One input is a whole safetensors file, or (beginning with `{`) an index of shards, or
// (beginning with a letter) a packing request. What is accepted is checked again by
// arithmetic of its own; what is refused must say file, byte, rule and help, and must
// not repeat control bytes of the input.
#include "test/Fuzz/Safetensors.h"
#include "compiler/Weights/Safetensors/KnownFiles.h"
#include "compiler/Weights/Safetensors/SafetensorsHeader.h"
#include "compiler/Weights/Safetensors/ShardIndex.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>

using namespace heddle;

static void require(bool condition, const char *what) {
  if (condition)
    return;
  std::fprintf(stderr, "fuzz finding: %s\n", what);
  std::abort();
}

static std::string checkRefusal(const absl::Status &status) {
  std::optional<WeightProblem> problem = problemOf(status);
  require(problem.has_value(), "a refusal without a problem");
  require(problem->file == "fuzz", "a refusal without its file");
  require(problem->byte.has_value(), "a refusal without its byte");
  require(!problem->message.empty(), "a refusal without words");
  for (char c : llvm::StringRef(status.message().data(), status.message().size()))
    require(uint8_t(c) >= 0x20 || c == '\n', "a control byte in a message");
  return problem->rule.empty() ? codeOf(problem->code) : problem->rule;
}

/// Everything that a holder of the table relies on, from the definition.
static void checkAccepted(const SafetensorsHeader &header, uint64_t headerBytes, uint64_t fileBytes) {
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  std::set<std::string> names;
  for (const TensorRecord &tensor : header.tensors) {
    __uint128_t elements = 1;
    for (int64_t dim : tensor.shape) {
      require(dim >= 0, "a negative dimension");
      elements *= uint64_t(dim);
      require(elements <= INT64_MAX, "too many elements");
    }
    require(elements * width(tensor.type) == tensor.bytes, "bytes are not the shape's");
    require(tensor.byte >= 8 + headerBytes, "data in the header");
    require(tensor.byte <= fileBytes && tensor.bytes <= fileBytes - tensor.byte, "data behind the end");
    require(tensor.headerByte >= 8 && tensor.headerByte < 8 + headerBytes, "a name outside of the header");
    require(names.insert(tensor.name.str()).second, "a name twice");
    require(header.find(tensor.name) == &tensor, "a name that is not found");
    if (tensor.bytes)
      ranges.push_back({tensor.byte, tensor.byte + tensor.bytes});
  }
  std::sort(ranges.begin(), ranges.end());
  uint64_t cursor = 8 + headerBytes;
  for (auto [begin, end] : ranges) {
    require(begin == cursor, "the data does not tile");
    cursor = end;
  }
  require(cursor == fileBytes, "bytes that belong to nobody");
}

std::string heddle::fuzzVerdict(llvm::StringRef input) {
  if (input.starts_with("{")) {
    absl::StatusOr<ShardIndex> index = parseShardIndex(input, "fuzz");
    if (!index.ok())
      return checkRefusal(index.status());
    for (const ShardIndex::Item &item : index->items) {
      require(item.shard < index->shards.size(), "a shard that is not there");
      require(&item == index->items.data() || (&item)[-1].tensor < item.tensor, "tensors that are not in order");
    }
    for (const std::string &shard : index->shards)
      require(shard.find('/') == std::string::npos && shard != ".." && !shard.empty(), "a path that leads out");
    return "index";
  }
  HeaderLimits limits;
  limits.tensors = 12; // low enough to be met
  if (std::optional<WeightProblem> wrong = recogniseWrongFile(input, "fuzz"))
    return checkRefusal(toStatus(*wrong));
  absl::StatusOr<uint64_t> length = safetensorsHeaderLength(input, input.size(), "fuzz", limits);
  if (!length.ok())
    return checkRefusal(length.status());
  // A copy of its own size, so that the sanitizer sees the end of the header.
  std::vector<char> header(input.begin() + 8, input.begin() + 8 + *length);
  absl::StatusOr<SafetensorsHeader> table =
      parseSafetensorsHeader({header.data(), header.size()}, input.size(), "fuzz", limits);
  if (!table.ok())
    return checkRefusal(table.status());
  checkAccepted(*table, *length, input.size());
  return "file";
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzzVerdict({reinterpret_cast<const char *>(data), size});
  return 0;
}
