//===- ZipDirectory.cpp - The members of a zip file -----------------------===//
//
// The format is PKWARE's APPNOTE. The directory is at the end and is believed;
// in front of a member only its name and the lengths there are looked at.
//
//===----------------------------------------------------------------------===//
#include "runtime/Base/ZipDirectory.h"
#include "heddle/printable.h"
#include "heddle/utf8.h"

#include <algorithm>
#include <tuple>

namespace heddle::base {

static constexpr uint64_t kMostDirectory = 100'000'000, kMostName = 4096;
static constexpr uint32_t kLocal = 0x04034b50, kEntry = 0x02014b50, kEnd = 0x06054b50, kEnd64 = 0x06064b50,
                          kLocator = 0x07064b50;
static constexpr size_t kLocalBytes = 30, kEntryBytes = 46, kEndBytes = 22, kEnd64Bytes = 56, kLocatorBytes = 20;
static constexpr uint64_t kSmall = 0xffffffff; ///< a size of this, or more, is in the extra field
static const char kSaveAgain[] = "write it again with numpy.savez";
static const char kCutShort[] = "the file was cut short: copy it again, or write it again with numpy.savez";

/// The number of `width` bytes at the place `at`, least first.
static uint64_t number(std::string_view bytes, size_t at, unsigned width) {
  uint64_t value = 0;
  for (unsigned i = width; i > 0; --i)
    value = value << 8 | static_cast<unsigned char>(bytes[at + i - 1]);
  return value;
}

namespace {

class DirectoryReader {
public:
  DirectoryReader(const ByteSource &file, std::vector<ZipMember> &members) : file(file), members(members) {}

  ArrayResult run() {
    members.clear();
    if (findEnd() && readEntries() && checkMembers())
      return std::nullopt;
    return std::move(problem);
  }

private:
  bool fail(std::string message, uint64_t byte, std::string help = kSaveAgain, std::string_view member = {}) {
    problem = ArrayProblem{std::move(message), byte, printable(member), std::move(help)};
    return false;
  }
  bool read(std::string &out, uint64_t bytes, uint64_t at) {
    out.resize(bytes);
    if (ArrayResult failed = file.read(out.data(), bytes, at)) {
      problem = std::move(*failed);
      return false;
    }
    return true;
  }

  bool findEnd();
  bool findEnd64(uint64_t end);
  bool readEntries();
  bool wideSizes(std::string_view extra, ZipMember &member, uint64_t place);
  bool checkMembers();
  bool findContents(ZipMember &member);

