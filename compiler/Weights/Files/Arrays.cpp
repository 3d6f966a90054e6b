#include "compiler/Weights/Files/Arrays.h"
#include "compiler/Weights/Files/InputFile.h"
#include "compiler/Weights/Files/Problem.h"
#include "compiler/Weights/Files/StoredType.h"
#include "runtime/Base/ArrayFile.h"
#include "runtime/Base/Crc32.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cstring>

namespace heddle {

namespace {

/// An InputFile as the readers of the runtime see one; keeps the error of the file.
class InputBytes final : public base::ByteSource {
public:
  explicit InputBytes(const InputFile &file) : file(file) {}
  uint64_t size() const override { return file.size(); }
  base::ArrayResult read(void *out, uint64_t bytes, uint64_t at) const override {
    failed = file.read(at, {static_cast<uint8_t *>(out), size_t(bytes)});
    return failed.ok() ? base::ArrayResult() : base::ArrayProblem{"cannot read", at, "", ""};
  }

  mutable absl::Status failed;

private:
  const InputFile &file;
};

/// Collects the elements of an array, widened.
class Widening final : public base::ElementSink {
public:
  Widening(const base::ArrayHeader &header, WideArray &array) : header(header), array(array) {}

  bool take(const char *elements, uint64_t bytes) override {
    auto *from = reinterpret_cast<const uint8_t *>(elements);
    size_t n = bytes / header.width, before = array.real ? array.reals.size() : array.integers.size();
    std::optional<StoredType> type = storedTypeOf(header.type);
    if (array.real) {
      array.reals.resize(before + n);
      widenToF32(*type, from, llvm::MutableArrayRef(array.reals).drop_front(before));
      return true;
    }
    array.integers.resize(before + n);
    llvm::MutableArrayRef<int64_t> to = llvm::MutableArrayRef(array.integers).drop_front(before);
    if (type) {
      widenToI64(*type, from, to);
      return true;
    }
    for (size_t i = 0; i < n; ++i) { // unsigned, which safetensors of models do not have
      uint64_t value = 0;
      std::memcpy(&value, from + i * header.width, header.width);
      to[i] = int64_t(value);
      if (value > uint64_t(INT64_MAX))
        return !(tooLarge = true);
    }
    return true;
  }

  bool tooLarge = false;

private:
  const base::ArrayHeader &header;
  WideArray &array;
};

} // namespace

template <typename T> static void reorder(std::vector<T> &elements, llvm::ArrayRef<int64_t> shape) {
  std::vector<T> ordered(elements.size());
  base::orderAsC(reinterpret_cast<const char *>(elements.data()), reinterpret_cast<char *>(ordered.data()), shape,
                 sizeof(T));
  elements = std::move(ordered);
}

absl::StatusOr<std::optional<std::vector<WideArray>>> readArrays(llvm::StringRef path) {
  absl::StatusOr<InputFile> file = InputFile::open(path);
  if (!file.ok())
    return file.status();
  char first[8] = {};
  absl::StatusOr<size_t> there = file->readSome(0, {reinterpret_cast<uint8_t *>(first), sizeof first});
  if (!there.ok())
    return there.status();
  if (!base::ArrayFile::recognises({first, *there}))
    return std::nullopt;
  InputBytes bytes(*file);
  auto refused = [&](const base::ArrayProblem &why) {
    return bytes.failed.ok()
               ? toStatus({Error::NotItsFormat, "", why.message, file->path(), why.byte, why.array, why.help})
               : bytes.failed;
  };
  base::ArrayFile arrays;
  if (base::ArrayResult why = arrays.open(bytes))
    return refused(*why);
  std::vector<WideArray> all;
  for (const base::NamedArray &stored : arrays.arrays()) {
    WideArray array;
    array.name = stored.name;
    array.shape = stored.header.shape;
    array.real = stored.header.type[0] == 'F';
    array.boolean = stored.header.type == "BOOL";
    Widening widening(stored.header, array);
    if (base::ArrayResult why = arrays.read(stored, widening))
      return refused(*why);
    if (widening.tooLarge)
      return refused({"a number is beyond 2^63-1", stored.member.start, printable(stored.name), "indices are i64"});
    if (stored.header.fortran)
      array.real ? reorder(array.reals, array.shape) : reorder(array.integers, array.shape);
    all.push_back(std::move(array));
  }
  return all;
}

llvm::StringRef arrayEnding(llvm::StringRef path) {
  for (llvm::StringRef ending : {".npy", ".npz"})
    if (path.ends_with_insensitive(ending))
      return ending;
  return "";
}

std::string arrayFileOf(llvm::ArrayRef<PlainArray> arrays, bool archive) {
  std::string out;
  base::ZipWriter zip;
  base::Crc32 sum;
  for (const PlainArray &array : arrays) {
    std::string contents = base::arrayHeaderText(array.type, array.shape);
    contents.append(array.bytes.begin(), array.bytes.end());
    sum.restart();
    sum.add(contents.data(), contents.size());
    if (archive)
      out += zip.member(array.name + ".npy", sum.value(), contents.size());
    out += contents;
  }
  return archive ? out + zip.directory() : out;
}

} // namespace heddle
