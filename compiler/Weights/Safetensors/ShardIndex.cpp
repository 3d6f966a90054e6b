// `weight_map` and `metadata.total_size` are read. Other keys of `metadata` may
// hold anything, as tools leave notes there, and so may other keys next to these
// two.
#include "compiler/Weights/Safetensors/ShardIndex.h"
#include "compiler/Weights/Files/Problem.h"
#include "compiler/Weights/Safetensors/JsonCursor.h"
#include "heddle/utf8.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <map>
#include <tuple>

namespace heddle {
namespace {

constexpr unsigned deepest = 64;
constexpr size_t mostTensors = 1'000'000, mostShards = 10'000, longestName = 4096;
const char regenerate[] = "download the index again, or write it with the tool that "
                          "made the shards";

/// Why `name` may not be opened; null for a plain name of a safetensors file.
const char *unsafeName(llvm::StringRef name) {
  if (name.empty())
    return "is empty";
  if (name.contains('\0'))
    return "contains NUL";
  if (name.contains('/') || name.contains('\\'))
    return "leads out of the directory";
  if (name == "." || name == ".." || name.size() > 255)
    return "is no file name";
  if (llvm::any_of(name, [](unsigned char c) { return c < 0x20 || c == 0x7f; }))
    return "contains control characters";
  if (!name.ends_with(".safetensors"))
    return "does not end in .safetensors";
  return nullptr;
}

/// Reads an index file: {"metadata": .., "weight_map": {tensor: file}}. Events of a SAX parser; false ends it.
class IndexReader : public JsonCursor {
public:
  IndexReader(llvm::StringRef text, llvm::StringRef file) : JsonCursor(text), file(printable(file, 4096)) {}

  absl::StatusOr<ShardIndex> run();

  bool key(std::string &name);
  bool string(std::string &value);
  bool number_unsigned(uint64_t value);
  bool number_integer(int64_t) { return scalar("a negative number"); }
  bool number_float(double value, const std::string &);
  bool null() { return scalar("null"); }
  bool boolean(bool) { return scalar("a boolean"); }
  bool binary(std::vector<uint8_t> &) { return scalar("binary data"); }
  bool start_object(size_t) { return open(true); }
  bool end_object() { return close(); }
  bool start_array(size_t) { return open(false); }
  bool end_array() { return close(); }
  bool parse_error(size_t position, const std::string &, const Json::exception &error) {
    if (isNumberTooLarge(error))
      return fail("the index has a number that is too large", tokenStart());
    return problem ? false : fail("the index is not valid JSON from here on", position ? position - 1 : 0);
  }

private:
  enum class In { Top, Map, Notes, TotalSize, Other };

  bool fail(std::string message, uint64_t at, llvm::StringRef tensor = "", const char *help = regenerate) {
    if (!problem)
      problem = brokenRule(Error::S25, std::move(message), file, at, printable(tensor), help);
    return false;
  }
  bool scalar(const char *what);
  bool open(bool object);
  bool close();
  bool total(uint64_t value) {
    result.totalBytes = value;
    where = In::Notes;
    advance();
    return true;
  }

