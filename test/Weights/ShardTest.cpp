// Rule S25: an index and its shards must agree, and an index opens nothing but plain
// files beside it.
#include "compiler/Weights/Safetensors/ShardIndex.h"
#include "test/Weights/Support.h"
#include <sys/stat.h>
#include <unistd.h>

using namespace heddle;
using namespace heddle::test;

namespace {

const std::string partA = goodFile({{"a", "U8", {2}, "aa"}, {"b", "U8", {1}, "b"}});
const std::string partB = goodFile({{"c", "F32", {1}, "cccc"}});

std::string indexOf(const std::string &map, const std::string &size = "7") {
  return R"({"metadata":{"total_size":)" + size + R"(},"weight_map":{)" + map + "}}";
}

const std::string rightMap = R"("a":"1.safetensors","b":"1.safetensors","c":"2.safetensors")";

class Shards : public testing::Test {
protected:
  void SetUp() override {
    dir.write("1.safetensors", partA);
    dir.write("2.safetensors", partB);
  }
  absl::StatusOr<WeightStore> with(const std::string &index) {
    dir.write("model.safetensors.index.json", index);
    return WeightStore::open(dir.path);
  }
  WeightProblem refused(const std::string &index) {
    auto store = with(index);
    EXPECT_FALSE(store.ok()) << index;
    return store.ok() ? WeightProblem() : refusal(store.status());
  }
  Directory dir;
};

TEST_F(Shards, AgreeingOnesMakeOneStore) {
  auto store = with(indexOf(rightMap));
  ASSERT_OK(store.status());
  EXPECT_EQ(store->names(), (std::vector<llvm::StringRef>{"a", "b", "c"}));
  EXPECT_EQ(store->files().size(), 2u);
  EXPECT_TRUE(llvm::StringRef(store->find("c")->file->path()).ends_with("/2.safetensors"));
  auto byIndex = WeightStore::open(dir / "model.safetensors.index.json");
  EXPECT_OK(byIndex.status());
  // The order of the map is chance.
  store = with(indexOf(R"("c":"2.safetensors","b":"1.safetensors","a":"1.safetensors")"));
  ASSERT_OK(store.status());
  EXPECT_TRUE(llvm::StringRef(store->files()[0]).ends_with("/1.safetensors"));
}

TEST_F(Shards, SizesMayBeWrittenAsReals) {
  EXPECT_OK(with(indexOf(rightMap, "7.0")).status());
  // Nothing needs the sum, and it is often wrong: a remark where it is a number, a note where it is none.
  for (const char *size : {"7.5", "-7", "\"7\"", "null", "[7, {}]", "{\"a\": [7]}"}) {
    auto store = with(indexOf(rightMap, size));
    ASSERT_OK(store.status());
    EXPECT_TRUE(store->remarks().empty()) << size;
  }
  for (const char *size : {"8", "6"}) {
    auto store = with(indexOf(rightMap, size));
    ASSERT_OK(store.status());
    ASSERT_EQ(store->remarks().size(), 1u);
    EXPECT_NE(store->remarks()[0].find("total_size"), std::string::npos);
  }
  EXPECT_OK(with(R"({"weight_map":{)" + rightMap + "}}").status());
}

TEST_F(Shards, OtherNotesAndKeysAreAllowed) {
  auto store = with(R"({"metadata":{"total_size":7,"x":{"y":[1,null,true]}},"weight_map":{)" + rightMap +
                    R"(},"extra":[{"a":1}]})");
  ASSERT_OK(store.status());
  EXPECT_EQ(store->names().size(), 3u);
}

TEST_F(Shards, PlacesThatDoNoHarmAreRemarks) {
  // Listed in the wrong shard, not listed, listed but absent; listed twice is an error.
  auto remark = [&](const std::string &map) {
    auto store = with(indexOf(map));
    EXPECT_OK(store.status());
    EXPECT_EQ(store->names().size(), 3u);
    EXPECT_EQ(store->remarks().size(), 1u);
    return store->remarks().empty() ? std::string() : store->remarks()[0];
  };
  EXPECT_NE(remark(R"("a":"2.safetensors","b":"1.safetensors","c":"2.safetensors")").find("another shard"),
            std::string::npos);
  EXPECT_NE(remark(R"("a":"1.safetensors","c":"2.safetensors")").find("does not list"), std::string::npos);
  EXPECT_NE(remark(rightMap + R"(,"d":"2.safetensors")").find("no shard has: d"), std::string::npos);
  WeightProblem problem = refused(indexOf(rightMap + R"(,"\u0061":"1.safetensors")"));
  EXPECT_EQ(problem.tensor, "a");
}

TEST_F(Shards, ATensorInTwoShards) {
  dir.write("2.safetensors", goodFile({{"c", "F32", {1}, "cccc"}, {"a", "U8", {2}, "aa"}}));
  auto chosen = with(indexOf(rightMap, "9"));
  ASSERT_OK(chosen.status());
  ASSERT_EQ(chosen->remarks().size(), 1u);
  EXPECT_NE(chosen->remarks()[0].find("not read: a"), std::string::npos);
  EXPECT_EQ(chosen->find("a")->file->path(), dir / "1.safetensors");
  // The files that a stage names open in the same way.
  auto again = WeightStore::openFiles(chosen->files());
  ASSERT_OK(again.status());
  EXPECT_EQ(again->find("a")->file->path(), dir / "1.safetensors");
  auto both = WeightStore::openFiles({dir / "1.safetensors", dir / "2.safetensors"});
  ASSERT_FALSE(both.ok());
  EXPECT_EQ(refusal(both.status()).tensor, "a");
}

TEST_F(Shards, MissingAndBrokenShardsAreNamed) {
  WeightProblem problem = refused(indexOf(rightMap + R"(,"d":"3.safetensors")"));
  EXPECT_EQ(problem.code, Error::PartMissing);
  EXPECT_NE(problem.file.find("3.safetensors"), std::string::npos);
  dir.write("2.safetensors", partB + "x");
  problem = refused(indexOf(rightMap));
  EXPECT_EQ(problem.rule, "S20");
  EXPECT_NE(problem.file.find("2.safetensors"), std::string::npos);
}

TEST_F(Shards, NoPathLeadsOut) {
  // Files that exist, so that only the check of the name can refuse them.
  Directory outside;
  outside.write("x.safetensors", partA);
  mkdir((dir / "sub").c_str(), 0700);
  dir.write("sub/x.safetensors", partA);
  std::string escaped;
  for (std::string name : {"../" + outside.path.substr(outside.path.rfind('/') + 1) + "/x.safetensors",
                           outside / "x.safetensors",
                           std::string("sub/x.safetensors"),
                           std::string("./1.safetensors"),
                           std::string("/etc/passwd"),
                           std::string("..//..//etc/passwd"),
                           std::string(""),
                           std::string("."),
                           std::string(".."),
                           std::string("../"),
                           std::string("..\\\\x.safetensors"),
                           std::string("C:\\\\x.safetensors"),
                           std::string("1.safetensors\\u0000"),
                           std::string("1.safetensors\\u0000.safetensors"),
                           std::string("\\u002e\\u002e\\u002fx.safetensors"),
                           std::string("a\\nb.safetensors"),
                           std::string("a\\u007fb.safetensors"),
                           std::string("pytorch_model-1.bin"),
                           std::string("1.safetensors/"),
                           std::string("model.safetensors.index.json"),
                           std::string(300, 'n') + ".safetensors"}) {
    WeightProblem problem = refused(indexOf(R"("a":")" + name + R"(","b":"1.safetensors","c":"2.safetensors")"));
    EXPECT_EQ(problem.rule, "S25") << name;
    EXPECT_EQ(problem.tensor, "a") << name;
    EXPECT_NE(problem.file.find("index.json"), std::string::npos);
  }
}

TEST_F(Shards, NoPipesDevicesDirectoriesOrDeadLinks) {
  ASSERT_EQ(mkfifo((dir / "3.safetensors").c_str(), 0600), 0);
  EXPECT_EQ(refused(indexOf(rightMap + R"(,"d":"3.safetensors")")).rule, "S01");
  ASSERT_EQ(symlink("/dev/zero", (dir / "4.safetensors").c_str()), 0);
  EXPECT_EQ(refused(indexOf(rightMap + R"(,"d":"4.safetensors")")).rule, "S01");
  ASSERT_EQ(mkdir((dir / "5.safetensors").c_str(), 0700), 0);
  EXPECT_EQ(refused(indexOf(rightMap + R"(,"d":"5.safetensors")")).rule, "S01");
  ASSERT_EQ(symlink("gone", (dir / "6.safetensors").c_str()), 0);
  EXPECT_EQ(refused(indexOf(rightMap + R"(,"d":"6.safetensors")")).code, Error::PartMissing);
  ASSERT_EQ(symlink("7.safetensors", (dir / "7.safetensors").c_str()), 0);
  EXPECT_EQ(refused(indexOf(rightMap + R"(,"d":"7.safetensors")")).code, Error::PartMissing);
  unlink((dir / "model.safetensors.index.json").c_str());
  ASSERT_EQ(mkfifo((dir / "model.safetensors.index.json").c_str(), 0600), 0);
  auto store = WeightStore::open(dir.path);
  ASSERT_FALSE(store.ok());
  EXPECT_EQ(refusal(store.status()).rule, "S01");
}

TEST_F(Shards, HardLinksAndSoftLinksToRealFilesAreFine) {
  ASSERT_EQ(rename((dir / "2.safetensors").c_str(), (dir / "blob").c_str()), 0);
  ASSERT_EQ(symlink("blob", (dir / "2.safetensors").c_str()), 0);
  EXPECT_OK(with(indexOf(rightMap)).status());
  unlink((dir / "2.safetensors").c_str());
  ASSERT_EQ(link((dir / "blob").c_str(), (dir / "2.safetensors").c_str()), 0);
  EXPECT_OK(with(indexOf(rightMap)).status());
}

TEST_F(Shards, BrokenIndexes) {
  for (std::string index :
       {std::string("{}"), std::string("[]"), std::string("{\"weight_map\":[]}"), std::string("{\"weight_map\":\"x\"}"),
        std::string("{\"weight_map\":1}"), indexOf(rightMap) + "}", indexOf(rightMap) + std::string("\0x", 2),
        indexOf(R"("a":1)"), indexOf(R"("a":null)"), indexOf(R"("a":["1.safetensors"])"),
        indexOf(R"("a":{"b":"1.safetensors"})"), std::string("{\"weight_map\":{\"a\":\"\xff\"}}"),
        R"({"weight_map":{},"weight_map":{)" + rightMap + "}}",
        R"({"metadata":{"total_size":7,"total_size":7},"weight_map":{)" + rightMap + "}}",
        R"({"metadata":7,"weight_map":{)" + rightMap + "}}", "{\"x\":" + std::string(100000, '[')}) {
    WeightProblem problem = refused(index);
    EXPECT_EQ(problem.rule, "S25") << index.substr(0, 100);
    EXPECT_TRUE(problem.byte.has_value());
  }
  EXPECT_EQ(refused("version https://git-lfs.github.com/spec/v1\n").code, Error::LfsPointer);
  EXPECT_EQ(refused("").rule, "S25");
}

TEST_F(Shards, AWholeFileGoesBeforeAnIndex) {
  dir.write("model.safetensors", partB);
  auto store = with(indexOf(rightMap));
  ASSERT_OK(store.status());
  EXPECT_EQ(store->names().size(), 1u);
}

} // namespace
