//===- Arrays.cpp - NumPy's files that a stranger wrote -------------------===//
//
//   heddle_fuzz_arrays [--runs=N] [--seed=N] [--dump=DIR]
//
// Headers of .npy are made of the words that numpy writes, and .npz of such
// arrays, stored and deflated; then bytes are changed. What is accepted is
// checked again by arithmetic of its own and read; what is refused must say
// why, without control bytes of the input. Memory is counted: no more may be
// taken than the file's size allows. --dump writes the first files that were
// accepted, with what was read, for arrays_oracle.py. Links the base of the
// runtime alone: a build with HEDDLE_SANITIZE takes seconds.
//
//===----------------------------------------------------------------------===//
#include "runtime/Base/ArrayFile.h"
#include "runtime/Base/Crc32.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>
#include <random>
#include <zlib.h>

using namespace heddle::base;
using Random = std::mt19937_64;

//===-- memory -----------------------------------------------------------===//

static size_t live, peak;

void *operator new(size_t bytes) {
  auto *block = static_cast<size_t *>(malloc(bytes + 16));
  if (!block)
    abort();
  *block = bytes;
  live += bytes;
  peak = std::max(peak, live);
  return block + 2;
}
void operator delete(void *at) noexcept {
  if (!at)
    return;
  auto *block = static_cast<size_t *>(at) - 2;
  live -= *block;
  free(block);
}
void operator delete(void *at, size_t) noexcept { operator delete(at); }

