// The object as the linker and the processor see it: linked into a small C program, the
// bytes are where the symbols say; both machines; the same bytes every time.
#include "compiler/Weights/Pack/WeightsObject.h"
#include "heddle/seal.h"
#include "test/Weights/Support.h"
#include <unistd.h>

using namespace heddle;
using namespace heddle::test;

namespace {

/// Exit status and output of a command.
std::pair<int, std::string> shell(const std::string &command) {
  FILE *pipe = popen((command + " 2>&1").c_str(), "r");
  std::string out;
  char buffer[4096];
  for (size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    out.append(buffer, n);
  return {pclose(pipe), out};
}

class Object : public testing::Test {
protected:
  void SetUp() override {
    std::vector<float> values(33 * 5);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = float(i);
    auto opened = WeightStore::open(dir.write("m.safetensors", goodFile({{"w", "F32", {33, 5}, bytesOf(values)}})));
    ASSERT_OK(opened.status());
    store.emplace(*std::move(opened));
    plan = planOf({natural("w", 33 * 5), panels("w", 33, 5, false)});
    options.symbols = {{"heddle_tokenizer", "tokens", 16}, ObjectSymbol::number("heddle_tokenizer_size", 6)};
  }
  Directory dir;
  std::optional<WeightStore> store;
  BlobMap plan;
  ObjectOptions options;
};

TEST_F(Object, LinksAndHoldsTheBytes) {
  auto written = writeWeightsObject(dir / "w.o", *store, plan, options);
  ASSERT_OK(written.status());
  dir.write("main.c", R"(
#include <stdint.h>
#include <stdio.h>
#include <string.h>
extern const unsigned char heddle_weights[], heddle_tokenizer[];
extern const uint64_t heddle_tokenizer_size;
static const unsigned char *volatile const base = heddle_weights;
int main(void) {
  const float *natural = (const float *)base, *panels = (const float *)(base + 704);
  if ((uintptr_t)base % (64 << 10)) return 2;
  for (int i = 0; i < 165; ++i) if (natural[i] != i) return 3;
  for (int p = 0; p < 2; ++p) for (int k = 0; k < 5; ++k) for (int l = 0; l < 32; ++l) {
    int n = p * 32 + l;
    if (panels[(p * 5 + k) * 32 + l] != (n < 33 ? n * 5 + k : 0)) return 4;
  }
  if (heddle_tokenizer_size != 6 || memcmp(heddle_tokenizer, "tokens", 6)) return 5;
  puts("good");
  return 0;
})");
  ASSERT_EQ(plan.entries[1].offset, 704u);
  // Both linkers: the one of LLVM and the system's.
  for (std::string linker : {std::string(" -fuse-ld=") + "lld -B" + dir.path, std::string()}) {
    ASSERT_EQ(symlink(HEDDLE_TEST_LLD, (dir / "ld.lld").c_str()) == 0 || errno == EEXIST, true);
    auto [linked, said] = shell(std::string(HEDDLE_TEST_CC) + " -O1 -pie -fPIE" + linker + " -o " + dir / "main" + " " +
                                dir / "main.c" + " " + dir / "w.o");
    ASSERT_EQ(linked, 0) << said;
    EXPECT_EQ(said, "");
    auto [ran, output] = shell(dir / "main");
    EXPECT_EQ(ran, 0) << output;
    EXPECT_EQ(output, "good\n");
  }
}

TEST_F(Object, SaysWhatItShouldToReadelf) {
  ASSERT_OK(writeWeightsObject(dir / "x.o", *store, plan, options).status());
  options.machine = ObjectMachine::AArch64;
  ASSERT_OK(writeWeightsObject(dir / "a.o", *store, plan, options).status());
  auto [x, x86] = shell(std::string(HEDDLE_TEST_READELF) + " -hSs --wide " + dir / "x.o");
  auto [a, arm] = shell(std::string(HEDDLE_TEST_READELF) + " -hSs --wide " + dir / "a.o");
  ASSERT_EQ(x, 0) << x86;
  ASSERT_EQ(a, 0) << arm;
  EXPECT_EQ(x86.find("warning"), std::string::npos) << x86;
  auto has = [](const std::string &out, const char *text) { return out.find(text) != std::string::npos; };
  EXPECT_TRUE(has(x86, "X86-64")) << x86;
  EXPECT_TRUE(has(x86, ".lrodata.heddle   PROGBITS"));
  EXPECT_TRUE(has(x86, " Al ")) << x86;
  EXPECT_TRUE(has(x86, " 65536"));
  EXPECT_TRUE(has(x86, "HIDDEN")) << x86;
  EXPECT_TRUE(has(arm, "AArch64"));
  EXPECT_FALSE(has(arm, " Al ")) << arm;
  // Enough for a linker of the other machine.
  auto [linked, said] =
      shell(std::string(HEDDLE_TEST_LLD) + " -m aarch64linux -shared -o " + dir / "a.so" + " " + dir / "a.o");
  EXPECT_EQ(linked, 0) << said;
}

TEST_F(Object, IsTheSameEveryTimeAndEverywhere) {
  ASSERT_OK(writeWeightsObject(dir / "1.o", *store, plan, options).status());
  std::filesystem::create_directory(dir / "sub");
  options.pack.stripBytes = 1;
  ASSERT_OK(writeWeightsObject(dir / "sub/other.o", *store, plan, options).status());
  EXPECT_EQ(slurp(dir / "1.o"), slurp(dir / "sub/other.o"));
}

TEST_F(Object, SideFileHoldsTheSameBlob) {
  auto object = writeWeightsObject(dir / "w.o", *store, plan, options);
  auto side = writeWeightsFile(dir / "w.bin", *store, plan);
  ASSERT_OK(object.status());
  ASSERT_OK(side.status());
  EXPECT_EQ(object->digest, side->digest);
  EXPECT_EQ(object->index, side->index);
  EXPECT_EQ(side->bytes, plan.bytes);
  std::string bytes = slurp(dir / "w.bin");
  EXPECT_EQ(bytes.size(), plan.bytes);
  EXPECT_EQ(slurp(dir / "w.o").substr(4096, plan.bytes), bytes);
  // Computed from the file alone: the same index. Any changed bit is another
  // digest.
  auto digestOfBlob = [&](const std::string &blob, std::string *index) {
    IndexWriter writer;
    for (size_t i = 0; i < plan.entries.size(); ++i) {
      uint64_t end = i + 1 < plan.entries.size() ? plan.entries[i + 1].offset : blob.size();
      writer.tensor("w");
      writer.update(blob.data() + plan.entries[i].offset, end - plan.entries[i].offset);
    }
    uint64_t root = 0;
    std::string text = writer.finish(root);
    if (index)
      *index = text;
    return root;
  };
  std::string index;
  EXPECT_EQ(digestOfBlob(bytes, &index), side->digest);
  EXPECT_EQ(index, side->index);
  for (size_t i = 0; i < bytes.size(); i += 7) {
    std::string other = bytes;
    other[i] ^= char(1 << (i % 8));
    EXPECT_NE(digestOfBlob(other, nullptr), side->digest);
  }
  EXPECT_NE(digestOfBlob(bytes + '\0', nullptr), side->digest);
}

TEST_F(Object, HashesDoNotDependOnThePieces) {
  std::string bytes;
  for (int i = 0; i < 1000; ++i)
    bytes += char(i * 31);
  Digest whole;
  whole.update(bytes.data(), bytes.size());
  uint64_t expected = whole.finish();
  for (size_t piece : {1, 3, 63, 64, 65, 500}) {
    Digest hash;
    for (size_t at = 0; at < bytes.size(); at += piece)
      hash.update(bytes.data() + at, std::min(piece, bytes.size() - at));
    EXPECT_EQ(hash.finish(), expected) << piece;
  }
}

TEST_F(Object, SymbolsAloneAndEmptyBlobs) {
  ASSERT_OK(writeSymbolsObject(dir / "s.o", options));
  ASSERT_OK(writeWeightsObject(dir / "e.o", *store, BlobMap(), {}).status());
  dir.write("main.c", "#include <stdint.h>\n"
                      "extern const unsigned char heddle_weights[];\n"
                      "extern const uint64_t heddle_tokenizer_size;\n"
                      "static const unsigned char *volatile const base = heddle_weights;\n"
                      "int main(void) { return heddle_tokenizer_size != 6 || !base; }\n");
  auto [linked, said] = shell(std::string(HEDDLE_TEST_CC) + " -o " + dir / "main" + " " + dir / "main.c" + " " +
                              dir / "s.o" + " " + dir / "e.o");
  ASSERT_EQ(linked, 0) << said;
  EXPECT_EQ(shell(dir / "main").first, 0);
}

} // namespace
