// Rule S01, the files that are something else, and files that change while they are read.
#include "compiler/Weights/KnownFiles.h"
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
  EXPECT_EQ(refusedFile(dir / "absent").code, "H0101");
  ASSERT_EQ(symlink("loop", (dir / "loop").c_str()), 0);
  EXPECT_EQ(refusedFile(dir / "loop").code, "H0101");
  EXPECT_EQ(refusedFile(std::string("a\0b", 3)).code, "H0101");
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
    std::string bytes, code, helps;
  };
  std::string tar(600, '\0');
  tar.replace(257, 5, "ustar");
  std::string gguf = std::string("GGUF\x03\0\0\0", 8) + std::string(100, '\0');
  for (const Case &c : std::vector<Case>{
           {"version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 5\n", "H0231",
            "git lfs pull"},
           {"<!DOCTYPE html><html></html>", "H0232", "/resolve/"},
           {"\n  <HTML><body>404</body>", "H0232", "/resolve/"},
           {std::string("\x80\x02}q\0.", 6), "H0233", "save_file"},
           {"PK\x03\x04 archive/data.pkl", "H0233", "save_file"},
           {"PK\x03\x04 weights.npy", "H0238", "save_file"},
           {gguf, "H0234", "safetensors files"},
           {"\x1f\x8b\x08 deflated", "H0235", "gunzip"},
           {"\xfd" "7zXZ", "H0235", "unxz"},
           {"BZh9", "H0235", "bunzip2"},
           {"\x28\xb5\x2f\xfd", "H0235", "unzstd"},
           {tar, "H0235", "tar xf"},
           {"\x89HDF\r\n\x1a\n", "H0238", "safetensors"},
           {"\x93NUMPY\x01", "H0238", "save_file"},
           {"{\"error\":\"Repository not found\"}", "H0237", "server"},
           {"{\"weight_map\":{}}", "H0237", "index.json"}}) {
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
    EXPECT_TRUE(problem.rule == "S01" || problem.rule == "S02" || problem.rule == "S17")
        << size << " " << problem.rule;
    EXPECT_NE(problem.help.find("fetch"), std::string::npos) << problem.help;
  }
}

TEST(Input, DirectoriesWithoutWeightsSayWhatTheyHold) {
  Directory dir;
  EXPECT_EQ(refusedFile(dir.path).code, "H0105");
  dir.write("model.gguf", "GGUF");
  EXPECT_NE(refusedFile(dir.path).message.find("model.gguf"), std::string::npos);
  dir.write("pytorch_model.bin", "PK");
  WeightProblem problem = refusedFile(dir.path);
  EXPECT_EQ(problem.code, "H0233");
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
    EXPECT_EQ(refusal(status).code.substr(0, 3), "H01");
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
  EXPECT_EQ(refusal(store->recheck()).code, "H0104");
}

TEST(Input, ReadsOutsideOfATensorAreRefused) {
  Directory dir;
  auto store = WeightStore::open(
      dir.write("m.safetensors", goodFile({{"a", "U8", {4}, "abcd"},
                                           {"f", "F32", {1}, "abcd"}})));
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
