// Opening reads headers only. A directory is opened once and its files by name
// relative to that descriptor, so a directory that is replaced meanwhile cannot
// mix two models.
#include "compiler/Weights/WeightStore.h"
#include "compiler/Weights/Adapter/AdapterView.h"
#include "compiler/Weights/Coded/CodedMethods.h"
#include "compiler/Weights/Coded/CodedTensor.h"
#include "compiler/Weights/Files/Problem.h"
#include "compiler/Weights/Gguf/GgufHeader.h"
#include "compiler/Weights/Gguf/GgufView.h"
#include "compiler/Weights/Safetensors/KnownFiles.h"
#include "compiler/Weights/Safetensors/ShardIndex.h"
#include "heddle/nearest.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"
#include <cstring>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <sys/stat.h>
#include <unistd.h>

namespace heddle {

static constexpr llvm::StringRef wholeName = "model.safetensors";
static constexpr llvm::StringRef indexName = "model.safetensors.index.json";
static constexpr uint64_t mostIndexBytes = 100'000'000;

static std::string within(llvm::StringRef directory, llvm::StringRef name) {
  llvm::SmallString<256> path(directory);
  llvm::sys::path::append(path, name);
  return std::string(path);
}

static bool existsIn(int directory, llvm::StringRef name) {
  struct stat info;
  // Any kind of entry counts, even a dangling link: opening it then says what
  // is wrong.
  return fstatat(directory, name.str().c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT;
}

/// Elements of tensors along their first axis, by name.
struct WeightStore::Elements {
  std::mutex mutex;
  std::map<std::string, std::pair<TensorRecord, StoredTensor>> known;
};

struct WeightStore::GgufNames {
  GgufArchitecture architecture;
  llvm::StringMap<std::string> origins;
};

WeightStore::WeightStore() : elements(std::make_unique<Elements>()) {}
WeightStore::WeightStore(WeightStore &&) = default;
WeightStore &WeightStore::operator=(WeightStore &&) = default;
WeightStore::~WeightStore() = default;

void WeightStore::adopt(SafetensorsFile file) {
  opened.push_back(std::make_unique<SafetensorsFile>(std::move(file)));
  const SafetensorsFile &kept = *opened.back();
  for (const TensorRecord &record : kept.header().tensors)
    table.push_back({&record, &kept});
}

/// Sorts the tensors of all files by name; an error if a name is in two of
/// them.
absl::Status WeightStore::index() {
  llvm::stable_sort(table, [](const StoredTensor &a, const StoredTensor &b) { return a.name() < b.name(); });
  for (size_t i = 1; i < table.size(); ++i)
    if (table[i - 1].name() == table[i].name())
      return toStatus(brokenRule(Error::S25, "the tensor is also in " + table[i - 1].file->path(),
                                 table[i].file->path(), table[i].record->headerByte, printable(table[i].name()),
                                 "remove it from one of the two files"));
  return absl::OkStatus();
}

absl::Status WeightStore::adoptFile(llvm::StringRef path, const HeaderLimits &limits) {
  absl::StatusOr<InputFile> file = InputFile::open(path);
  if (!file.ok())
    return file.status();
  char first[4] = {};
  absl::StatusOr<size_t> got = file->readSome(0, {reinterpret_cast<uint8_t *>(first), sizeof first});
  if (!got.ok())
    return got.status();
  if (!beginsAsGguf({first, *got}) && !path.ends_with(".gguf")) {
    absl::StatusOr<SafetensorsFile> read = SafetensorsFile::read(*std::move(file), limits);
    if (read.ok())
      adopt(*std::move(read));
    return read.status();
  }
  absl::StatusOr<GgufView> view = openGguf(*std::move(file));
  if (!view.ok())
    return view.status();
  for (std::unique_ptr<SafetensorsFile> &part : view->files) {
    if (&part != &view->files.front())
      parts.insert(part.get());
    opened.push_back(std::move(part));
  }
  for (std::unique_ptr<CodedTensor> &matrix : view->matrices) {
    table.push_back({&matrix->record(), matrix->file(), matrix.get()});
    coded.push_back(std::move(matrix));
  }
  storedNames = std::make_unique<GgufNames>(GgufNames{std::move(view->architecture), std::move(view->origins)});
  notNeeded.insert(notNeeded.end(), view->unneeded.begin(), view->unneeded.end());
  llvm::append_range(statedNumbers, view->stated);
  return absl::OkStatus();
}

absl::StatusOr<WeightStore> WeightStore::openFiles(llvm::ArrayRef<std::string> paths, const HeaderLimits &limits) {
  if (!paths.empty() && llvm::StringRef(paths[0]).ends_with(".index.json"))
    return open(paths[0], limits);
  WeightStore store;
  for (const std::string &path : paths)
    if (absl::Status status = store.adoptFile(path, limits); !status.ok())
      return status;
  if (absl::Status status = store.index(); !status.ok())
    return status;
  return store;
}

absl::StatusOr<WeightStore> WeightStore::openCoded(llvm::ArrayRef<std::string> paths, llvm::StringRef text,
                                                   llvm::ArrayRef<AdapterChoice> adapters) {
  absl::StatusOr<CodedScheme> scheme = CodedScheme::parse(text);
  if (!scheme.ok())
    return scheme.status();
  absl::StatusOr<WeightStore> store = openFiles(paths);
  if (store.ok())
    if (absl::Status status = store->decode(*scheme); !status.ok())
      return status;
  if (store.ok())
    if (absl::Status status = store->adapt(adapters); !status.ok())
      return status;
  return store;
}

absl::Status WeightStore::addModule(llvm::StringRef prefix, llvm::StringRef path) {
  absl::StatusOr<SafetensorsFile> read = SafetensorsFile::open(path);
  if (!read.ok())
    return read.status();
  opened.push_back(std::make_unique<SafetensorsFile>(*std::move(read)));
  for (const TensorRecord &record : opened.back()->header().tensors) {
    renamed.push_back(
        std::make_unique<std::pair<std::string, TensorRecord>>((prefix + "." + record.name).str(), record));
    auto &[name, own] = *renamed.back();
    own.name = name;
    table.push_back({&own, opened.back().get()});
  }
  return index();
}

absl::Status WeightStore::decode(const CodedScheme &scheme) {
  if (!scheme)
    return absl::OkStatus();
  absl::StatusOr<CodedView> view = viewCoded(table, [this](llvm::StringRef name) { return find(name); }, scheme);
  if (!view.ok())
    return view.status();
  llvm::StringSet<> gone;
  for (llvm::StringRef name : view->pieces)
    gone.insert(name);
  for (llvm::StringRef name : view->unneeded) {
    gone.insert(name);
    notNeeded.push_back(name.str());
  }
  std::vector<StoredTensor> rest;
  for (const std::unique_ptr<CodedTensor> &matrix : view->matrices)
    rest.push_back({&matrix->record(), matrix->file(), matrix.get()});
  for (const StoredTensor &tensor : table)
    if (!gone.contains(tensor.name()))
      rest.push_back(tensor);
  table = std::move(rest);
  for (std::unique_ptr<CodedTensor> &matrix : view->matrices)
    coded.push_back(std::move(matrix));
  return index();
}

absl::Status WeightStore::adapt(llvm::ArrayRef<AdapterChoice> choices) {
  for (const AdapterChoice &choice : choices) {
    absl::StatusOr<AdapterView> view = viewAdapter(choice, table);
    if (!view.ok())
      return view.status();
    auto put = [&](const StoredTensor &tensor) {
      auto it = llvm::lower_bound(table, tensor.name(),
                                  [](const StoredTensor &a, llvm::StringRef name) { return a.name() < name; });
      *it = tensor;
    };
    for (const std::unique_ptr<TensorRecord> &record : view->replaced)
      put({record.get(), view->file.get()});
    for (const std::unique_ptr<MergedTensor> &tensor : view->merged)
      put({&tensor->record(), tensor->file(), tensor.get()});
    llvm::append_range(said, view->remarks);
    adapters.push_back(std::make_unique<AdapterView>(*std::move(view)));
  }
  return absl::OkStatus();
}

/// A sentence that ends in the first few names.
static std::string naming(const std::string &what, llvm::ArrayRef<std::string> names) {
  std::string out = what + ": ";
  for (size_t i = 0; i < names.size() && i < 4; ++i)
    out += (i ? ", " : "") + printable(names[i]);
  return out + (names.size() > 4 ? " and " + std::to_string(names.size() - 4) + " more" : "");
}

/// Which tensors of the shards count, as the library has it that reads whole shards: each once, from the shard that the
/// index names, else from the first that has it. Where index and shards disagree otherwise is remarked on.
void WeightStore::place(const ShardIndex &index, llvm::StringRef shown,
                        llvm::ArrayRef<const SafetensorsFile *> shards) {
  std::string file = printable(shown, 4096);
  std::vector<std::string> absent, moved, extra, stale;
  llvm::StringMap<const SafetensorsFile *> owner;
  for (const ShardIndex::Item &item : index.items) {
    const SafetensorsFile *of = shards[item.shard];
    if (!of->find(item.tensor)) {
      auto other = llvm::find_if(shards, [&](const SafetensorsFile *shard) { return shard->find(item.tensor); });
      (other == shards.end() ? absent : moved).push_back(item.tensor);
      if (other == shards.end())
        continue;
      of = *other;
    }
    owner[item.tensor] = of;
  }
  uint64_t total = 0;
  std::vector<StoredTensor> kept;
  for (const StoredTensor &tensor : table) {
    total += tensor.record->bytes;
    auto [it, isExtra] = owner.try_emplace(tensor.name(), tensor.file);
    if (isExtra) {
      extra.push_back(tensor.name().str());
      unlisted.insert(tensor.name());
    }
    if (it->second == tensor.file)
      kept.push_back(tensor);
    else
      stale.push_back(tensor.name().str());
  }
  table = std::move(kept);
  if (!stale.empty())
    chooser = shown.str();
  if (index.totalBytes && *index.totalBytes != total)
    said.push_back("`total_size` of " + file + " is " + std::to_string(*index.totalBytes) + ", the tensors have " +
                   std::to_string(total) + " bytes");
  if (!extra.empty())
    said.push_back(
        naming("tensors of the shards that " + file + " does not list, read only where the model needs them", extra));
  if (!stale.empty())
    said.push_back(naming("copies of tensors in another shard than " + file + " says, not read", stale));
  if (!moved.empty())
    said.push_back(naming("tensors in another shard than " + file + " says", moved));
  if (!absent.empty())
    said.push_back(naming("tensors that " + file + " lists and no shard has", absent));
}

static absl::StatusOr<ShardIndex> readIndex(int directory, llvm::StringRef name, llvm::StringRef shown) {
  absl::StatusOr<InputFile> file = InputFile::openAt(directory, name, shown);
  if (!file.ok())
    return file.status();
  if (file->size() > mostIndexBytes)
    return toStatus(brokenRule(Error::S25, "the index is larger than 100000000 bytes", file->path(), 0, "",
                               "download the index again"));
  std::string text(file->size(), '\0');
  absl::Status status = file->read(0, {reinterpret_cast<uint8_t *>(text.data()), text.size()});
  if (!status.ok())
    return status;
  llvm::StringRef trimmed = llvm::StringRef(text).ltrim();
  if (!trimmed.starts_with("{") && !trimmed.starts_with("["))
    if (std::optional<WeightProblem> wrong = recogniseWrongFile(text, shown))
      return toStatus(*wrong);
  return parseShardIndex(text, shown);
}

/// Opens and reads `name` in an open directory; `path` is its name in messages.
static absl::StatusOr<SafetensorsFile> readAt(int directory, llvm::StringRef name, const std::string &path,
                                              const HeaderLimits &limits) {
  absl::StatusOr<InputFile> file = InputFile::openAt(directory, name, path);
  if (!file.ok())
    return file.status();
  return SafetensorsFile::read(*std::move(file), limits);
}

absl::StatusOr<WeightStore> WeightStore::openSharded(int directory, llvm::StringRef directoryPath, llvm::StringRef name,
                                                     const HeaderLimits &limits) {
  std::string shown = within(directoryPath, name);
  absl::StatusOr<ShardIndex> index = readIndex(directory, name, shown);
  if (!index.ok())
    return index.status();
  WeightStore store;
  std::vector<const SafetensorsFile *> shards;
  for (size_t i = 0; i < index->shards.size(); ++i) {
    const std::string &shard = index->shards[i];
    absl::StatusOr<SafetensorsFile> read = readAt(directory, shard, within(directoryPath, shard), limits);
    if (!read.ok())
      return read.status();
    store.adopt(*std::move(read));
    shards.push_back(store.opened.back().get());
  }
  store.place(*index, shown, shards);
  if (absl::Status status = store.index(); !status.ok())
    return status;
  return store;
}

absl::StatusOr<WeightStore> WeightStore::open(llvm::StringRef path, const HeaderLimits &limits) {
  bool isIndex = path.ends_with(".index.json");
  std::string directoryPath = path.str();
  if (isIndex) {
    llvm::StringRef parent = llvm::sys::path::parent_path(path);
    directoryPath = parent.empty() ? "." : parent.str();
  }
  int directory =
      path.contains('\0') ? -1 : ::open(directoryPath.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
  // Not a directory: a single file, whose opening reports what is wrong with
  // it.
  if (directory < 0)
    return openFiles({path.str()}, limits);
  llvm::scope_exit close([&] { ::close(directory); });
  if (isIndex)
    return openSharded(directory, directoryPath, llvm::sys::path::filename(path), limits);
  bool whole = existsIn(directory, wholeName), sharded = existsIn(directory, indexName);
  if (!whole && sharded)
    return openSharded(directory, directoryPath, indexName, limits);
  if (!whole)
    return toStatus(noWeightsIn(path));

  absl::StatusOr<SafetensorsFile> read = readAt(directory, wholeName, within(path, wholeName), limits);
  if (!read.ok())
    return read.status();
  WeightStore store;
  store.adopt(*std::move(read));
  if (absl::Status status = store.index(); !status.ok())
    return status;
  return store;
}

std::string WeightStore::nameInFile(llvm::StringRef name) const {
  if (!storedNames)
    return name.str();
  if (auto it = storedNames->origins.find(name); it != storedNames->origins.end())
    return it->second;
  std::string made = storedNames->architecture.nameInFile(name);
  return made.empty() ? name.str() : made;
}

std::vector<llvm::StringRef> WeightStore::names() const {
  std::vector<llvm::StringRef> result;
  for (const StoredTensor &tensor : table)
    result.push_back(tensor.name());
  return result;
}

std::vector<std::string> WeightStore::files() const {
  std::vector<std::string> result;
  if (!chooser.empty())
    result.push_back(chooser);
  for (const auto &file : opened)
    if (!parts.contains(file.get()))
      result.push_back(file->name());
  return result;
}

const StoredTensor *WeightStore::find(llvm::StringRef name) const {
  const StoredTensor *stored = findStored(name);
  return stored ? stored : findElement(name);
}

const StoredTensor *WeightStore::findElement(llvm::StringRef name) const {
  auto [base, number] = name.rsplit('[');
  uint64_t at = 0;
  if (!number.consume_back("]") || number.getAsInteger(10, at))
    return nullptr;
  const StoredTensor *whole = findStored(base);
  if (!whole || whole->shape().size() < 2 || at >= uint64_t(whole->shape()[0]))
    return nullptr;
  std::lock_guard lock(elements->mutex);
  auto [it, fresh] = elements->known.try_emplace(name.str());
  auto &[record, tensor] = it->second;
  if (fresh) {
    record = *whole->record;
    record.name = it->first;
    record.shape = whole->shape().drop_front();
    record.bytes /= uint64_t(whole->shape()[0]);
    record.byte += whole->coded ? 0 : at * record.bytes;
    tensor = *whole;
    tensor.record = &record;
    tensor.whole = whole;
    tensor.before = at * record.elements();
  }
  return &tensor;
}

const StoredTensor *WeightStore::findStored(llvm::StringRef name) const {
  auto it = llvm::lower_bound(table, name, [](const StoredTensor &a, llvm::StringRef b) { return a.name() < b; });
  return it != table.end() && it->name() == name ? &*it : nullptr;
}

absl::StatusOr<const StoredTensor *> WeightStore::get(llvm::StringRef name) const {
  if (const StoredTensor *tensor = find(name))
    return tensor;
  std::string near = nearestName(name, names());
  return toStatus(brokenRule(Error::S26, "the tensor is missing", opened.empty() ? "(no file)" : opened.front()->path(),
                             std::nullopt, printable(name),
                             near.empty() ? "see what the file holds, or give another with --weights=FILE"
                                          : "the nearest name in the files is `" + printable(near) + "`"));
}

absl::Status WeightStore::readF32(const StoredTensor &tensor, uint64_t first, llvm::MutableArrayRef<float> to) const {
  return tensor.coded ? tensor.coded->readF32(tensor.before + first, to)
                      : tensor.file->readF32(*tensor.record, first, to);
}

absl::StatusOr<bool> WeightStore::equal(const StoredTensor &a, const StoredTensor &b) const {
  if (a.type() != b.type() || a.shape() != b.shape())
    return false;
  if (a.record == b.record)
    return true;
  if (a.coded || b.coded) {
    constexpr uint64_t piece = 1 << 20;
    std::vector<float> one(std::min(piece, a.elements())), two(one.size());
    for (uint64_t at = 0; at < a.elements(); at += piece) {
      size_t count = std::min(piece, a.elements() - at);
      for (auto [tensor, to] : {std::pair(&a, &one), std::pair(&b, &two)})
        if (absl::Status status = readF32(*tensor, at, {to->data(), count}); !status.ok())
          return status;
      if (std::memcmp(one.data(), two.data(), count * sizeof(float)))
        return false;
    }
    return true;
  }
  constexpr uint64_t piece = 1 << 20;
  std::vector<uint8_t> one(std::min(piece, a.record->bytes)), two(one.size());
  for (uint64_t at = 0; at < a.record->bytes; at += piece) {
    size_t count = std::min(piece, a.record->bytes - at);
    llvm::MutableArrayRef<uint8_t> x(one.data(), count), y(two.data(), count);
    if (absl::Status status = readBytes(a, at, x); !status.ok())
      return status;
    if (absl::Status status = readBytes(b, at, y); !status.ok())
      return status;
    if (x != y)
      return false;
  }
  return true;
}

absl::Status WeightStore::recheck() const {
  for (const auto &file : opened)
    if (absl::Status status = file->recheck(); !status.ok())
      return status;
  for (const auto &adapter : adapters)
    if (absl::Status status = adapter->file->recheck(); !status.ok())
      return status;
  return absl::OkStatus();
}

} // namespace heddle
