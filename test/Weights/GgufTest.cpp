// GGUF files: every rule of the container from both sides, values of every kind, split files; and the blocks of all
// types against what they mean, bit for bit (the cases of ../shared/gguf-cases, where they are there).
#include "compiler/Weights/Coded/CodedTensor.h"
#include "compiler/Weights/Gguf/GgufBlocks.h"
#include "compiler/Weights/Gguf/GgufTensors.h"
#include "test/Weights/Support.h"
#include "llvm/ADT/bit.h"
#include <cmath>
#include <cstring>
#include <functional>

using namespace heddle;
using namespace heddle::test;

namespace {

const std::string ggufCases = HEDDLE_GGUF_CASES;

template <typename T> std::string word(T value) { return {reinterpret_cast<const char *>(&value), sizeof value}; }
std::string textOf(const std::string &bytes) { return word(uint64_t(bytes.size())) + bytes; }

template <typename T> std::string valueOf(const std::string &key, GgufKind kind, T value) {
  return textOf(key) + word(uint32_t(kind)) + word(value);
}
std::string textValue(const std::string &key, const std::string &value) {
  return textOf(key) + word(uint32_t(GgufKind::Text)) + textOf(value);
}
std::string arrayValue(const std::string &key, GgufKind element, uint64_t count, const std::string &elements) {
  return textOf(key) + word(uint32_t(GgufKind::Array)) + word(uint32_t(element)) + word(count) + elements;
}

/// A file in pieces that a test can change.
struct Parts {
  std::string magic = "GGUF";
  uint32_t version = 3;
  std::vector<std::string> values{textValue("general.architecture", "qwen2")};
  struct Entry {
    std::string name;
    std::vector<uint64_t> dimensions; ///< the fastest first
    uint32_t type = 0;
    uint64_t offset = 0;
  };
  std::vector<Entry> tensors;
  std::string data;
  uint64_t alignment = 32;
  std::optional<uint64_t> tensorCount, valueCount;

