//===- ArrayFile.cpp - NumPy's files of arrays (.npy, .npz) ---------------===//
//
// All reading of contents is one walk over the bytes of a member, stored or
// deflated: to the end of the header when a file is opened, to the end of the
// elements when an array is read.
//
//===----------------------------------------------------------------------===//
#include "runtime/Base/ArrayFile.h"
#include "heddle/printable.h"
#include "runtime/Base/Crc32.h"
#include "runtime/Base/Inflate.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace heddle::base {

static constexpr unsigned kPiece = 1 << 16; ///< a multiple of every width of elements
static const char kSaveAgain[] = "write it again with numpy.savez";

namespace {

/// Gives the contents of a member to `push`, until that returns false or they end.
class MemberWalk : InflateEnds {
public:
  MemberWalk(const ByteSource &file, const ZipMember &member) : file(file), member(member) {}

  ArrayResult run() {
    if (!member.deflated) {
      const unsigned char *bytes = nullptr;
      while (unsigned n = pull(bytes))
        if (!push(bytes, n))
          break;
      return std::move(failed);
    }
    if (!&heddle_inflate)
      return problem("the member is compressed, and this program was built without zlib", "numpy.savez does not "
                                                                                          "compress");
    Inflated how = heddle_inflate(*this);
    if (failed || how == Inflated::Stopped)
      return std::move(failed);
    if (how == Inflated::NoMemory)
      return ArrayProblem{"cannot read", member.start, "", "", ENOMEM};
    if (how == Inflated::Damaged || pulled != member.packed)
      return problem("the compressed bytes of the member are damaged", "copy the file again");
    return std::nullopt;
  }

protected:
  /// A problem of the member; `at` counts from the beginning of its contents.
  ArrayProblem problem(std::string message, std::string help, uint64_t at = 0) const {
    return {std::move(message), member.start + (member.deflated ? 0 : at), printable(member.name), std::move(help)};
  }

  const ByteSource &file;
  const ZipMember &member;
  ArrayResult failed;

private:
  unsigned pull(const unsigned char *&bytes) override {
    auto n = unsigned(std::min<uint64_t>(sizeof piece, member.packed - pulled));
    if (n && (failed = file.read(piece, n, member.start + pulled)))
      return 0;
    bytes = piece;
    pulled += n;
    return n;
  }

  uint64_t pulled = 0;
  unsigned char piece[kPiece];
};

/// The first bytes of a member, as many as a header may take.
class Beginning final : public MemberWalk {
public:
  using MemberWalk::MemberWalk;
  std::string bytes;

private:
  bool push(const unsigned char *more, unsigned count) override {
    bytes.append(reinterpret_cast<const char *>(more), std::min<uint64_t>(count, kMostArrayHeader - bytes.size()));
    return bytes.size() < kMostArrayHeader;
  }
};

/// The elements of an array: cut into pieces of whole elements, in the order of bytes of this machine.
class Elements final : public MemberWalk {
public:
  /// `sums`: whether the member has a checksum.
  Elements(const ByteSource &file, const NamedArray &array, bool sums, ElementSink &sink)
      : MemberWalk(file, array.member), header(array.header), sums(sums), sink(sink) {}

  /// Whether all that was announced came; a sink that ended the walk has its reason.
  ArrayResult finish() {
    if (ended)
      return std::nullopt;
    if (seen != header.start + header.bytes)
      return problem("the member has other bytes than the directory says", kSaveAgain);
    if (sums && sum.value() != member.sum)
      return problem("the checksum of the member is another: its bytes are damaged", "copy the file again");
    give();
    return std::nullopt;
  }

private:
  bool push(const unsigned char *bytes, unsigned count) override {
    if (sums)
      sum.add(bytes, count);
    uint64_t skipped = std::min<uint64_t>(count, seen < header.start ? header.start - seen : 0);
    seen += count;
    if (seen > header.start + header.bytes)
      return false;
    for (uint64_t at = skipped; at < count && !ended;) {
      auto n = std::min<uint64_t>(count - at, kPiece - filled);
      memcpy(piece + filled, bytes + at, n);
      filled += n;
      at += n;
      if (filled == kPiece)
        give();
    }
    return !ended;
  }

  void give() {
    if (header.bigEndian && header.width > 1)
      for (uint64_t at = 0; at < filled; at += header.width)
        std::reverse(piece + at, piece + at + header.width);
    if (filled && !sink.take(piece, filled))
      ended = true;
    filled = 0;
  }

