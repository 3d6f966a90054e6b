//===- TensorFileTest.cpp - Tensors in files ------------------------------===//
//
// The rules of the format one by one, conversions, and the atomic writer.
//
//===----------------------------------------------------------------------===//
#include "test/Runtime/Files.h"

#include <cmath>
#include <csignal>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <sys/resource.h>
#include <sys/stat.h>

using namespace heddle;
using namespace heddle::rt;

namespace {

std::string file(const std::string &header, const std::string &data = "") {
  std::string bytes(8, '\0');
  uint64_t size = header.size();
  memcpy(bytes.data(), &size, 8);
  return bytes + header + data;
}

Status openBytes(const std::string &bytes) {
  test::TemporaryFile place;
  place.write(bytes);
  TensorFile tensors;
  return tensors.open(place.path());
}

std::string entry(const std::string &name, const std::string &type, const std::string &shape,
                  const std::string &offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + type + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}";
}

TEST(SafeTensors, Accepts) {
  for (const std::string &bytes :
       {file("{}"), file("{}   "), file("{\"__metadata__\":{\"a\":\"b\"}}"),
        file("{" + entry("x", "F32", "[2]", "[0,8]") + "}", "12345678"),
        file("{" + entry("x", "F32", "[]", "[0,4]") + "}", "1234"),
        file("{" + entry("x", "I8", "[0,5]", "[0,0]") + "," + entry("y", "I8", "[2]", "[0,2]") + "}", "12"),
        file("{ \"x\" :\n{\"shape\": [1] , \"data_offsets\":[0,1],\t\"dtype\":"
             "\"U8\"} }",
             "1"),
        file("{" + entry("b", "U8", "[1]", "[1,2]") + "," + entry("a", "U8", "[1]", "[0,1]") + "}", "12"),
        file("{" + entry("\\u0061\\ud83e\\uddf5", "U8", "[1]", "[0,1]") + "}", "1")})
    EXPECT_TRUE(openBytes(bytes).ok()) << openBytes(bytes).message();
}

TEST(SafeTensors, OtherFormatsAreNamed) {
  for (auto [bytes, name] :
       std::vector<std::pair<std::string, std::string>>{{"\x80\4\x95 pickled", "a pickle"},
                                                        {"GGUF\3", "a GGUF file"},
                                                        {"{\"input_ids\": [1]}", "JSON"},
                                                        {"\x89PNG\r\n\x1a\n", "a picture (PNG)"}}) {
    Status status = openBytes(bytes + std::string(64, '\0'));
    EXPECT_EQ(status.exit(), heddle::Exit::Input);
    EXPECT_NE(status.message().find("is " + name), std::string::npos) << status.message();
    ASSERT_EQ(status.helps().size(), 1u);
    EXPECT_NE(status.helps()[0].find("save_file"), std::string::npos);
  }
}

TEST(SafeTensors, Refuses) {
  auto one = [](const std::string &text) { return file("{" + text + "}", "1234"); };
  const std::string good = entry("x", "F32", "[1]", "[0,4]");
  for (const std::string &bytes :
       {std::string(),
        std::string("1234567"),
        file("", ""),
        file("[]"),
        file(" {}"),
        file("{"),
        file("{}x"),
        file("{}\n"),
        file("null"),
        std::string("\xff\xff\xff\xff\xff\xff\xff\x7f{}"),
        std::string("\x10\0\0\0\0\0\0\0{}", 10),
        file("{\"x\":1}"),
        file("{" + good + "}", "123"),
        file("{" + good + "}", "12345"),
        one(good + "," + good),
        one(good + ","),
        one(entry("x", "F32", "[1]", "[0,4]") + "," + entry("\\u0078", "F32", "[1]", "[0,4]")),
        one(entry("x", "F31", "[1]", "[0,4]")),
        one(entry("x", "F32", "[2]", "[0,4]")),
        one(entry("x", "F32", "[-1]", "[0,4]")),
        one(entry("x", "F32", "[1.0]", "[0,4]")),
        one(entry("x", "F32", "[1e0]", "[0,4]")),
        one(entry("x", "F32", "[01]", "[0,4]")),
        one(entry("x", "F32", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "[0,4]")),
        one(entry("x", "F32", "[9223372036854775807,4]", "[0,4]")),
        one(entry("x", "F32", "[9223372036854775808]", "[0,4]")),
        one(entry("x", "F32", "[4611686018427387904,2]", "[0,4]")),
        one(entry("x", "F32", "[1]", "[4,0]")),
        one(entry("x", "F32", "[1]", "[0,4,4]")),
        one(entry("x", "F32", "[1]", "[0]")),
        one(entry("x", "F32", "[1]", "[1,5]")),
        one(entry("x", "U8", "[2]", "[0,2]") + "," + entry("y", "U8", "[2]", "[1,3]")),
        one(entry("x", "U8", "[1]", "[0,1]") + "," + entry("y", "U8", "[2]", "[2,4]")),
        one("\"x\":{\"dtype\":\"F32\",\"shape\":[1]}"),
        one("\"x\":{\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[1],"
            "\"data_offsets\":[0,4]}"),
        one("\"x\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4],"
            "\"extra\":1}"),
        one("\"__metadata__\":{\"a\":1}," + good),
        one("\"__metadata__\":{\"a\":\"1\",\"a\":\"2\"}," + good),
        one("\"__metadata__\":{},\"__metadata__\":{}," + good),
        one(entry("x\\u0000", "F32", "[1]", "[0,4]")),
        one(entry("x\\ud800", "F32", "[1]", "[0,4]")),
        one(entry("x\\q", "F32", "[1]", "[0,4]")),
        one(entry("x\xff", "F32", "[1]", "[0,4]")),
        one(entry(std::string(5000, 'x'), "F32", "[1]", "[0,4]"))}) {
    Status status = openBytes(bytes);
    EXPECT_EQ(status.exit(), heddle::Exit::Input) << bytes.substr(0, 200);
    EXPECT_EQ(status.message().find('\x1b'), std::string::npos);
  }
}