  std::string file;
  ShardIndex result;
  std::optional<WeightProblem> problem;
  In where = In::Top;
  unsigned depth = 0;
  bool sawMap = false, sawNotes = false;
  std::string tensor;
  uint64_t tensorAt = 0;
  std::map<std::string, size_t> shardNumber;
};

bool IndexReader::scalar(const char *what) {
  uint64_t at = tokenStart();
  advance();
  if (depth == 0)
    return fail(std::string("expected an object, got ") + what, at);
  if (where == In::Map && depth == 2)
    return fail(std::string("expected the name of a shard, got ") + what, at, tensor);
  if (where == In::TotalSize) { // no more than a note
    where = In::Notes;
    return true;
  }
  if (depth == 1 && (where == In::Map || where == In::Notes))
    return fail(std::string("expected an object, got ") + what, at);
  return true;
}

bool IndexReader::open(bool object) {
  uint64_t at = tokenStart();
  if (depth >= deepest)
    return fail("the index is nested deeper than 64", at);
  if (where == In::TotalSize)
    where = In::Notes; // no more than a note
  bool wanted = where == In::Other || (where == In::Notes && depth >= 2) || (object && depth == 0) ||
                (object && depth == 1 && where != In::Top);
  if (!wanted)
    return scalar(object ? "an object" : "an array");
  ++depth;
  advance();
  return true;
}

bool IndexReader::close() {
  --depth;
  if (depth <= 1)
    where = In::Top;
  advance();
  return true;
}

bool IndexReader::key(std::string &name) {
  uint64_t at = tokenStart();
  advance();
  if (depth == 1) {
    bool map = name == "weight_map", notes = name == "metadata";
    if ((map && sawMap) || (notes && sawNotes))
      return fail("`" + name + "` occurs twice", at);
    sawMap |= map;
    sawNotes |= notes;
    where = map ? In::Map : notes ? In::Notes : In::Other;
  } else if (where == In::Map) {
    if (name.size() > longestName)
      return fail("a tensor's name is longer than 4096 bytes", at);
    if (result.items.size() >= mostTensors)
      return fail("more than 1000000 tensors", at);
    tensor = std::move(name);
    tensorAt = at;
  } else if (depth == 2 && where == In::Notes && name == "total_size") {
    if (result.totalBytes)
      return fail("`total_size` occurs twice", at);
    where = In::TotalSize;
    result.totalBytesAt = at;
  }
  return true;
}

bool IndexReader::string(std::string &value) {
  if (where != In::Map || depth != 2)
    return scalar("a string");
  uint64_t at = tokenStart();
  advance();
  if (const char *reason = unsafeName(value)) {
    bool pickle = llvm::StringRef(value).ends_with(".bin");
    return fail("the shard `" + printable(value) + "` " + reason, at, tensor,
                pickle ? "this is the index of a PyTorch checkpoint; use "
                         "model.safetensors.index.json and its shards"
                       : "a shard is named by the plain name of a file in the folder of the index");
  }
  auto [it, fresh] = shardNumber.try_emplace(std::move(value), shardNumber.size());
  if (fresh && shardNumber.size() > mostShards)
    return fail("more than 10000 shards", at);
  result.items.push_back({tensor, it->second, tensorAt});
  return true;
}

bool IndexReader::number_unsigned(uint64_t value) { return where == In::TotalSize ? total(value) : scalar("a number"); }

/// Some writers print sizes as 13476839424.0: a whole number that a double
/// holds exactly is accepted.
bool IndexReader::number_float(double value, const std::string &) {
  if (where == In::TotalSize && value >= 0 && value <= 0x1p53 && double(uint64_t(value)) == value)
    return total(uint64_t(value));
  return scalar("a fraction");
}

absl::StatusOr<ShardIndex> IndexReader::run() {
  size_t bad = invalidUtf8(text);
  bool good = bad == std::string_view::npos || fail("the index is not valid UTF-8", bad);
  good = good && parse(*this);
  if (good) {
    size_t rest = text.find_first_not_of(" \t\r\n", end());
    if (rest != llvm::StringRef::npos)
      good = fail("something follows the index's object", rest);
    else if (!sawMap)
      good = fail("the index has no `weight_map`", 0);
  }
  if (good) {
    // Shards are ordered by name; the order of the map is arbitrary.
    std::vector<size_t> place(shardNumber.size());
    for (auto &[name, number] : shardNumber) {
      place[number] = result.shards.size();
      result.shards.push_back(name);
    }
    for (ShardIndex::Item &item : result.items)
      item.shard = place[item.shard];
    llvm::sort(result.items, [](const ShardIndex::Item &a, const ShardIndex::Item &b) {
      return std::tie(a.tensor, a.byte) < std::tie(b.tensor, b.byte);
    });
    for (size_t i = 1; good && i < result.items.size(); ++i)
      if (result.items[i - 1].tensor == result.items[i].tensor)
        good = fail("the tensor occurs twice in `weight_map`", result.items[i].byte, result.items[i].tensor);
  }
  if (!good) {
    if (!problem)
      fail("the index is not valid JSON", end());
    return toStatus(*problem);
  }
  return std::move(result);
}

} // namespace

absl::StatusOr<ShardIndex> parseShardIndex(llvm::StringRef text, llvm::StringRef file) {
  return IndexReader(text, file).run();
}

} // namespace heddle
