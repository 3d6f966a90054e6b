// Rule S01, the files that are something else, and files that change while they are read.
#include "compiler/Weights/Safetensors/KnownFiles.h"
#include "test/Weights/Support.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace heddle;
using namespace heddle::test;

namespace {

WeightProblem refusedFile(const std::string &path) {
  auto store = WeightStore::open(path);
  EXPECT_FALSE(store.ok()) << path;
  return store.ok() ? WeightProblem() : refusal(store.status());
}

TEST(Input, S01ShortFiles) {
  Directory dir;
  EXPECT_EQ(refusedFile(dir.write("a", "")).rule, "S01");
  EXPECT_EQ(refusedFile(dir.write("b", "1234567")).rule, "S01");
  EXPECT_EQ(refusedFile(dir.write("c", lengthWord(0))).rule, "S04");
  EXPECT_OK(WeightStore::open(dir.write("d", fileOf("{}", ""))).status());
}

TEST(Input, S01OnlyRegularFilesAndNoWaiting) {
  Directory dir;
  ASSERT_EQ(mkfifo((dir / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(refusedFile(dir / "pipe").rule, "S01");
  EXPECT_EQ(refusedFile("/dev/zero").rule, "S01");
  ASSERT_EQ(symlink("/dev/zero", (dir / "link").c_str()), 0);
  EXPECT_EQ(refusedFile(dir / "link").rule, "S01");
  EXPECT_EQ(refusedFile(dir / "absent").code, Error::PartMissing);
  ASSERT_EQ(symlink("loop", (dir / "loop").c_str()), 0);
  EXPECT_EQ(refusedFile(dir / "loop").code, Error::PartMissing);
  EXPECT_EQ(refusedFile(std::string("a\0b", 3)).code, Error::PartMissing);
}

TEST(Input, LinksThatUsersMakeAreFollowed) {
  // The cache of huggingface_hub is made of them.
  Directory dir;
  dir.write("blob", fileOf("{}", ""));
  ASSERT_EQ(symlink("blob", (dir / "model.safetensors").c_str()), 0);
  EXPECT_OK(WeightStore::open(dir.path).status());
}

TEST(Input, WrongFilesAreRecognised) {
  Directory dir;
  struct Case {
    std::string bytes;
    Error code;
    std::string helps;
  };
  std::string tar(600, '\0');
  tar.replace(257, 5, "ustar");
  std::string gguf = std::string("lmgg\x03\0\0\0", 8) + std::string(100, '\0');
  for (const Case &c : std::vector<Case>{
           {"version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 5\n", Error::LfsPointer, "git lfs pull"},
           {"<!DOCTYPE html><html></html>", Error::HtmlPage, "/resolve/"},
           {"\n  <HTML><body>404</body>", Error::HtmlPage, "/resolve/"},
           {std::string("\x80\x02}q\0.", 6), Error::Pickle, "save_file"},
           {"PK\x03\x04 archive/data.pkl", Error::Pickle, "save_file"},
           {"PK\x03\x04 weights.npy", Error::OtherKind, "save_file"},
           {gguf, Error::Gguf, "make a GGUF file"},
           {"\x1f\x8b\x08 deflated", Error::Packed, "gunzip"},
           {"\xfd"
            "7zXZ",
            Error::Packed, "unxz"},
           {"BZh9", Error::Packed, "bunzip2"},
           {"\x28\xb5\x2f\xfd", Error::Packed, "unzstd"},
           {tar, Error::Packed, "tar xf"},
           {"\x89HDF\r\n\x1a\n", Error::OtherKind, "safetensors"},
           {"\x93NUMPY\x01", Error::OtherKind, "save_file"},
           {"{\"error\":\"Repository not found\"}", Error::OtherJson, "server"},
           {"{\"weight_map\":{}}", Error::OtherJson, "index.json"}}) {
    WeightProblem problem = refusedFile(dir.write("model.safetensors", c.bytes));
    EXPECT_EQ(problem.code, c.code) << c.bytes;
    EXPECT_NE(problem.help.find(c.helps), std::string::npos) << problem.help;
  }
}

TEST(Input, RealFilesAreNeverTakenForOthers) {
  // Header lengths whose bytes look like the magic numbers.
  for (std::string magic : {"\x1f\x8b", "\x80\x02", "PK\x03\x04", "BZh"}) {
    std::string first = magic;
    first.resize(8);
    EXPECT_FALSE(recogniseWrongFile(first + "{\"a\":", "m").has_value());
  }
}

TEST(Input, TruncatedDownloads) {
  Directory dir;
  std::string whole = goodFile({{"a", "F32", {4}, std::string(16, 'x')}});
  for (size_t size = 0; size < whole.size(); ++size) {
    WeightProblem problem = refusedFile(dir.write("m.safetensors", whole.substr(0, size)));
    EXPECT_TRUE(problem.rule == "S01" || problem.rule == "S02" || problem.rule == "S17") << size << " " << problem.rule;
    EXPECT_NE(problem.help.find("fetch"), std::string::npos) << problem.help;
  }
}

TEST(Input, DirectoriesWithoutWeightsSayWhatTheyHold) {
  Directory dir;
  EXPECT_EQ(refusedFile(dir.path).code, Error::NoWeights);
  dir.write("model.gguf", "GGUF");
  EXPECT_NE(refusedFile(dir.path).message.find("model.gguf"), std::string::npos);
  dir.write("pytorch_model.bin", "PK");
  WeightProblem problem = refusedFile(dir.path);
  EXPECT_EQ(problem.code, Error::Pickle);
  EXPECT_NE(problem.message.find("pytorch_model.bin"), std::string::npos);
  dir.write("other.safetensors", "");
  EXPECT_NE(refusedFile(dir.path).help.find("--weights"), std::string::npos);
}

TEST(Input, ShrinkingWhileReadIsAnErrorNotASignal) {
  Directory dir;
  std::string bytes = goodFile({{"a", "F32", {1 << 16}, std::string(1 << 18, 'x')}});
  for (int round = 0; round < 200; ++round) {
    std::string path = dir.write("m.safetensors", bytes);
    auto store = WeightStore::open(path);
    ASSERT_OK(store.status());
    const StoredTensor *a = store->find("a");
    std::vector<float> values(1 << 16);
    std::thread cutter([&] {
      for (int spin = 0; spin < round * 20; ++spin)
        asm volatile("");
      (void)!truncate(path.c_str(), 100 + round * 997);
    });
    absl::Status status;
    for (int i = 0; i < 20 && status.ok(); ++i)
      status = store->readF32(*a, 0, values);
    cutter.join();
    if (status.ok())
      status = store->recheck();
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(std::string(codeOf(refusal(status).code)).substr(0, 3), "H01");
  }
}

TEST(Input, ChangesAreNoticedAtTheEnd) {
  Directory dir;
  std::string bytes = goodFile({{"a", "U8", {4}, "abcd"}});
  std::string path = dir.write("m.safetensors", bytes);
  auto store = WeightStore::open(path);
  ASSERT_OK(store.status());
  EXPECT_OK(store->recheck());
  std::ofstream(path, std::ios::app) << "x";
  EXPECT_EQ(refusal(store->recheck()).code, Error::FileChanged);
}

TEST(Input, ReadsOutsideOfATensorAreRefused) {
  Directory dir;
  auto store =
      WeightStore::open(dir.write("m.safetensors", goodFile({{"a", "U8", {4}, "abcd"}, {"f", "F32", {1}, "abcd"}})));
  ASSERT_OK(store.status());
  std::vector<uint8_t> bytes(3);
  std::vector<int64_t> words(1);
  EXPECT_OK(store->readBytes(*store->find("a"), 1, bytes));
  EXPECT_EQ(bytes, (std::vector<uint8_t>{'b', 'c', 'd'}));
  EXPECT_FALSE(store->readBytes(*store->find("a"), 2, bytes).ok());
  EXPECT_FALSE(store->readBytes(*store->find("a"), UINT64_MAX, bytes).ok());
  EXPECT_FALSE(store->readI64(*store->find("f"), 0, words).ok());
}

} // namespace
