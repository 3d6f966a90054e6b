// What fuzzers of files of weights share: random numbers, a file in memory, and reads of a matrix in every way there
// is, which must agree.
#ifndef HEDDLE_TEST_FUZZ_WEIGHTFILES_H
#define HEDDLE_TEST_FUZZ_WEIGHTFILES_H

#include "compiler/Weights/Coded/CodedScheme.h"
#include "compiler/Weights/Coded/CodedTensor.h"
#include "compiler/Weights/Files/Problem.h"
#include "compiler/Weights/WeightStore.h"
#include "llvm/ADT/StringRef.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace heddle::fuzz {

/// splitmix64: the same inputs for the same seed everywhere.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = (state += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  int64_t below(int64_t n) { return n > 0 ? int64_t(next() % uint64_t(n)) : 0; }
  bool oneIn(int64_t n) { return below(n) == 0; }
  template <typename T, size_t N> T pick(const T (&of)[N]) { return of[below(N)]; }

private:
  uint64_t state;
};

inline void require(bool condition, const char *what) {
  if (condition)
    return;
  std::fprintf(stderr, "fuzz finding: %s\n", what);
  std::abort();
}

/// Another number, often at an end of what fits.
inline int64_t odd(Random &r, int64_t value) {
  switch (r.below(8)) {
  case 0: return 0;
  case 1: return -1;
  case 2: return INT64_MAX;
  case 3: return value + 1;
  case 4: return value - 1;
  case 5: return value * 2;
  case 6: return int64_t(1) << r.below(63);
  default: return r.below(64);
  }
}

/// A file without a name.
class MemoryFile {
public:
  MemoryFile() : fd(memfd_create("fuzz", 0)), name("/proc/self/fd/" + std::to_string(fd)) {
    require(fd >= 0, "no memory for a file");
  }
  void write(const std::string &bytes) {
    require(ftruncate(fd, 0) == 0 && pwrite(fd, bytes.data(), bytes.size(), 0) == ssize_t(bytes.size()), "no room");
  }
  const std::string &path() const { return name; }

private:
  int fd;
  std::string name;
};

inline std::string refused(const absl::Status &status) {
  std::optional<WeightProblem> problem = problemOf(status);
  require(problem.has_value(), "a refusal without a problem");
  require(problem->code != Error::OurMistake, "a mistake of ours");
  require(!problem->message.empty() && !problem->file.empty(), "a refusal without words or file");
  for (char c : llvm::StringRef(status.message().data(), status.message().size()))
    require(uint8_t(c) >= 0x20 || c == '\n', "a control byte in a message");
  return codeOf(problem->code);
}

/// Reads a matrix in every way there is; the ways agree.
inline std::string readAll(const WeightStore &store, const StoredTensor &tensor, Random &r) {
  const CodedTensor &coded = *tensor.coded;
  require(tensor.elements() == uint64_t(coded.rows()) * uint64_t(coded.features()), "elements are not rows x features");
  require(tensor.elements() <= uint64_t(1) << 20, "a matrix larger than its file");
  std::vector<float> all(tensor.elements());
  if (absl::Status status = store.readF32(tensor, 0, all); !status.ok())
    return refused(status);
  uint64_t from = r.below(all.size()), count = 1 + r.below(all.size() - from);
  std::vector<float> some(count);
  require(store.readF32(tensor, from, some).ok(), "a part that cannot be read");
  require(!std::memcmp(some.data(), all.data() + from, count * 4), "a part that is not the whole's");
  absl::StatusOr<std::optional<CodedForm>> form = coded.form();
  require(form.ok(), "a form that cannot be read");
  if (!*form)
    return "read";
  int64_t k = coded.features(), groups = (*form)->groups(k), row = r.below(coded.rows());
  absl::StatusOr<CodedRows> rows = coded.readCodes(row, 1);
  require(rows.ok() && rows->codes.size() == size_t(k) && rows->scales.size() == size_t((*form)->scales(k)),
          "codes of another size");
  require(rows->zeros.size() == ((*form)->zeros ? size_t(groups) : 0), "zeros of another number");
  for (int64_t i = 0; i < k; ++i) {
    int64_t at = (*form)->order.empty() ? i : (*form)->order[i];
    float value = GroupNumbers::of(**form, *rows, 0, i / (*form)->group, groups).value(rows->codes[i]);
    float wanted = all[row * k + at];
    require(rows->codes[i] < 1 << (*form)->bits, "a code of more bits");
    // A scale that is made, SCB / 127, is rounded itself.
    bool near =
        coded.kind() == "bitsandbytes, 8 bits" && std::abs(value - wanted) <= std::abs(wanted) * 1.2e-7f + 1e-38f;
    require(near || value == wanted, "a code that means another number");
  }
  return "read, with codes";
}

inline std::string verdict(const MemoryFile &file, const CodedScheme &scheme, Random &r) {
  // The text of a scheme that nobody could write is refused, too.
  absl::StatusOr<WeightStore> store = WeightStore::openCoded({file.path()}, scheme.text());
  if (!store.ok())
    return refused(store.status());
  std::string what = "no matrix";
  for (const StoredTensor &tensor : store->tensors())
    if (tensor.coded) {
      what = readAll(*store, tensor, r);
      if (what[0] == 'H')
        break;
    }
  return what;
}

/// --runs=N and --seed=S; false where there is another word.
inline bool readArguments(int argc, char **argv, uint64_t &runs, uint64_t &seed) {
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef argument(argv[i]);
    bool known = argument.consume_front("--runs=")
                     ? !argument.getAsInteger(10, runs)
                     : argument.consume_front("--seed=") && !argument.getAsInteger(10, seed);
    if (!known)
      return false;
  }
  return true;
}

} // namespace heddle::fuzz

#endif // HEDDLE_TEST_FUZZ_WEIGHTFILES_H