// The reader is the compiler's (test/Weights/HeaderTest.cpp has its rules); here is what a program says.
TEST(SafeTensors, RefusalsSayWhereAndWhatHelps) {
  Status status = openBytes(file("{" + entry("x", "F32", "[NaN]", "[0,4]") + "}", "1234"));
  EXPECT_NE(status.message().find("NaN and Infinity are not JSON (byte 37, tensor `x`)"), std::string::npos)
      << status.message();
  ASSERT_EQ(status.helps().size(), 1u);
  EXPECT_EQ(status.helps()[0], "write the file again with the safetensors library");
  status = openBytes(std::string("\x10\0\0\0\0\0\0\0{}", 10));
  EXPECT_NE(status.message().find("the header would be 16 bytes long, but only 2 follow"), std::string::npos)
      << status.message();
}

TEST(SafeTensors, DamagedFilesNeverCrash) {
  std::string good =
      file("{" + entry("a", "F32", "[2,1]", "[0,8]") + "," + entry("b", "BF16", "[2]", "[8,12]") + "}", "123456781234");
  std::mt19937 random(7);
  int accepted = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = good;
    for (unsigned k = random() % 3 + 1; k; --k)
      bytes[random() % bytes.size()] = char(random());
    if (i % 3 == 0)
      bytes.resize(random() % bytes.size());
    auto accepts = [&](size_t length) {
      base::HeaderTable table;
      std::string_view header = std::string_view(bytes).substr(8, length);
      return !base::readHeader(header, 8 + header.size() + 12, {}, table);
    };
    if (bytes.size() >= 8) {
      size_t header = bytes.size() - 8;
      accepted += accepts(header ? random() % header : 0);
      accepted += accepts(std::min(header, good.size() - 20));
    }
  }
  EXPECT_LT(accepted, 3000);
}

TEST(SafeTensors, NoRegularFile) {
  TensorFile tensors;
  EXPECT_EQ(tensors.open("/dev/null").exit(), heddle::Exit::Input);
  TensorFile folder;
  EXPECT_EQ(folder.open("/").exit(), heddle::Exit::Input);
  TensorFile absent;
  EXPECT_EQ(absent.open("/nowhere/at/all").exit(), heddle::Exit::InputOutput);
}

template <typename T>
Status readAs(const std::string &type, const std::string &data, Type wanted, std::vector<T> &out, size_t count) {
  test::TemporaryFile place;
  place.write(
      file("{" + entry("x", type, "[" + std::to_string(count) + "]", "[0," + std::to_string(data.size()) + "]") + "}",
           data));
  TensorFile tensors;
  Status status = tensors.open(place.path());
  if (!status.ok())
    return status;
  out.resize(count);
  return tensors.read(*tensors.find("x"), wanted, out.data());
}

template <typename T> std::string bytesOf(std::vector<T> values) {
  return std::string(reinterpret_cast<char *>(values.data()), values.size() * sizeof(T));
}

