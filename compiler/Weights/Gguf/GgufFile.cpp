// Parts say which they are by the values split.no, split.count and split.tensors.count, and by their names; both must
// agree.
#include "compiler/Weights/Gguf/GgufFile.h"
#include "compiler/Weights/Files/Problem.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace heddle {

/// A refusal of one of the parts as a whole.
static absl::Status refused(std::string message, const InputFile &file, std::string help) {
  return toStatus(
      WeightProblem{Error::GgufDamaged, "", std::move(message), file.path(), std::nullopt, "", std::move(help)});
}

//===--- split files ------------------------------------------------------------===//

namespace {

/// What a file says of its place among the parts.
struct Place {
  int64_t number = 0, count = 1;
  std::optional<int64_t> tensors; ///< of all parts
};

/// NAME-00002-of-00003.gguf, the second part (`number` 1).
std::string partName(llvm::StringRef stem, int64_t number, int64_t count) {
  std::string name;
  llvm::raw_string_ostream(name) << stem
                                 << llvm::format("-%05lld-of-%05lld.gguf", (long long)(number + 1), (long long)count);
  return name;
}

constexpr int64_t mostParts = 99'999;

} // namespace

static absl::StatusOr<Place> placeOf(const GgufHeader &header, const InputFile &file) {
  Place place;
  auto read = [&](const char *key, int64_t least, int64_t most, std::optional<int64_t> &to) -> absl::Status {
    auto it = header.values.find(key);
    if (it == header.values.end())
      return absl::OkStatus();
    to = it->second.integer();
    if (to && *to >= least && *to <= most)
      return absl::OkStatus();
    return toStatus(WeightProblem{Error::GgufDamaged, "",
                                  "`" + std::string(key) + "` is " + it->second.what() + ", a whole number from " +
                                      std::to_string(least) + " to " + std::to_string(most) + " is needed",
                                  file.path(), it->second.byte(), "", "split the file again: llama-gguf-split"});
  };
  std::optional<int64_t> count, number;
  absl::Status status = read("split.count", 0, mostParts, count);
  if (status.ok())
    status = read("split.no", 0, mostParts - 1, number);
  if (status.ok())
    status = read("split.tensors.count", 0, INT32_MAX, place.tensors);
  if (!status.ok())
    return status;
  place.count = std::max<int64_t>(count.value_or(1), 1);
  place.number = number.value_or(0);
  return place;
}

/// NAME of the first part, whose name says what it is.
static absl::StatusOr<std::string> stemOf(const Place &place, const InputFile &file) {
  std::string called = llvm::sys::path::filename(file.name()).str(), one = partName("", place.number, place.count);
  std::string part = "the file is part " + std::to_string(place.number + 1) + " of " + std::to_string(place.count);
  llvm::StringRef stem = called;
  if (!stem.consume_back(one))
    return refused(part + ", and is not called NAME" + one, file, "give the parts the names that they had");
  if (place.number)
    return refused(part + ": name the first, " + printable(partName(stem, 0, place.count)), file,
                   "the first part has the description of the model");
  return stem.str();
}

absl::StatusOr<GgufFile> GgufFile::open(llvm::StringRef path) {
  absl::StatusOr<InputFile> first = InputFile::open(path);
  if (!first.ok())
    return first.status();
  return open(*std::move(first));
}

absl::StatusOr<GgufFile> GgufFile::open(InputFile first) {
  absl::StatusOr<GgufHeader> header = readGgufHeader(first);
  if (!header.ok())
    return header.status();
  absl::StatusOr<Place> place = placeOf(*header, first);
  if (!place.ok())
    return place.status();
  std::string stem;
  if (place->count > 1) {
    absl::StatusOr<std::string> found = stemOf(*place, first);
    if (!found.ok())
      return found.status();
    stem = *std::move(found);
  }
  std::string home = llvm::sys::path::parent_path(first.name()).str();
  GgufFile file;
  file.metadata = std::move(header->values);
  absl::Status status = file.add(std::move(first), *std::move(header));
  for (int64_t i = 1; status.ok() && i < place->count; ++i) {
    std::string called = partName(stem, i, place->count), shown = printable(called);
    llvm::SmallString<256> path(home);
    llvm::sys::path::append(path, called);
    if (!llvm::sys::fs::exists(path))
      return file.damaged("split.count",
                          "part " + std::to_string(i + 1) + " of " + std::to_string(place->count) +
                              " is missing: " + shown,
                          "fetch all parts into one folder");
    absl::StatusOr<InputFile> other = InputFile::open(path);
    if (!other.ok())
      return other.status();
    absl::StatusOr<GgufHeader> part = readGgufHeader(*other);
    if (!part.ok())
      return part.status();
    absl::StatusOr<Place> there = placeOf(*part, *other);
    if (!there.ok())
      return there.status();
    if (there->number != i || there->count != place->count)
      return refused(shown + " says it is part " + std::to_string(there->number + 1) + " of " +
                         std::to_string(there->count) + ", part " + std::to_string(i + 1) + " of " +
                         std::to_string(place->count) + " is needed",
                     *other, "fetch all parts of one splitting");
    status = file.add(*std::move(other), *std::move(part));
  }
  if (!status.ok())
    return status;
  if (place->count > 1 && place->tensors && uint64_t(*place->tensors) != file.table.size())
    return file.damaged("split.tensors.count",
                        "the parts have " + std::to_string(file.table.size()) + " tensors, it says " +
                            std::to_string(*place->tensors),
                        "fetch all parts of one splitting");
  return file;
}

