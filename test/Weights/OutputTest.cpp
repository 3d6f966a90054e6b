// Outputs appear whole or not at all, and failures leave the old file and no leftovers.
#include "compiler/Weights/Pack/OutputFile.h"
#include "compiler/Weights/Pack/WeightsObject.h"
#include "test/Weights/Support.h"
#include <csignal>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace heddle;
using namespace heddle::test;

namespace {

absl::Status appendText(OutputFile &file, const std::string &bytes) {
  return file.append({reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()});
}

/// Runs `body` in a child where no file may grow beyond `bytes`: a disk that is full.
template <typename Body> void withLimit(uint64_t bytes, Body body) {
  pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit = {bytes, bytes};
    setrlimit(RLIMIT_FSIZE, &limit);
    _exit(body() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << bytes << " " << status;
}

TEST(Output, AppearsOnlyAtCommit) {
  Directory dir;
  dir.write("out", "old");
  {
    auto file = OutputFile::create(dir / "out", 0);
    ASSERT_OK(file.status());
    ASSERT_OK(appendText(*file, "new"));
    EXPECT_EQ(slurp(dir / "out"), "old");
  }
  EXPECT_EQ(slurp(dir / "out"), "old");
  EXPECT_EQ(dir.entries(), 1u);
  auto file = OutputFile::create(dir / "out", 1000);
  ASSERT_OK(file.status());
  ASSERT_OK(appendText(*file, std::string("ne\0\0\0", 5)));
  ASSERT_OK(appendText(*file, std::string(1 << 20, 'w')));
  EXPECT_EQ(file->position(), 5u + (1 << 20));
  ASSERT_OK(file->commit());
  EXPECT_EQ(slurp(dir / "out"), std::string("ne\0\0\0", 5) + std::string(1 << 20, 'w'));
  EXPECT_EQ(dir.entries(), 1u);
}

// Whole huge pages are written when they are full, whatever the pieces are.
TEST(Output, PiecesOfAnySizeMakeTheFile) {
  Directory dir;
  auto file = OutputFile::create(dir / "out", 0);
  ASSERT_OK(file.status());
  std::string all;
  for (size_t size : {size_t(1), size_t(kHugePage - 1), size_t(3), size_t(5 * kHugePage / 2), size_t(kHugePage),
                      size_t(0), size_t(7)}) {
    std::string piece(size, '\0');
    for (size_t i = 0; i < size; ++i)
      piece[i] = char((all.size() + i) * 31 >> 8);
    ASSERT_OK(appendText(*file, piece));
    all += piece;
    EXPECT_EQ(file->position(), all.size());
  }
  ASSERT_OK(file->commit());
  EXPECT_TRUE(slurp(dir / "out") == all);
}

TEST(Output, CopiesBytesAndPermissions) {
  Directory dir;
  std::string bytes = std::string(3 * kHugePage, 'x') + "end";
  ASSERT_EQ(chmod(dir.write("from", bytes).c_str(), 0751), 0);
  ASSERT_OK(OutputFile::copy(dir / "from", dir / "to"));
  EXPECT_TRUE(slurp(dir / "to") == bytes);
  struct stat info;
  ASSERT_EQ(stat((dir / "to").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0751u);
  EXPECT_EQ(refusal(OutputFile::copy(dir / "none", dir / "no")).code, Error::CannotWrite);
  withLimit(1000, [&] { return refusal(OutputFile::copy(dir / "from", dir / "no")).code == Error::DiskFull; });
  EXPECT_EQ(dir.entries(), 2u);
}

TEST(Output, MoreReservedThanWrittenIsCut) {
  Directory dir;
  auto file = OutputFile::create(dir / "out", 100000);
  ASSERT_OK(file.status());
  ASSERT_OK(appendText(*file, "abc"));
  ASSERT_OK(file->commit());
  EXPECT_EQ(slurp(dir / "out"), "abc");
}

TEST(Output, PlacesThatCannotBeWritten) {
  Directory dir;
  for (const std::string &path : {dir.path, dir / "no/such/out", std::string("/dev/null"), std::string("/dev/full")}) {
    auto file = OutputFile::create(path, 10);
    ASSERT_FALSE(file.ok()) << path;
    EXPECT_EQ(refusal(file.status()).code, Error::CannotWrite);
  }
  EXPECT_EQ(dir.entries(), 0u);
}

TEST(Output, TheModeFollowsTheUmask) {
  Directory dir;
  mode_t before = umask(027);
  auto file = OutputFile::create(dir / "out", 0);
  umask(before);
  ASSERT_OK(file.status());
  ASSERT_OK(file->commit());
  struct stat info;
  ASSERT_EQ(stat((dir / "out").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
}

TEST(Output, AFileThatIsThereKeepsItsPermissionsAndLinks) {
  Directory dir;
  ASSERT_EQ(chmod(dir.write("out", "old").c_str(), 0640), 0);
  ASSERT_EQ(symlink("out", (dir / "link").c_str()), 0);
  auto file = OutputFile::create(dir / "link", 0);
  ASSERT_OK(file.status());
  ASSERT_OK(appendText(*file, "new"));
  ASSERT_OK(file->commit());
  EXPECT_EQ(slurp(dir / "out"), "new");
  struct stat info;
  ASSERT_EQ(lstat((dir / "link").c_str(), &info), 0);
  EXPECT_TRUE(S_ISLNK(info.st_mode));
  ASSERT_EQ(stat((dir / "out").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0640u);
  EXPECT_EQ(dir.entries(), 2u);
}

TEST(Output, FullDisksAtManySizes) {
  Directory dir;
  std::string data(300000, 'd');
  auto store = WeightStore::open(dir.write("m.safetensors", goodFile({{"a", "U8", {300000}, data}})));
  ASSERT_OK(store.status());
  BlobMap plan = planOf({natural("a", 300000, PackedType::Bool)});
  dir.write("out", "old");
  for (int step = 0; step < 50; ++step)
    withLimit(step * 6000, [&] {
      auto written = writeWeightsObject(dir / "out", *store, plan);
      // Without a known size the failure comes while writing.
      auto file = OutputFile::create(dir / "out", 0);
      absl::Status late = file.ok() ? appendText(*file, data) : file.status();
      if (late.ok())
        late = file->commit();
      return !written.ok() && refusal(written.status()).code == Error::DiskFull && !late.ok() &&
             written.status().code() == absl::StatusCode::kResourceExhausted;
    });
  EXPECT_EQ(slurp(dir / "out"), "old");
  EXPECT_EQ(dir.entries(), 2u);
}

TEST(Output, InterruptsRemoveTheTemporary) {
  Directory dir;
  int pipes[2];
  ASSERT_EQ(pipe(pipes), 0);
  pid_t child = fork();
  if (child == 0) {
    auto file = OutputFile::create(dir / "out", 1000);
    (void)!write(pipes[1], "x", 1);
    pause();
    _exit(0);
  }
  char c;
  ASSERT_EQ(read(pipes[0], &c, 1), 1);
  EXPECT_EQ(dir.entries(), 1u);
  kill(child, SIGTERM);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(dir.entries(), 0u);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) << status;
  close(pipes[0]);
  close(pipes[1]);
}

} // namespace