TEST(SafeTensors, Converts) {
  std::vector<float> f;
  std::vector<int64_t> i;
  std::vector<char> b;
  ASSERT_TRUE(readAs("F64", bytesOf<double>({0.5, -3}), Type::F32, f, 2).ok());
  EXPECT_EQ(f, (std::vector<float>{0.5f, -3.0f}));
  ASSERT_TRUE(readAs("F16", bytesOf<uint16_t>({0x3c00, 0xc000, 0x0001, 0x7c00}), Type::F32, f, 4).ok());
  EXPECT_EQ(f[0], 1.0f);
  EXPECT_EQ(f[1], -2.0f);
  EXPECT_EQ(f[2], 0x1p-24f);
  EXPECT_TRUE(std::isinf(f[3]));
  ASSERT_TRUE(readAs("BF16", bytesOf<uint16_t>({0x3f80, 0xc000}), Type::F32, f, 2).ok());
  EXPECT_EQ(f, (std::vector<float>{1.0f, -2.0f}));
  ASSERT_TRUE(readAs("I32", bytesOf<int32_t>({-5, 7}), Type::I64, i, 2).ok());
  EXPECT_EQ(i, (std::vector<int64_t>{-5, 7}));
  ASSERT_TRUE(readAs("U8", bytesOf<uint8_t>({200, 1}), Type::I64, i, 2).ok());
  EXPECT_EQ(i[0], 200);
  ASSERT_TRUE(readAs("BOOL", bytesOf<uint8_t>({1, 0}), Type::I64, i, 2).ok());
  EXPECT_EQ(i, (std::vector<int64_t>{1, 0}));
  ASSERT_TRUE(readAs("I64", bytesOf<int64_t>({1, 0}), Type::Bool, b, 2).ok());
  EXPECT_EQ(b, (std::vector<char>{1, 0}));
  ASSERT_TRUE(readAs("I64", bytesOf<int64_t>({3, 4}), Type::F32, f, 2).ok());
  EXPECT_EQ(f, (std::vector<float>{3, 4}));
  // What could change the meaning.
  EXPECT_FALSE(readAs("F32", bytesOf<float>({3, 4}), Type::I64, i, 2).ok());
  EXPECT_FALSE(readAs("F32", bytesOf<float>({0.5}), Type::I64, i, 1).ok());
  EXPECT_FALSE(readAs("F32", bytesOf<float>({NAN}), Type::I64, i, 1).ok());
  EXPECT_FALSE(readAs("I64", bytesOf<int64_t>({2}), Type::Bool, b, 1).ok());
  EXPECT_FALSE(readAs("BOOL", bytesOf<uint8_t>({2}), Type::Bool, b, 1).ok());
  EXPECT_FALSE(readAs("U64", bytesOf<uint64_t>({~0ull}), Type::I64, i, 1).ok());
  EXPECT_FALSE(readAs("C64", bytesOf<uint64_t>({0}), Type::F32, f, 1).ok());
}

TEST(SafeTensors, RoundTrip) {
  Tensor a = test::makeTensor("a \"quoted\"\n", {2, 2}, {1, -2, 3, 4});
  Tensor b = test::makeTensor("empty", {0, 3}, {});
  Tensor c = test::makeTensor("scalar", {}, {9});
  test::TemporaryFile place;
  ASSERT_TRUE(writeTensors(place.path(), {&a, &b, &c}).ok());
  TensorFile file;
  Status status = file.open(place.path());
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(file.tensors().size(), 3u);
  int64_t values[4];
  ASSERT_TRUE(file.read(file.tensors()[0], Type::I64, values).ok());
  EXPECT_EQ(file.tensors()[0].name, "a \"quoted\"\n");
  EXPECT_EQ(values[1], -2);
  EXPECT_EQ(file.tensors()[1].shape, (Shape{0, 3}));
  EXPECT_TRUE(file.tensors()[2].shape.empty());
}

// What numpy reads and writes is test/Execution/arrays.py; here are the sizes that no model has.
TEST(Arrays, RoundTrip) {
  Tensor a = test::makeTensor("a/\u00fc", {2, 2}, {1, -2, 3, 4});
  Tensor b = test::makeTensor("empty", {0, 3}, {});
  Tensor c = test::makeTensor("scalar", {}, {9});
  std::string path = test::TemporaryFile().path() + ".npz";
  ASSERT_TRUE(writeTensors(path, {&a, &b, &c}).ok());
  TensorFile file;
  Status status = file.open(path);
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(file.tensors().size(), 3u);
  int64_t values[4];
  ASSERT_TRUE(file.read(*file.find("a/\u00fc"), Type::I64, values).ok());
  EXPECT_EQ(values[1], -2);
  EXPECT_EQ(file.find("empty")->shape, (Shape{0, 3}));
  EXPECT_TRUE(file.read(*file.find("empty"), Type::I64, nullptr).ok());
  EXPECT_TRUE(file.find("scalar")->shape.empty());
  ASSERT_TRUE(file.read(*file.find("scalar"), Type::I64, values).ok());
  EXPECT_EQ(values[0], 9);
  unlink(path.c_str());
}