  /// Adds a tensor behind the others.
  void add(const std::string &name, std::vector<uint64_t> dimensions, uint32_t type, const std::string &bytes) {
    data.resize(llvm::alignTo(data.size(), alignment));
    tensors.push_back({name, std::move(dimensions), type, data.size()});
    data += bytes;
  }
  std::string bytes() const {
    std::string out =
        magic + word(version) + word(tensorCount.value_or(tensors.size())) + word(valueCount.value_or(values.size()));
    for (const std::string &value : values)
      out += value;
    for (const Entry &t : tensors) {
      out += textOf(t.name) + word(uint32_t(t.dimensions.size()));
      for (uint64_t d : t.dimensions)
        out += word(d);
      out += word(t.type) + word(t.offset);
    }
    out.resize(llvm::alignTo(out.size(), alignment));
    return out + data;
  }
};

/// Two tensors: a matrix of Q8_0 and a vector.
Parts goodParts() {
  Parts parts;
  parts.add("token_embd.weight", {32, 2}, 8, std::string(2 * 34, '\1'));
  parts.add("output_norm.weight", {32}, 0, std::string(128, '\0'));
  return parts;
}

absl::StatusOr<GgufFile> opened(const Directory &dir, const std::string &bytes) {
  return GgufFile::open(dir.write("x.gguf", bytes));
}

TEST(Gguf, GoodFile) {
  Directory dir;
  for (uint32_t version : {2u, 3u}) {
    Parts parts = goodParts();
    parts.version = version;
    absl::StatusOr<GgufFile> file = opened(dir, parts.bytes());
    ASSERT_TRUE(file.ok()) << text(file.status());
    ASSERT_EQ(file->tensors().size(), 2u);
    const GgufTensor *t = file->tensor("token_embd.weight");
    ASSERT_TRUE(t);
    EXPECT_EQ(t->shape, (std::vector<int64_t>{2, 32}));
    EXPECT_EQ(t->type, GgufType::Q8_0);
    EXPECT_EQ(t->bytes, 68u);
    EXPECT_EQ(t->byte % 32, 0u);
    EXPECT_FALSE(file->tensor("output.weight"));
    ASSERT_TRUE(file->architecture().ok());
    EXPECT_EQ(*file->architecture(), "qwen2");
  }
}

TEST(Gguf, Values) {
  Parts parts = goodParts();
  using K = GgufKind;
  auto add = [&](std::string value) { parts.values.push_back(std::move(value)); };
  add(valueOf("u8", K::U8, uint8_t(200)));
  add(valueOf("i8", K::I8, int8_t(-3)));
  add(valueOf("u16", K::U16, uint16_t(40000)));
  add(valueOf("i16", K::I16, int16_t(-4)));
  add(valueOf("u32", K::U32, uint32_t(4000000000u)));
  add(valueOf("i32", K::I32, int32_t(-5)));
  add(valueOf("f32", K::F32, 1e-5f));
  add(valueOf("bool", K::Bool, uint8_t(1)));
  add(textValue("text", "a\xff"));
  add(valueOf("u64", K::U64, UINT64_MAX));
  add(valueOf("i64", K::I64, INT64_MIN));
  add(valueOf("f64", K::F64, 0.1));
  add(arrayValue("texts", K::Text, 3, textOf("a") + textOf("") + textOf("token")));
  add(arrayValue("floats", K::F32, 2, word(0.1f) + word(-2.0f)));
  add(arrayValue("wholes", K::I16, 2, word(int16_t(-1)) + word(int16_t(7))));
  add(arrayValue("truths", K::Bool, 2, word(uint8_t(0)) + word(uint8_t(1))));
  add(arrayValue("nested", K::Array, 1, word(uint32_t(K::U8)) + word(uint64_t(2)) + "xy"));
  add(arrayValue("none", K::Text, 0, ""));
  Directory dir;
  absl::StatusOr<GgufFile> file = opened(dir, parts.bytes());
  ASSERT_TRUE(file.ok()) << text(file.status());
  auto value = [&](const char *key) -> const GgufValue & { return *file->find(key); };
  EXPECT_EQ(value("u8").integer(), 200);
  EXPECT_EQ(value("i8").integer(), -3);
  EXPECT_EQ(value("u16").number(), 40000.0);
  EXPECT_EQ(value("i16").integer(), -4);
  EXPECT_EQ(value("u32").integer(), 4000000000);
  EXPECT_EQ(value("i32").integer(), -5);
  EXPECT_EQ(value("f32").number(), 1e-5); // and not 9.99999974e-06
  EXPECT_FALSE(value("f32").integer());
  EXPECT_EQ(value("bool").boolean(), true);
  EXPECT_FALSE(value("bool").integer());
  EXPECT_FALSE(value("bool").number());
  EXPECT_EQ(value("text").text(), llvm::StringRef("a\xff"));
  EXPECT_FALSE(value("text").number());
  EXPECT_FALSE(value("u64").integer());
  EXPECT_EQ(value("u64").number(), 0x1p64);
  EXPECT_EQ(value("i64").integer(), INT64_MIN);
  EXPECT_EQ(value("f64").number(), 0.1);
  EXPECT_EQ(value("texts").texts(), (std::vector<llvm::StringRef>{"a", "", "token"}));
  EXPECT_EQ(value("texts").size(), 3u);
  EXPECT_FALSE(value("texts").numbers());
  EXPECT_EQ(value("floats").numbers(), (std::vector<double>{0.1, -2}));
  EXPECT_FALSE(value("floats").integers());
  EXPECT_EQ(value("wholes").integers(), (std::vector<int64_t>{-1, 7}));
  EXPECT_EQ(value("truths").booleans(), (std::vector<bool>{false, true}));
  EXPECT_FALSE(value("nested").integers());
  EXPECT_TRUE(value("none").texts()->empty());
  EXPECT_EQ(value("wholes").what(), "an array of 2 i16");
  EXPECT_EQ(value("i8").what(), "the number -3");
  EXPECT_EQ(value("f32").what(), "the number 1e-05");
  EXPECT_EQ(value("text").what(), "a text");
  EXPECT_EQ(value("bool").what(), "true");
  EXPECT_FALSE(file->find("absent"));
  WeightProblem about = refusal(file->damaged("f32", "it is wrong"));
  EXPECT_EQ(about.message, "`f32`: it is wrong");
  EXPECT_EQ(about.byte, value("f32").byte());
}

struct Rule {
  const char *what;
  Error code;
  std::function<std::string()> file;
  std::vector<const char *> says; ///< in the message or the name of the tensor
};

std::string changed(const std::function<void(Parts &)> &change) {
  Parts parts = goodParts();
  change(parts);
  return parts.bytes();
}
std::string withValue(const std::string &value) {
  return changed([&](Parts &p) { p.values.push_back(value); });
}
std::string withTensor(const std::function<void(Parts::Entry &)> &change) {
  return changed([&](Parts &p) { change(p.tensors[0]); });
}

TEST(Gguf, Refusals) {
  const std::string good = goodParts().bytes(), key = "general.alignment", embedding = "token_embd.weight";
  using K = GgufKind;
  const Error damaged = Error::GgufDamaged, unread = Error::QuantisationUnsupported;
  const std::string deep = [] {
    std::string arrays;
    for (int i = 0; i < 1000; ++i)
      arrays += word(uint32_t(K::Array)) + word(uint64_t(1));
    return textOf("deep") + word(uint32_t(K::Array)) + arrays + word(uint32_t(K::U8)) + word(uint64_t(0));
  }();
  const Rule rules[] = {
      {"no bytes", damaged, [] { return ""; }, {"ends inside of its header"}},
      {"magic", damaged, [&] { return changed([](Parts &p) { p.magic = "GGJT"; }); }, {"begin with GGUF"}},
      {"four bytes", damaged, [&] { return good.substr(0, 4); }, {"ends inside of its header"}},
      {"version 1", unread, [] { return changed([](Parts &p) { p.version = 1; }); }, {"version 1 of GGUF"}},
      {"version 4", unread, [] { return changed([](Parts &p) { p.version = 4; }); }, {"version 4 of GGUF"}},
      {"byte order", unread, [] { return changed([](Parts &p) { p.version = 3u << 24; }); }, {"other order of bytes"}},
      {"tensors",
       damaged,
       [] { return changed([](Parts &p) { p.tensorCount = 1ull << 63; }); },
       {"9223372036854775808"}},
      {"values",
       damaged,
       [] { return changed([](Parts &p) { p.valueCount = UINT64_MAX; }); },
       {"18446744073709551615"}},
      {"one tensor more", damaged, [] { return changed([](Parts &p) { p.tensorCount = 3; }); }, {}},
      {"key of 4 GB", damaged, [] { return withValue(word(1ull << 32)); }, {"4294967296 bytes, at most 4096"}},
      {"text of 2 GB",
       damaged,
       [] { return withValue(textOf("t") + word(uint32_t(K::Text)) + word(1ull << 31)); },
       {"2147483648 bytes"}},
      {"text behind the end",
       damaged,
       [] { return withValue(textOf("t") + word(uint32_t(K::Text)) + word(1ull << 20)); },
       {"ends inside of a text"}},
      {"kind 13", damaged, [] { return withValue(textOf("t") + word(13u)); }, {"kind 13", "`t`"}},
      {"kind of an array", damaged, [] { return withValue(arrayValue("t", K(77), 1, "")); }, {"array of the kind 77"}},
      {"count that wraps",
       damaged,
       [] { return withValue(arrayValue("t", K::I64, 1ull << 61, "")); },
       {"ends inside of an array"}},
      {"count of texts",
       damaged,
       [] { return withValue(arrayValue("t", K::Text, 1ull << 60, "")); },
       {"ends inside of an array"}},
      {"arrays without end", damaged, [&] { return withValue(deep); }, {"more than 3 arrays"}},
      {"truth 2", damaged, [] { return withValue(valueOf("t", K::Bool, uint8_t(2))); }, {"`t` is 2, 0 or 1"}},
      {"key twice",
       damaged,
       [] { return withValue(textValue("general.architecture", "x")); },
       {"`general.architecture` occurs twice"}},
      {"key of other bytes", damaged, [] { return withValue(textValue("a\xff", "x")); }, {"key is no UTF-8"}},
      {"empty key", damaged, [] { return withValue(textValue("", "x")); }, {"key is empty"}},
      {"alignment 0",
       damaged,
       [&] { return withValue(valueOf(key, K::U32, 0u)); },
       {"alignment is 0", "`general.alig"}},
      {"alignment 3", damaged, [&] { return withValue(valueOf(key, K::U32, 3u)); }, {"alignment is 3"}},
      {"alignment 2^21", damaged, [&] { return withValue(valueOf(key, K::U32, 1u << 21)); }, {"alignment is 2097152"}},
      {"alignment as text", damaged, [&] { return withValue(textValue(key, "32")); }, {"alignment is a text"}},
      {"alignment as bool",
       damaged,
       [&] { return withValue(valueOf(key, K::Bool, uint8_t(1))); },
       {"alignment is true"}},
      {"rank 0",
       damaged,
       [] { return withTensor([](auto &t) { t.dimensions = {}; }); },
       {"0 dimensions", "token_embd"}},
      {"rank 5",
       damaged,
       [] { return withTensor([](auto &t) { t.dimensions = {32, 1, 1, 1, 1}; }); },
       {"5 dimensions"}},
      {"dimension 0", damaged, [] { return withTensor([](auto &t) { t.dimensions[1] = 0; }); }, {"dimension of 0"}},
      {"dimension 2^63",
       damaged,
       [] { return withTensor([](auto &t) { t.dimensions[1] = 1ull << 63; }); },
       {"9223372036854775808", "token_embd"}},
      {"product that wraps",
       damaged,
       [] { return withTensor([](auto &t) { t.dimensions = {1ull << 33, 1ull << 33}; }); },
       {"too many elements"}},
      {"bytes that wrap",
       damaged,
       [] { return withTensor([](auto &t) { t.dimensions = {512, 1ull << 51}; }); },
       {"token_embd", "too many elements"}},
      {"type 999", unread, [] { return withTensor([](auto &t) { t.type = 999; }); }, {"number 999", "token_embd"}},
      {"Q8_K", unread, [] { return withTensor([](auto &t) { t.type = 15; }); }, {"Q8_K (15)"}},
      {"Q4_0_4_4", unread, [] { return withTensor([](auto &t) { t.type = 31; }); }, {"Q4_0_4_4 (31)"}},
      {"I2_S", unread, [] { return withTensor([](auto &t) { t.type = 36; }); }, {"I2_S (36)"}},
      {"IQ2_K", unread, [] { return withTensor([](auto &t) { t.type = 137; }); }, {"IQ2_K (137)"}},
      {"rows that are no blocks",
       damaged,
       [] { return withTensor([](auto &t) { t.dimensions = {48, 2}; }); },
       {"48 elements", "blocks of 32", "token_embd"}},
      {"offset 7", damaged, [] { return withTensor([](auto &t) { t.offset = 7; }); }, {"multiple of 32", "token_embd"}},
      {"offset behind the file",
       damaged,
       [] { return withTensor([](auto &t) { t.offset = 1ull << 40; }); },
       {"ends behind the file's", "token_embd"}},
      {"offset that wraps",
       damaged,
       [] { return withTensor([](auto &t) { t.offset = UINT64_MAX - 31; }); },
       {"ends behind the file's"}},
      {"overlap",
       damaged,
       [] { return changed([](Parts &p) { p.tensors[1].offset = 64; }); },
       {"overlaps `token_embd.weight`", "output_norm"}},
      {"tensor twice",
       damaged,
       [&] { return changed([&](Parts &p) { p.tensors[1].name = embedding; }); },
       {"occurs twice", "token_embd"}},
      {"tensor with NUL",
       damaged,
       [] { return withTensor([](auto &t) { t.name = std::string("a\0b", 3); }); },
       {"NUL"}},
      {"cut in the data",
       damaged,
       [&] { return good.substr(0, good.size() - 1); },
       {"ends behind the file's", "output_norm"}},
  };
  Directory dir;
  for (const Rule &rule : rules) {
    SCOPED_TRACE(rule.what);
    absl::StatusOr<GgufFile> file = opened(dir, rule.file());
    ASSERT_FALSE(file.ok());
    WeightProblem problem = refusal(file.status());
    EXPECT_EQ(problem.code, rule.code);
    EXPECT_TRUE(problem.byte.has_value());
    for (llvm::StringRef word : rule.says)
      EXPECT_TRUE(llvm::StringRef(problem.message).contains(word) || llvm::StringRef(problem.tensor).contains(word))
          << text(file.status());
  }
  // A store takes the name for what the file is meant to be.
  WeightProblem other = refusal(WeightStore::open(dir.write("other.gguf", "GGJT" + good.substr(4))).status());
  EXPECT_EQ(other.code, damaged);
  // A header cut anywhere is refused, whatever is cut.
  for (size_t length = 0; length < 200; ++length)
    EXPECT_EQ(refusal(opened(dir, good.substr(0, length)).status()).code, damaged) << length;
}

TEST(Gguf, ArchitectureIsAName) {
  Directory dir;
  for (const std::string &value : {valueOf("general.architecture", GgufKind::U32, 7u), textValue("x", "y"),
                                   textValue("general.architecture", "")}) {
    absl::StatusOr<GgufFile> file = opened(dir, changed([&](Parts &p) { p.values = {value}; }));
    ASSERT_TRUE(file.ok()) << text(file.status());
    WeightProblem problem = refusal(file->architecture().status());
    EXPECT_EQ(problem.code, Error::GgufDamaged);
    EXPECT_NE(problem.message.find("general.architecture"), std::string::npos);
  }
}

/// Part `number` of `count` with its own tensor.
std::string partOf(int number, int count, int tensors, const std::string &name) {
  Parts parts;
  if (number)
    parts.values.clear();
  parts.values.push_back(valueOf("split.no", GgufKind::U16, uint16_t(number)));
  parts.values.push_back(valueOf("split.count", GgufKind::U16, uint16_t(count)));
  parts.values.push_back(valueOf("split.tensors.count", GgufKind::I32, int32_t(tensors)));
  if (!name.empty())
    parts.add(name, {32, 2}, 8, std::string(2 * 34, char(number)));
  return parts.bytes();
}

TEST(Gguf, SplitFiles) {
  Directory dir;
  std::string first = dir.write("m-00001-of-00003.gguf", partOf(0, 3, 2, "")); // the first may have no tensors
  dir.write("m-00002-of-00003.gguf", partOf(1, 3, 2, "token_embd.weight"));
  std::string third = dir.write("m-00003-of-00003.gguf", partOf(2, 3, 2, "output.weight"));
  absl::StatusOr<GgufFile> file = GgufFile::open(first);
  ASSERT_TRUE(file.ok()) << text(file.status());
  ASSERT_EQ(file->tensors().size(), 2u);
  EXPECT_EQ(file->tensor("output.weight")->part, 2u);
  std::vector<uint8_t> bytes(34);
  StoredTensor stored = file->stored(*file->tensor("output.weight"));
  ASSERT_OK(stored.file->readBytes(*stored.record, 0, bytes));
  EXPECT_EQ(bytes[5], 2);
  // The store counts the parts as one file, which opens again.
  absl::StatusOr<WeightStore> store = WeightStore::open(first);
  ASSERT_TRUE(store.ok()) << text(store.status());
  EXPECT_EQ(store->files(), std::vector<std::string>{first});
  EXPECT_EQ(store->tensors().size(), 2u);
  EXPECT_OK(WeightStore::openFiles(store->files()).status());

  auto says = [&](const std::string &path, const std::string &words) {
    WeightProblem problem = refusal(GgufFile::open(path).status());
    EXPECT_EQ(problem.code, Error::GgufDamaged);
    EXPECT_NE(problem.message.find(words), std::string::npos) << problem.message;
  };
  says(third, "part 3 of 3: name the first, m-00001-of-00003.gguf");
  says(dir.write("renamed.gguf", partOf(0, 3, 2, "")), "part 1 of 3, and is not called NAME-00001-of-00003.gguf");
  dir.write("m-00003-of-00003.gguf", partOf(2, 3, 2, "token_embd.weight"));
  says(first, "the tensor is in two parts");
  dir.write("m-00003-of-00003.gguf", partOf(2, 3, 2, ""));
  says(first, "the parts have 1 tensors, it says 2");
  dir.write("m-00003-of-00003.gguf", partOf(1, 2, 2, "output.weight"));
  says(first, "m-00003-of-00003.gguf says it is part 2 of 2, part 3 of 3 is needed");
  std::filesystem::remove(third);
  says(first, "part 3 of 3 is missing: m-00003-of-00003.gguf");
  Parts odd;
  odd.values.push_back(textValue("split.count", "3"));
  says(dir.write("odd-00001-of-00003.gguf", odd.bytes()), "`split.count` is a text");
}

//===--- blocks -----------------------------------------------------------------===//

std::vector<uint32_t> bitsOf(llvm::ArrayRef<float> values) {
  std::vector<uint32_t> bits(values.size());
  std::memcpy(bits.data(), values.data(), values.size() * 4);
  return bits;
}

/// The bytes of blocks in a file, and what they mean.
struct BlockCase {
  std::string bytes;
  std::vector<float> values;
  int64_t rows = 0, features = 0;
};

BlockCase caseOf(const GgufTypeRow &type) {
  BlockCase c;
  absl::StatusOr<WeightStore> known = WeightStore::open(ggufCases + "/blocks/" + type.name + ".safetensors");
  EXPECT_TRUE(known.ok()) << text(known.status());
  const StoredTensor *bytes = known.ok() ? known->find("bytes") : nullptr;
  const StoredTensor *values = known.ok() ? known->find("values") : nullptr;
  EXPECT_TRUE(bytes && values);
  if (!bytes || !values)
    return c;
  c.bytes.resize(bytes->record->bytes);
  EXPECT_OK(known->readBytes(*bytes, 0, {reinterpret_cast<uint8_t *>(c.bytes.data()), c.bytes.size()}));
  c.values.resize(values->elements());
  EXPECT_OK(known->readF32(*values, 0, c.values));
  c.rows = values->shape()[0];
  c.features = values->shape()[1];
  return c;
}

/// The number as the blob stores it.
float stored(PackedType type, float value) {
  uint16_t bits = type == PackedType::BF16 ? toBF16(value) : toF16(value);
  float read = value;
  if (type != PackedType::F32)
    widenToF32(type == PackedType::BF16 ? StoredType::BF16 : StoredType::F16, reinterpret_cast<const uint8_t *>(&bits),
               read);
  return read;
}

TEST(Gguf, BlocksBitForBit) {
  if (!std::filesystem::exists(ggufCases))
    GTEST_SKIP() << "no cases at " << ggufCases;
  Directory dir;
  unsigned compared = 0;
  for (const GgufTypeRow &type : ggufTypes()) {
    if (!isBlocks(type.type))
      continue;
    SCOPED_TRACE(type.name);
    BlockCase c = caseOf(type);
    ASSERT_FALSE(c.values.empty());
    Parts parts;
    parts.add("token_embd.weight", {uint64_t(c.features), uint64_t(c.rows)}, type.number, c.bytes);
    absl::StatusOr<WeightStore> store = WeightStore::open(dir.write("x.gguf", parts.bytes()));
    ASSERT_TRUE(store.ok()) << text(store.status());
    const StoredTensor *got = store->find("model.embed_tokens.weight");
    ASSERT_TRUE(got && got->coded);
    std::vector<float> all(got->elements());
    ASSERT_OK(store->readF32(*got, 0, all));
    EXPECT_EQ(bitsOf(all), bitsOf(c.values));
    for (uint64_t at = 0, step = 3 * uint64_t(c.features) + 7; at < all.size(); at += step) {
      std::vector<float> some(std::min<uint64_t>(step, all.size() - at));
      ASSERT_OK(store->readF32(*got, at, some));
      ASSERT_EQ(bitsOf(some), bitsOf(llvm::ArrayRef<float>(all).slice(at, some.size())));
    }
    // The codes: sizes, codes within their bits, and the rule that numbers follow from them.
    absl::StatusOr<std::optional<CodedForm>> form = got->coded->form();
    ASSERT_TRUE(form.ok() && *form);
    EXPECT_EQ((*form)->wrong(), "");
    absl::StatusOr<CodedRows> some = got->coded->readCodes(1, 2);
    ASSERT_TRUE(some.ok()) << text(some.status());
    size_t elements = size_t(2 * c.features), groups = 2 * size_t((*form)->groups(c.features)),
           scales = 2 * size_t((*form)->scales(c.features));
    ASSERT_EQ(some->codes.size(), elements);
    EXPECT_EQ(some->scales.size(), scales);
    EXPECT_EQ(some->zeros.size(), 0u);
    EXPECT_EQ(some->minima.size(), (*form)->minima ? scales : 0);
    EXPECT_EQ(some->subScales.size(), (*form)->super ? groups : 0);
    EXPECT_EQ(some->subMinima.size(), (*form)->super && (*form)->minima ? groups : 0);
    for (float scale : some->scales)
      EXPECT_EQ(scale, stored((*form)->scale, scale));
    for (float minimum : some->minima)
      EXPECT_EQ(minimum, stored(PackedType::F16, minimum));
    for (size_t i = 0; i < elements; ++i) {
      ASSERT_LT(some->codes[i], 1u << (*form)->bits);
      size_t group = i / size_t((*form)->group);
      GroupNumbers numbers = GroupNumbers::of(**form, *some, int64_t(group / (groups / 2)),
                                              int64_t(group % (groups / 2)), int64_t(groups / 2));
      ASSERT_EQ(numbers.value(some->codes[i]), all[size_t(c.features) + i]);
    }
    EXPECT_FALSE(got->coded->readCodes(c.rows, 1).ok());
    ++compared;
  }
  EXPECT_EQ(compared, 25u);
}

TEST(Gguf, PlainTypes) {
  Directory dir;
  Parts parts;
  parts.add("token_embd.weight", {2, 2}, 28, word(0.5) + word(1 + 0x1p-40) + word(-2.0) + word(3.0)); // F64
  parts.add("output.weight", {2, 1}, 30, word(uint16_t(0x3f80)) + word(uint16_t(0xc000)));            // BF16
  absl::StatusOr<WeightStore> store = WeightStore::open(dir.write("x.gguf", parts.bytes()));
  ASSERT_TRUE(store.ok()) << text(store.status());
  std::vector<float> table(4), output(2);
  ASSERT_OK(store->readF32(*store->find("model.embed_tokens.weight"), 0, table));
  ASSERT_OK(store->readF32(*store->find("lm_head.weight"), 0, output));
  EXPECT_EQ(table, (std::vector<float>{0.5f, 1, -2, 3}));
  EXPECT_EQ(output, (std::vector<float>{1, -2}));
  parts.tensors[0].type = 27; // I64
  WeightProblem problem = refusal(WeightStore::open(dir.write("x.gguf", parts.bytes())).status());
  EXPECT_EQ(problem.code, Error::GgufDamaged);
  EXPECT_NE(problem.message.find("whole numbers (I64)"), std::string::npos) << problem.message;
}

/// What the first number of a matrix that cannot be read is called.
std::string notFinite(uint32_t type, const std::string &bytes, uint64_t features, uint64_t rows) {
  Directory dir;
  Parts parts;
  parts.add("token_embd.weight", {features, rows}, type, bytes);
  absl::StatusOr<WeightStore> store = WeightStore::open(dir.write("x.gguf", parts.bytes()));
  EXPECT_TRUE(store.ok()) << text(store.status());
  if (!store.ok())
    return "";
  const StoredTensor *tensor = store->find("model.embed_tokens.weight");
  std::vector<float> all(tensor->elements());
  absl::Status status = store->readF32(*tensor, 0, all);
  if (status.ok())
    return "";
  WeightProblem problem = refusal(status);
  EXPECT_EQ(problem.code, Error::GgufDamaged);
  EXPECT_EQ(problem.tensor, "token_embd.weight");
  if (isBlocks(findGgufType(type)->type))
    EXPECT_FALSE(tensor->coded->readCodes(0, int64_t(rows)).ok());
  return problem.message;
}

TEST(Gguf, NumbersThatAreNotFinite) {
  std::string blocks(4 * 34, '\1'); // two rows of two blocks of Q8_0
  EXPECT_EQ(notFinite(8, blocks, 64, 2), "");
  blocks.replace(3 * 34, 2, std::string("\0\x7c", 2));
  EXPECT_NE(notFinite(8, blocks, 64, 2).find("row 1, element 32"), std::string::npos);
  EXPECT_NE(notFinite(0, word(1.0f) + word(std::nanf("")), 1, 2).find("row 1, element 0"), std::string::npos);
  EXPECT_NE(notFinite(28, word(1e300), 1, 1), ""); // beyond f32
  // 2^127 times 12, 6 or 0: only what is not finite is refused.
  EXPECT_NE(notFinite(39, "\xff" + std::string(16, '\x77'), 32, 1), "");
  EXPECT_EQ(notFinite(39, "\xff" + std::string(16, '\x11'), 32, 1), "");
  EXPECT_EQ(notFinite(39, "\xff" + std::string(16, '\0'), 32, 1), "");
}

TEST(Gguf, ScaleOfAMatrix) {
  Directory dir;
  std::string block = std::string(4, '\x38') + std::string(32, '\x24'); // NVFP4: four scales of 1; codes 4 and 2
  for (float factor : {1.0f, 0.3f}) {
    Parts parts;
    parts.values[0] = textValue("general.architecture", "qwen2moe");
    parts.add("output.weight", {64, 1}, 40, block);
    parts.add("output.scale", {1}, 0, word(factor));
    parts.add("output.input_scale", {1}, 0, word(2.0f));
    parts.add("blk.0.ffn_gate_exps.weight", {64, 1, 2}, 40, block + block);
    parts.add("blk.0.ffn_gate_exps.scale", {2}, 0, word(1.0f) + word(factor));
    absl::StatusOr<WeightStore> store = WeightStore::open(dir.write("x.gguf", parts.bytes()));
    ASSERT_TRUE(store.ok()) << text(store.status());
    ASSERT_EQ(store->unneeded().size(), 1u);
    for (const char *name : {"lm_head.weight", "model.layers.0.mlp.experts.1.gate_proj.weight"}) {
      const StoredTensor *tensor = store->find(name);
      ASSERT_TRUE(tensor) << name;
      std::vector<float> all(64);
      ASSERT_OK(store->readF32(*tensor, 0, all));
      EXPECT_EQ(all[0], 2 * factor); // E2M1 4 is 2
      EXPECT_EQ(all[8], 1 * factor);
      EXPECT_EQ((*tensor->coded->form()).has_value(), factor == 1);
    }
  }
  Parts parts;
  parts.add("output.weight", {64, 1}, 40, block);
  parts.add("output.scale", {2}, 0, word(1.0f) + word(1.0f));
  WeightProblem problem = refusal(WeightStore::open(dir.write("x.gguf", parts.bytes())).status());
  EXPECT_EQ(problem.tensor, "output.scale");
  EXPECT_NE(problem.message.find("2 numbers scale `output.weight`, 1 are needed"), std::string::npos);
}

} // namespace