namespace {

[[noreturn]] void finding(const char *what) {
  fprintf(stderr, "finding: %s\n", what);
  abort();
}

//===-- inputs -----------------------------------------------------------===//

size_t below(Random &random, size_t n) { return n ? random() % n : 0; }

template <size_t n> std::string oneOf(Random &random, const char *const (&words)[n]) { return words[below(random, n)]; }

const char *const kTypes[] = {"|b1", "|i1",    "|u1", "<i2",  "<u2", "<i4", "<u4", "<i8", "<u8", "<f2",
                              "<f4", "<f8",    ">i2", ">i4",  ">f8", ">f4", "=f4", "|O",  "<c8", "<U5",
                              "|S3", "<M8[s]", "|V2", "<f16", "f4",  "",    "<",   "<i3", "<i88"};
const char *const kLengths[] = {
    "0",          "1",  "2",  "3",   "7",    "64", "9223372036854775807", "9223372036854775808",
    "4294967296", "-1", "2L", "1.0", "True", "00"};

/// The header of an array, right or nearly so; `bytes` becomes what its elements would take if it is small.
std::string header(Random &random, size_t &bytes) {
  bool odd = random() % 4 == 0;
  std::string type = odd ? oneOf(random, kTypes) : kTypes[below(random, 17)];
  size_t rank = odd ? below(random, 40) : below(random, 4), count = 1;
  std::string shape = "(";
  for (size_t i = 0; i < rank; ++i) {
    std::string length = odd ? oneOf(random, kLengths) : kLengths[below(random, 5)];
    shape += (i ? ", " : "") + length;
    count = std::min<size_t>(count * std::min<size_t>(strtoull(length.c_str(), nullptr, 10), 1 << 16), 1 << 16);
  }
  shape += rank == 1 && random() % 16 ? ",)" : ")";
  size_t width = type.size() == 3 && type[2] >= '1' && type[2] <= '8' ? size_t(type[2] - '0') : 1;
  bytes = count * width;
  std::string fields[] = {"'descr': '" + type + "'", "'fortran_order': " + std::string(random() % 2 ? "True" : "False"),
                          "'shape': " + shape};
  if (odd)
    std::shuffle(std::begin(fields), std::end(fields), random);
  std::string text = "{" + fields[0] + ", " + fields[1] + ", " + fields[2] + (random() % 8 ? ", }" : "}");
  if (odd && random() % 4 == 0)
    text.replace(below(random, text.size()), 1, "\"");
  if (odd && random() % 8 == 0)
    text.insert(1, "'extra': 1, ");
  text.append(below(random, 64), ' ');
  text += '\n';
  int version = odd ? int(below(random, 5)) : 1 + int(below(random, 3));
  std::string out = "\x93NUMPY";
  out += {char(version), char(odd && random() % 8 == 0)};
  size_t said = text.size() + (odd && random() % 8 == 0 ? random() % 100000 : 0);
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    out += char(said >> (8 * i));
  return out + text;
}

std::string array(Random &random) {
  size_t bytes = 0;
  std::string out = header(random, bytes);
  if (random() % 16 == 0)
    bytes += below(random, 9) - 4;
  for (size_t i = 0; i < std::min<size_t>(bytes, 1 << 12); ++i)
    out += char(i % 2 ? random() : 1);
  return out;
}

std::string deflated(const std::string &bytes, int level) {
  z_stream stream = {};
  deflateInit2(&stream, level, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(bytes.data()));
  stream.avail_in = unsigned(bytes.size());
  stream.next_out = reinterpret_cast<Bytef *>(out.data());
  stream.avail_out = unsigned(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// Puts a number into a text, least byte first.
void put(std::string &text, size_t at, uint64_t value, unsigned width) {
  for (unsigned i = 0; i < width; ++i)
    text[at + i] = char(value >> (8 * i));
}

/// An archive of some arrays. Deflated members are written as stored ones, whose method and sizes are then changed.
std::string archive(Random &random) {
  ZipWriter zip;
  std::string out;
  Crc32 sum;
  size_t count = below(random, 4);
  std::vector<size_t> plain;
  for (size_t i = 0; i < count; ++i) {
    std::string contents = array(random);
    bool packs = random() % 2;
    std::string packed = packs ? deflated(contents, int(below(random, 10))) : contents;
    std::string name = random() % 8 ? std::string(1, char('a' + i)) + ".npy" : random() % 2 ? "arr_0.npy" : "a.txt";
    sum.restart();
    sum.add(contents.data(), contents.size());
    std::string before = zip.member(name, random() % 16 ? sum.value() : 7, packed.size());
    if (packs)
      put(before, 8, 8, 2);
    plain.push_back(packs ? contents.size() : size_t(-1));
    out += before + packed;
  }
  std::string directory = zip.directory();
  size_t at = 0;
  for (size_t i = 0; i < count; ++i) {
    if (plain[i] != size_t(-1)) {
      put(directory, at + 10, 8, 2);
      put(directory, at + 24, plain[i], 4);
    }
    at += 46 + static_cast<unsigned char>(directory[at + 28]);
  }
  return out + directory;
}

/// One to four changes; the ends, where sizes stand, are hit as often as all the rest.
std::string changed(std::string bytes, Random &random) {
  for (size_t changes = 1 + below(random, 4); changes && !bytes.empty(); --changes) {
    size_t where = random() % 3, edge = std::min<size_t>(bytes.size(), 120);
    size_t at = where == 0   ? below(random, bytes.size())
                : where == 1 ? below(random, edge)
                             : bytes.size() - 1 - below(random, edge);
    size_t from = below(random, bytes.size()), size = 1 + below(random, std::min<size_t>(32, bytes.size() - from));
    switch (random() % 8) {
    case 0: bytes.erase(at, size); break;
    case 1: bytes.insert(at, bytes.substr(from, size)); break;
    case 2: bytes.replace(at, size, bytes.substr(from, size)); break;
    case 3: bytes.resize(at); break;
    case 4:
      for (size_t i = at; i < std::min(at + 4, bytes.size()); ++i)
        bytes[i] = char(random() % 3 ? 0xff : 0x7f);
      break;
    case 5: bytes[at] = char(bytes[at] ^ (1 << random() % 8)); break;
    default: bytes[at] = char(random());
    }
  }
  return bytes;
}

//===-- what is decided ----------------------------------------------------===//

class Memory final : public ByteSource {
public:
  explicit Memory(const std::string &bytes) : bytes(bytes) {}
  uint64_t size() const override { return bytes.size(); }
  ArrayResult read(void *out, uint64_t count, uint64_t at) const override {
    if (at > bytes.size() || count > bytes.size() - at)
      finding("a read outside of the file");
    memcpy(out, bytes.data() + at, count);
    return std::nullopt;
  }

private:
  const std::string &bytes;
};

class Collected final : public ElementSink {
public:
  bool take(const char *elements, uint64_t count) override {
    if (count > 1 << 16 || count % width)
      finding("a piece that is too long, or has half an element");
    bytes.append(elements, count);
    return true;
  }
  std::string bytes;
  unsigned width = 1;
};

void checkRefusal(const ArrayProblem &problem) {
  if (problem.message.empty() || problem.help.empty() || problem.systemError)
    finding("a refusal without a message or help");
  for (const std::string *text : {&problem.message, &problem.array, &problem.help})
    for (char c : *text)
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
        finding("a control byte in a message");
}

/// A message without what differs from file to file: numbers, and what stands in back quotes.
std::string kindOf(const std::string &message) {
  std::string kind;
  bool quoted = false;
  for (char c : message) {
    quoted ^= c == '`';
    bool digit = c >= '0' && c <= '9';
    if (!quoted && !(digit && !kind.empty() && kind.back() == '#'))
      kind += digit ? '#' : c;
  }
  return kind;
}

/// "accepted" or the kind of the refusal. What was read is added to `said`, a line an array.
std::string verdict(const std::string &input, std::string &said) {
  Memory source(input);
  if (!ArrayFile::recognises(std::string_view(input).substr(0, 8)))
    return "other";
  ArrayFile file;
  if (ArrayResult problem = file.open(source)) {
    checkRefusal(*problem);
    return kindOf(problem->message);
  }
  for (const NamedArray &array : file.arrays()) {
    __uint128_t bytes = array.header.width;
    for (int64_t length : array.header.shape) {
      if (length < 0)
        finding("a negative length");
      bytes *= uint64_t(length);
    }
    if (bytes != array.header.bytes || array.header.start + array.header.bytes != array.member.bytes)
      finding("sizes that do not agree");
    if (array.member.start + array.member.packed > input.size())
      finding("a member outside of the file");
    Collected elements;
    elements.width = array.header.width;
    if (ArrayResult problem = file.read(array, elements)) {
      checkRefusal(*problem);
      return kindOf(problem->message);
    }
    if (elements.bytes.size() != array.header.bytes)
      finding("other elements than were announced");
    std::string ordered = elements.bytes;
    if (array.header.fortran)
      orderAsC(elements.bytes.data(), ordered.data(), array.header.shape, array.header.width);
    Crc32 sum;
    sum.add(ordered.data(), ordered.size());
    said += array.name + " " + array.header.type + " (";
    for (int64_t length : array.header.shape)
      said += std::to_string(length) + ",";
    said += ") " + std::to_string(sum.value()) + "\n";
  }
  return "accepted";
}

void dump(const std::string &folder, uint64_t index, const std::string &bytes, const std::string &said) {
  std::string path = folder + "/" + std::to_string(index);
  for (const auto &[ending, text] : {std::pair(".bin", &bytes), {".txt", &said}}) {
    FILE *file = fopen((path + ending).c_str(), "wb");
    if (!file || fwrite(text->data(), 1, text->size(), file) != text->size() || fclose(file) != 0)
      exit(5);
  }
}

} // namespace

int main(int argc, char **argv) {
  std::string folder;
  uint64_t runs = 100000, seed = 1, dumped = 0;
  for (int i = 1; i < argc; ++i) {
    if (strncmp(argv[i], "--runs=", 7) == 0)
      runs = strtoull(argv[i] + 7, nullptr, 10);
    else if (strncmp(argv[i], "--seed=", 7) == 0)
      seed = strtoull(argv[i] + 7, nullptr, 10);
    else if (strncmp(argv[i], "--dump=", 7) == 0)
      folder = argv[i] + 7;
    else
      return 2;
  }
  Random random(seed);
  std::map<std::string, uint64_t> counts;
  for (uint64_t run = 0; run < runs; ++run) {
    std::string bytes = random() % 2 ? array(random) : archive(random), said;
    if (random() % 2)
      bytes = changed(std::move(bytes), random);
    bytes.shrink_to_fit();
    size_t before = live;
    peak = live;
    std::string what = verdict(bytes, said);
    // A member of an archive takes more memory than its 76 bytes there; a deflated one becomes 1,032 times as long.
    if (peak - before > 1100 * bytes.size() + (1 << 16))
      finding("more memory than the file's size allows");
    if (what == "accepted" && !folder.empty() && dumped < 2000)
      dump(folder, dumped++, bytes, said);
    ++counts[what];
  }
  for (const auto &[what, count] : counts)
    printf("%s: %llu\n", what.c_str(), static_cast<unsigned long long>(count));
  printf("%llu files, seed %llu, no findings\n", static_cast<unsigned long long>(runs),
         static_cast<unsigned long long>(seed));
  return 0;
}