//===--- the joined file --------------------------------------------------------===//

/// Lists the tensors as they are stored: blocks as rows of bytes.
static SafetensorsHeader tableOf(llvm::ArrayRef<GgufTensor> tensors) {
  SafetensorsHeader table;
  table.storage = std::make_unique<llvm::BumpPtrAllocator>();
  for (const GgufTensor &t : tensors) {
    const GgufTypeRow &type = rowOf(t.type);
    TensorRecord record;
    record.name = llvm::StringRef(t.name).copy(*table.storage);
    std::vector<int64_t> shape = t.shape;
    if (isBlocks(t.type))
      shape.back() = shape.back() / type.elements * type.bytes;
    record.type = storedTypeOf(t.type);
    record.shape = llvm::ArrayRef<int64_t>(shape).copy(*table.storage);
    record.byte = t.byte;
    record.bytes = t.bytes;
    record.headerByte = t.headerByte;
    table.tensors.push_back(record);
  }
  return table;
}

absl::Status GgufFile::add(InputFile input, GgufHeader header) {
  unsigned part = unsigned(parts.size());
  for (GgufTensor &t : header.tensors) {
    t.part = part;
    if (!byName.try_emplace(t.name, byName.size()).second)
      return toStatus(WeightProblem{Error::GgufDamaged, "", "the tensor is in two parts", input.path(), t.headerByte,
                                    printable(t.name), "fetch all parts of one splitting"});
  }
  parts.push_back(std::make_unique<SafetensorsFile>(SafetensorsFile::of(std::move(input), tableOf(header.tensors))));
  for (const TensorRecord &record : parts.back()->header().tensors)
    records.push_back(&record);
  table.insert(table.end(), std::make_move_iterator(header.tensors.begin()),
               std::make_move_iterator(header.tensors.end()));
  return absl::OkStatus();
}

absl::StatusOr<llvm::StringRef> GgufFile::architecture() const {
  constexpr const char *key = "general.architecture";
  const GgufValue *value = find(key);
  std::optional<llvm::StringRef> text = value ? value->text() : std::nullopt;
  if (text && !text->empty())
    return *text;
  return damaged(key, !value  ? "the key is missing, nothing says which model it is"
                      : !text ? "it is " + value->what() + ", a name is needed"
                              : "it is empty, a name is needed");
}

const GgufValue *GgufFile::find(llvm::StringRef key) const {
  auto it = metadata.find(std::string_view(key));
  return it == metadata.end() ? nullptr : &it->second;
}

const GgufTensor *GgufFile::tensor(llvm::StringRef name) const {
  auto it = byName.find(name);
  return it == byName.end() ? nullptr : &table[it->second];
}

StoredTensor GgufFile::stored(const GgufTensor &tensor) const {
  return {records[size_t(&tensor - table.data())], parts[tensor.part].get()};
}

//===--- refusals ---------------------------------------------------------------===//

absl::Status GgufFile::refuse(Error code, llvm::StringRef key, std::string message, std::string help) const {
  const GgufValue *value = find(key);
  return toStatus(WeightProblem{code, "", "`" + printable(key) + "`: " + std::move(message), path(),
                                value ? std::optional<uint64_t>(value->byte()) : std::nullopt, "", std::move(help)});
}

absl::Status GgufFile::refuse(Error code, const GgufTensor &tensor, std::string message, std::string help) const {
  return toStatus(WeightProblem{code, "", std::move(message), parts[tensor.part]->path(), tensor.headerByte,
                                printable(tensor.name), std::move(help)});
}

static const char again[] =
    "the file is damaged, or its maker has a fault: fetch it again, or take another file of the "
    "model";
static const char other[] = "take a file of another type or the safetensors files that it was made from";

absl::Status GgufFile::damaged(llvm::StringRef key, std::string message, std::string help) const {
  return refuse(Error::GgufDamaged, key, std::move(message), help.empty() ? std::string(again) : std::move(help));
}

absl::Status GgufFile::unsupported(llvm::StringRef key, std::string message, std::string help) const {
  return refuse(Error::QuantisationUnsupported, key, std::move(message),
                help.empty() ? std::string(other) : std::move(help));
}

absl::Status GgufFile::damaged(const GgufTensor &tensor, std::string message, std::string help) const {
  return refuse(Error::GgufDamaged, tensor, std::move(message), help.empty() ? std::string(again) : std::move(help));
}

absl::Status GgufFile::unsupported(const GgufTensor &tensor, std::string message, std::string help) const {
  return refuse(Error::QuantisationUnsupported, tensor, std::move(message),
                help.empty() ? std::string(other) : std::move(help));
}

} // namespace heddle
