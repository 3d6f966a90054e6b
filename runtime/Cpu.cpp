//===- Cpu.cpp - What the processor can do --------------------------------===//
//
// __builtin_cpu_supports asks cpuid and the operating system, and takes only
// literals, hence the table.
//
//===----------------------------------------------------------------------===//
#include "runtime/Cpu.h"

#include <cstdio>
#include <cstring>

namespace heddle::rt {

#if defined(__x86_64__)
static bool lacks(const std::string &feature) {
#define CHECK(name)                                                            \
  if (feature == name)                                                         \
    return !__builtin_cpu_supports(name);
  CHECK("sse3")
  CHECK("ssse3")
  CHECK("sse4.1")
  CHECK("sse4.2")
  CHECK("popcnt")
  CHECK("avx")
  CHECK("avx2")
  CHECK("fma")
  CHECK("bmi")
  CHECK("bmi2")
  CHECK("avx512f")
  CHECK("avx512cd")
  CHECK("avx512vl")
  CHECK("avx512bw")
  CHECK("avx512dq")
  CHECK("avx512vnni")
  CHECK("avx512bf16")
  CHECK("avx512vbmi")
  CHECK("avx512ifma")
#undef CHECK
  return false;
}
#else
static bool lacks(const std::string &) { return false; }
#endif

std::string missingFeatures(const std::vector<std::string> &needs) {
#if defined(__x86_64__)
  __builtin_cpu_init();
#endif
  std::string missing;
  for (const std::string &feature : needs)
    if (lacks(feature))
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