  const ByteSource &file;
  std::vector<ZipMember> &members;
  uint64_t begin = 0, bytes = 0, count = 0; ///< the directory
  ArrayProblem problem;
};

/// The end of the directory has a comment behind it, which numpy leaves empty: it is the last such record whose comment
/// ends the file.
bool DirectoryReader::findEnd() {
  uint64_t size = file.size(), tailBytes = std::min<uint64_t>(size, kEndBytes + 0xffff);
  std::string tail;
  if (size < kEndBytes)
    return fail("the archive has " + std::to_string(size) + " bytes; an empty one has 22", 0, kCutShort);
  if (!read(tail, tailBytes, size - tailBytes))
    return false;
  for (size_t at = tail.size() - kEndBytes + 1; at-- > 0;) {
    if (number(tail, at, 4) != kEnd || at + kEndBytes + number(tail, at + 20, 2) != tail.size())
      continue;
    uint64_t end = size - tailBytes + at;
    if (number(tail, at + 4, 4) != 0)
      return fail("the archive is one of several disks", end);
    count = number(tail, at + 10, 2);
    bytes = number(tail, at + 12, 4);
    begin = number(tail, at + 16, 4);
    if ((count == 0xffff || bytes == kSmall || begin == kSmall) && !findEnd64(end))
      return false;
    if (bytes > kMostDirectory)
      return fail("the directory of the archive would be " + std::to_string(bytes) + " bytes long; at most " +
                      std::to_string(kMostDirectory) + " are read",
                  end);
    if (bytes > end || begin > end - bytes || count > bytes / kEntryBytes)
      return fail("the directory of the archive does not fit in front of its end", end, kCutShort);
    return true;
  }
  return fail("the archive has no directory at its end", size, kCutShort);
}

bool DirectoryReader::findEnd64(uint64_t end) {
  std::string record;
  if (end < kLocatorBytes || !read(record, kLocatorBytes, end - kLocatorBytes))
    return end >= kLocatorBytes ? false : fail("the archive has no record of its sizes", end, kCutShort);
  uint64_t place = number(record, 8, 8);
  if (number(record, 0, 4) != kLocator || end - kLocatorBytes < kEnd64Bytes ||
      place > end - kLocatorBytes - kEnd64Bytes)
    return fail("the archive has no record of its sizes", end, kCutShort);
  if (!read(record, kEnd64Bytes, place))
    return false;
  if (number(record, 0, 4) != kEnd64)
    return fail("the record of the archive's sizes is another", place);
  count = number(record, 32, 8);
  bytes = number(record, 40, 8);
  begin = number(record, 48, 8);
  return true;
}

bool DirectoryReader::readEntries() {
  std::string all;
  if (!read(all, bytes, begin))
    return false;
  for (size_t at = 0; members.size() < count;) {
    uint64_t place = begin + at;
    if (all.size() - at < kEntryBytes || number(all, at, 4) != kEntry)
      return fail("an entry of the archive's directory is incomplete", place);
    uint64_t flags = number(all, at + 8, 2), method = number(all, at + 10, 2);
    size_t name = number(all, at + 28, 2), extra = number(all, at + 30, 2), comment = number(all, at + 32, 2);
    if (all.size() - at - kEntryBytes < name + extra + comment)
      return fail("an entry of the archive's directory is incomplete", place);
    ZipMember member;
    member.name = all.substr(at + kEntryBytes, name);
    if (name > kMostName || !isUtf8(member.name) || member.name.find('\0') != std::string::npos)
      return fail("the name of a member is longer than 4096 bytes, or no UTF-8", place);
    if (flags & 0x2061)
      return fail("the member is encrypted or a patch", place, kSaveAgain, member.name);
    if (method != 0 && method != 8)
      return fail("the member is compressed by method " + std::to_string(method) + "; stored and deflated are read",
                  place, "write it again with numpy.savez or savez_compressed", member.name);
    member.deflated = method == 8;
    member.sum = uint32_t(number(all, at + 16, 4));
    member.packed = number(all, at + 20, 4);
    member.bytes = number(all, at + 24, 4);
    member.start = number(all, at + 42, 4);
    if (!wideSizes(std::string_view(all).substr(at + kEntryBytes + name, extra), member, place))
      return false;
    members.push_back(std::move(member));
    at += kEntryBytes + name + extra + comment;
  }
  return true;
}

/// Sizes that do not fit 32 bits are in the extra field 1, in a fixed order, those alone that do not fit.
bool DirectoryReader::wideSizes(std::string_view extra, ZipMember &member, uint64_t place) {
  while (extra.size() >= 4) {
    uint64_t kind = number(extra, 0, 2), length = number(extra, 2, 2);
    if (length > extra.size() - 4)
      break;
    std::string_view field = extra.substr(4, length);
    for (uint64_t *value : {&member.bytes, &member.packed, &member.start}) {
      if (kind != 1 || *value != kSmall)
        continue;
      if (field.size() < 8)
        return fail("the sizes of the member are incomplete", place, kSaveAgain, member.name);
      *value = number(field, 0, 8);
      field.remove_prefix(8);
    }
    extra.remove_prefix(4 + length);
  }
  return true;
}

/// What members may not do together: have one name, or share bytes. Sorted, nothing hashed.
bool DirectoryReader::checkMembers() {
  for (ZipMember &member : members)
    if (!findContents(member))
      return false;
  std::vector<const ZipMember *> order;
  for (const ZipMember &member : members)
    order.push_back(&member);
  std::sort(order.begin(), order.end(),
            [](auto *a, auto *b) { return std::tie(a->name, a->start) < std::tie(b->name, b->start); });
  for (size_t i = 1; i < order.size(); ++i)
    if (order[i - 1]->name == order[i]->name)
      return fail("two members have one name", order[i]->start, "give each array another name", order[i]->name);
  std::sort(order.begin(), order.end(),
            [](auto *a, auto *b) { return std::tie(a->start, a->packed) < std::tie(b->start, b->packed); });
  for (size_t i = 1; i < order.size(); ++i)
    if (order[i]->start < order[i - 1]->start + order[i - 1]->packed)
      return fail("the member is inside of `" + printable(order[i - 1]->name) + "`", order[i]->start, kSaveAgain,
                  order[i]->name);
  return true;
}

/// From the place of the local header to that of the contents. Deflate makes of a byte at most 1,032.
bool DirectoryReader::findContents(ZipMember &member) {
  uint64_t place = member.start;
  std::string local;
  if (begin < kLocalBytes || place > begin - kLocalBytes)
    return fail("the member begins after the directory", place, kSaveAgain, member.name);
  if (!read(local, kLocalBytes, place))
    return false;
  uint64_t name = number(local, 26, 2), extra = number(local, 28, 2), room = begin - place - kLocalBytes;
  if (number(local, 0, 4) != kLocal || name != member.name.size() || number(local, 8, 2) != (member.deflated ? 8 : 0))
    return fail("the member is not where the directory says", place, kSaveAgain, member.name);
  if (name + extra > room || member.packed > room - name - extra)
    return fail("the member does not fit in front of the directory", place, kCutShort, member.name);
  if (!member.deflated && member.packed != member.bytes)
    return fail("the member is stored and has two sizes, " + std::to_string(member.packed) + " and " +
                    std::to_string(member.bytes),
                place, kSaveAgain, member.name);
  if (member.deflated && member.bytes / 1032 > member.packed)
    return fail("the member would be " + std::to_string(member.bytes) + " bytes, which its " +
                    std::to_string(member.packed) + " compressed bytes cannot become",
                place, kSaveAgain, member.name);
  if (!read(local, name, place + kLocalBytes))
    return false;
  if (local != member.name)
    return fail("the member is called `" + printable(local) + "` in front of its contents", place, kSaveAgain,
                member.name);
  member.start = place + kLocalBytes + name + extra;
  return true;
}

/// Appends a number of `width` bytes, least first.
void put(std::string &out, uint64_t value, unsigned width) {
  for (unsigned i = 0; i < width; ++i)
    out += char(value >> (8 * i));
}

} // namespace

ArrayResult readZipDirectory(const ByteSource &file, std::vector<ZipMember> &members) {
  return DirectoryReader(file, members).run();
}

std::string ZipWriter::member(const std::string &name, uint32_t sum, uint64_t bytes) {
  bool wide = bytes >= kSmall, far = at >= kSmall;
  // Version, flags (a name beyond ASCII is UTF-8), method 0, the first of January 1980.
  std::string shared;
  put(shared, wide || far ? 45 : 20, 2);
  put(shared, std::all_of(name.begin(), name.end(), [](char c) { return c > 0; }) ? 0 : 0x800, 2);
  put(shared, 0, 2);
  put(shared, 0x00210000, 4);
  put(shared, sum, 4);
  put(shared, wide ? kSmall : bytes, 4);
  put(shared, wide ? kSmall : bytes, 4);
  put(shared, name.size(), 2);
  std::string sizes, local, entry;
  if (wide) {
    put(sizes, bytes, 8);
    put(sizes, bytes, 8);
  }
  auto extra = [](const std::string &field) {
    std::string out;
    if (!field.empty()) {
      put(out, 1, 2);
      put(out, field.size(), 2);
    }
    return out + field;
  };
  put(local, kLocal, 4);
  local += shared;
  put(local, extra(sizes).size(), 2);
  local += name + extra(sizes);
  if (far)
    put(sizes, at, 8);
  put(entry, kEntry, 4);
  put(entry, 0x0314, 2); // made on Unix
  entry += shared;
  put(entry, extra(sizes).size(), 2);
  put(entry, 0, 2);          // comment
  put(entry, 0, 4);          // disk, kind
  put(entry, 0600 << 16, 4); // permissions, as Python's zipfile writes them
  put(entry, far ? kSmall : at, 4);
  entries += entry + name + extra(sizes);
  at += local.size() + bytes;
  ++count;
  return local;
}

std::string ZipWriter::directory() const {
  std::string out = entries;
  if (count >= 0xffff || entries.size() >= kSmall || at >= kSmall) {
    put(out, kEnd64, 4);
    put(out, kEnd64Bytes - 12, 8);
    put(out, 45 | uint64_t(45) << 16, 4);
    put(out, 0, 8);
    put(out, count, 8);
    put(out, count, 8);
    put(out, entries.size(), 8);
    put(out, at, 8);
    put(out, kLocator, 4);
    put(out, 0, 4);
    put(out, at + entries.size(), 8);
    put(out, 1, 4);
  }
  put(out, kEnd, 4);
  put(out, 0, 4);
  put(out, std::min<uint64_t>(count, 0xffff), 2);
  put(out, std::min<uint64_t>(count, 0xffff), 2);
  put(out, std::min<uint64_t>(entries.size(), kSmall), 4);
  put(out, std::min<uint64_t>(at, kSmall), 4);
  put(out, 0, 2);
  return out;
}

} // namespace heddle::base
