//===- Rules.cpp - What a real driver refuses -----------------------------===//
//
// The sizes are those of the table of compute capabilities in CUDA's manual: a
// kibibyte of a multiprocessor's memory is kept for each block.
//
//===----------------------------------------------------------------------===//
#include "test/Emulator/Rules.h"

#include <algorithm>
#include <iterator>

namespace heddle::emulator {

int64_t mostShared(int64_t capability) {
  int64_t kibibytes = capability < 80                            ? 64
                      : capability == 80 || capability == 87     ? 163
                      : capability < 90 || capability / 10 == 12 ? 99
                                                                 : 227;
  return kibibytes << 10;
}

bool needsContext(std::string_view symbol) {
  // What asks for devices and contexts, and what goes by a handle of its own.
  constexpr std::string_view kWithout[] = {"cuInit",          "cuDriver",           "cuGetError",    "cuDevice",
                                           "cuCtxSetCurrent", "cuGraphInstantiate", "cuModuleUnload"};
  bool without = std::any_of(std::begin(kWithout), std::end(kWithout),
                             [&](std::string_view begin) { return symbol.substr(0, begin.size()) == begin; });
  return !without && symbol.find("Destroy") == symbol.npos;
}

bool isForbiddenInCapture(std::string_view symbol) {
  constexpr std::string_view kForbidden[] = {"cuMemAlloc_v2",
                                             "cuMemFree_v2",
                                             "cuMemHostAlloc",
                                             "cuMemFreeHost",
                                             "cuStreamSynchronize",
                                             "cuEventElapsedTime",
                                             "cuGraphInstantiateWithFlags",
                                             "cuGraphLaunch",
                                             "cuModuleLoadDataEx",
                                             "cuModuleUnload"};
  return std::find(std::begin(kForbidden), std::end(kForbidden), symbol) != std::end(kForbidden);
}

} // namespace heddle::emulator