  const ArrayHeader &header;
  const bool sums;
  ElementSink &sink;
  Crc32 sum;
  uint64_t seen = 0, filled = 0;
  bool ended = false;
  char piece[kPiece];
};

/// The problem of a member in its words: the array by name, the byte in the file.
ArrayProblem inMember(ArrayProblem problem, const NamedArray &array) {
  problem.array = printable(array.name);
  if (!array.member.deflated)
    problem.byte += array.member.start;
  return problem;
}

} // namespace

bool ArrayFile::recognises(std::string_view first) {
  // A header of safetensors may be as long as the letters PK mean, but then the length has zeros on top.
  bool member = first.substr(0, 4) == "PK\3\4" && first.substr(4, 4) != std::string_view("\0\0\0\0", 4);
  return member || first.substr(0, kArrayMagic.size()) == kArrayMagic || first.substr(0, 4) == "PK\5\6";
}

ArrayResult ArrayFile::open(const ByteSource &source) {
  file = &source;
  items.clear();
  std::string first(std::min(source.size(), kMostArrayHeader), '\0');
  if (ArrayResult failed = source.read(first.data(), first.size(), 0))
    return failed;
  archive = first.substr(0, 2) == "PK";
  if (archive)
    return openArchive();
  NamedArray array;
  array.unnamed = true;
  array.member.packed = array.member.bytes = source.size();
  if (ArrayResult failed = readArrayHeader(first, array.header))
    return failed;
  uint64_t behind = source.size() - array.header.start;
  if (behind < array.header.bytes)
    return ArrayProblem{"the array has " + std::to_string(array.header.bytes) + " bytes, of which only " +
                            std::to_string(behind) + " are there",
                        source.size(), "", "the file was cut short: copy it again"};
  if (behind > array.header.bytes)
    return ArrayProblem{std::to_string(behind - array.header.bytes) + " bytes follow the array",
                        array.header.start + array.header.bytes, "",
                        "a .npy file has one array; numpy.savez writes several"};
  items.push_back(std::move(array));
  return std::nullopt;
}

ArrayResult ArrayFile::openArchive() {
  std::vector<ZipMember> members;
  if (ArrayResult failed = readZipDirectory(*file, members))
    return failed;
  auto endsIn = [](const std::string &name, std::string_view ending) {
    return name.size() >= ending.size() && name.compare(name.size() - ending.size(), ending.size(), ending) == 0;
  };
  for (const ZipMember &member : members)
    if (endsIn(member.name, "data.pkl"))
      return ArrayProblem{"the archive is a PyTorch checkpoint: a pickle describes its tensors", member.start,
                          printable(member.name), "a pickle may run code and is never read; save safetensors"};
  for (ZipMember &member : members) {
    if (!endsIn(member.name, ".npy") || member.name.size() == 4)
      return ArrayProblem{"the member is no array: its name does not end in .npy", member.start, printable(member.name),
                          "numpy.savez writes archives of arrays"};
    NamedArray array;
    array.name = member.name.substr(0, member.name.size() - 4);
    array.unnamed = members.size() == 1 && array.name == "arr_0";
    array.member = std::move(member);
    Beginning beginning(*file, array.member);
    if (ArrayResult failed = beginning.run())
      return failed;
    if (ArrayResult failed = readArrayHeader(beginning.bytes, array.header))
      return inMember(std::move(*failed), array);
    uint64_t need = array.header.start + array.header.bytes;
    if (need != array.member.bytes)
      return inMember(
          {"the member has " + std::to_string(array.member.bytes) + " bytes, its array needs " + std::to_string(need),
           0, "", kSaveAgain},
          array);
    items.push_back(std::move(array));
  }
  return std::nullopt;
}

ArrayResult ArrayFile::read(const NamedArray &array, ElementSink &sink) const {
  Elements elements(*file, array, archive, sink);
  ArrayResult failed = elements.run();
  return failed ? failed : elements.finish();
}

void orderAsC(const char *from, char *to, const std::vector<int64_t> &shape, unsigned width) {
  std::vector<int64_t> index(shape.size(), 0), stride(shape.size(), width);
  int64_t count = 1;
  for (size_t axis = shape.size(); axis-- > 0; count *= shape[axis])
    stride[axis] = count * int64_t(width);
  // `from` is walked through, and the place in `to` carried along.
  for (int64_t i = 0, place = 0; i < count; ++i) {
    memcpy(to + place, from + i * int64_t(width), width);
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      place += stride[axis];
      if (++index[axis] < shape[axis])
        break;
      place -= stride[axis] * shape[axis];
      index[axis] = 0;
    }
  }
}

} // namespace heddle::base
