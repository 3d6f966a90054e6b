//===- Cpu.cpp - What the processor can do --------------------------------===//
//
// On x86 cpuid says what the processor has, xgetbv which registers the system saves; a
// feature needs both. On aarch64 the system says it in the auxiliary vector. The table of
// features is heddle/cpu_features.def.
//
//===----------------------------------------------------------------------===//
#include "runtime/Core/Cpu.h"

#include "heddle/tiles.h"

#include <cstdint>
#include <cstdio>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace heddle::rt {

#if defined(__x86_64__)
namespace {
enum Register { EAX, EBX, ECX, EDX };
/// Bits of XCR0: registers of 128, 256 and 512 bits and the masks, matrix registers and what they are.
enum State : uint64_t { NONE = 0, AVX = 0x6, AVX512 = 0xe6, TILES = 0x600e6 };

struct Feature {
  const char *name;
  unsigned leaf, subleaf;
  Register reg;
  unsigned bit;
  State state;
};

const Feature kFeatures[] = {
#define HEDDLE_CPU_FEATURE(name, leaf, subleaf, reg, bit, state) {name, leaf, subleaf, reg, bit, state},
#include "heddle/cpu_features.def"
};
} // namespace

namespace {
/// What cpuid says, each leaf asked once: under a hypervisor a question costs
/// microseconds.
class Processor {
public:
  Processor() {
    // cpuid(1).ecx bit 27: the system uses xsave, and xgetbv may be asked.
    if (!(word(1, 0, ECX) & bit_OSXSAVE))
      return;
    unsigned low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    saved = uint64_t(high) << 32 | low;
  }

  bool has(const std::string &name) {
    for (const Feature &f : kFeatures)
      if (name == f.name)
        return (word(f.leaf, f.subleaf, f.reg) >> f.bit & 1) && (saved & f.state) == f.state &&
               (f.state != TILES || mayUseTiles());
    return false;
  }

private:
  struct Leaf {
    unsigned leaf, subleaf, words[4];
  };

  /// 0 where there is no such leaf.
  unsigned word(unsigned leaf, unsigned subleaf, Register reg) {
    for (const Leaf &l : asked)
      if (l.leaf == leaf && l.subleaf == subleaf)
        return l.words[reg];
    Leaf l{leaf, subleaf, {}};
    // Subleaf 0 of leaf 7 says how many there are.
    if (subleaf <= (subleaf ? word(leaf, 0, EAX) : 0))
      __get_cpuid_count(leaf, subleaf, &l.words[EAX], &l.words[EBX], &l.words[ECX], &l.words[EDX]);
    asked.push_back(l);
    return l.words[reg];
  }

  std::vector<Leaf> asked;
  uint64_t saved = 0; ///< the states that the system saves, as xgetbv has them
};
} // namespace
#elif defined(__aarch64__)
namespace {
/// Words of the auxiliary vector, by their numbers for getauxval.
enum Word : unsigned long { HWCAP = 16, HWCAP2 = 26 };

struct Feature {
  const char *name;
  Word word;
  unsigned bit;
};

const Feature kFeatures[] = {
#define HEDDLE_ARM_FEATURE(name, word, bit) {name, word, bit},
#include "heddle/cpu_features.def"
};

struct Processor {
  bool has(const std::string &name) {
    for (const Feature &f : kFeatures)
      if (name == f.name)
        return getauxval(f.word) >> f.bit & 1;
    return false;
  }
};
} // namespace
#else
namespace {
struct Processor {
  bool has(const std::string &) { return false; }
};
} // namespace
#endif

std::string missingFeatures(const std::vector<std::string> &needs) {
  Processor processor;
  std::string missing;
  for (const std::string &feature : needs)
    if (!processor.has(feature))
      missing += (missing.empty() ? "" : ", ") + feature;
  return missing;
}

std::string processorName() {
  std::string name = "unknown";
  FILE *file = fopen("/proc/cpuinfo", "re");
  if (!file)
    return name;
  char line[512];
  while (fgets(line, sizeof line, file)) {
    char *colon = strchr(line, ':');
    if (strncmp(line, "model name", 10) == 0 && colon) {
      name = colon + 2;
      while (!name.empty() && (name.back() == '\n' || name.back() == ' '))
        name.pop_back();
      break;
    }
  }
  fclose(file);
  return name;
}

} // namespace heddle::rt