TEST(Arrays, HeadersAreThoseOfNumpy) {
  for (auto [shape, text] : std::vector<std::pair<Shape, std::string>>{
           {{}, "()"}, {{3}, "(3,)"}, {{0, 3}, "(0, 3)"}, {{2, 3, 4}, "(2, 3, 4)"}}) {
    std::string header = base::arrayHeaderText("I64", shape);
    EXPECT_EQ(header.size() % 64, 0u);
    EXPECT_EQ(header.back(), '\n');
    EXPECT_NE(header.find("{'descr': '<i8', 'fortran_order': False, 'shape': " + text + ", }"), std::string::npos)
        << header;
    base::ArrayHeader read;
    EXPECT_FALSE(base::readArrayHeader(header, read));
    EXPECT_EQ(read.shape, shape);
    EXPECT_EQ(read.type, "I64");
  }
}

// No test writes 4 GiB: the sizes of large members are compared in the bytes around them.
TEST(Arrays, LargeMembersHaveWideSizes) {
  base::ZipWriter zip;
  uint64_t size = (uint64_t(5) << 30) + 3;
  std::string first = zip.member("a.npy", 1, size), second = zip.member("b.npy", 2, 7), end = zip.directory();
  EXPECT_EQ(first.size(), 30u + 5 + 20); // name, and two sizes of 8 bytes behind 4
  EXPECT_EQ(second.size(), 30u + 5);
  struct Sparse final : base::ByteSource {
    std::vector<std::pair<uint64_t, std::string>> parts;
    uint64_t bytes = 0;
    uint64_t size() const override { return bytes; }
    base::ArrayResult read(void *out, uint64_t count, uint64_t at) const override {
      memset(out, 0, count);
      for (const auto &[begin, text] : parts)
        for (uint64_t i = 0; i < text.size(); ++i)
          if (begin + i >= at && begin + i < at + count)
            static_cast<char *>(out)[begin + i - at] = text[i];
      return std::nullopt;
    }
  } source;
  uint64_t behind = first.size() + size;
  source.parts = {{0, first}, {behind, second}, {behind + second.size() + 7, end}};
  source.bytes = behind + second.size() + 7 + end.size();
  std::vector<base::ZipMember> members;
  auto problem = base::readZipDirectory(source, members);
  ASSERT_FALSE(problem) << problem->message;
  ASSERT_EQ(members.size(), 2u);
  EXPECT_EQ(members[0].bytes, size);
  EXPECT_EQ(members[1].start, behind + second.size());
}

TEST(AtomicOutput, OldFileSurvivesFailure) {
  Tensor big = test::makeTensor("x", {100000}, std::vector<int64_t>(100000, 1));
  std::string folder = "/tmp/heddle-atomic-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  std::string path = folder + "/out";
  Tensor small = test::makeTensor("x", {1}, {5});
  ASSERT_TRUE(writeTensors(path, {&small}).ok());
  struct rlimit old, limit;
  getrlimit(RLIMIT_FSIZE, &old);
  limit = old;
  limit.rlim_cur = 4096;
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &limit);
  Status status = writeTensors(path, {&big});
  setrlimit(RLIMIT_FSIZE, &old);
  EXPECT_EQ(status.exit(), heddle::Exit::Resources);
  TensorFile file;
  ASSERT_TRUE(file.open(path).ok());
  EXPECT_EQ(file.tensors()[0].shape, (Shape{1}));
  EXPECT_EQ(unlink(path.c_str()), 0);
  EXPECT_EQ(rmdir(folder.c_str()), 0) << "something was left over";
  EXPECT_EQ(writeTensors("/nowhere/at/all", {&small}).exit(), heddle::Exit::InputOutput);
  EXPECT_EQ(writeTensors("/tmp", {&small}).exit(), heddle::Exit::InputOutput);
  EXPECT_TRUE(writeTensors("/dev/null", {&small}).ok());
  EXPECT_EQ(writeTensors("/dev/full", {&small}).exit(), heddle::Exit::Resources);
}

} // namespace
