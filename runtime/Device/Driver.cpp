//===- Driver.cpp - The functions of an NVIDIA driver ---------------------===//
//
// The library is looked up by the system's rules and stays loaded.
//
//===----------------------------------------------------------------------===//
#include "runtime/Device/Driver.h"

#include <dlfcn.h>

namespace heddle::rt {

std::string Driver::nameOf(int error) const {
  const char *name = nullptr;
  if (errorName(error, &name) != kCuSuccess || !name)
    name = "unknown error";
  return format("%s (%d)", name, error);
}

Status loadDriver(Driver &driver, bool runsOnHost) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return {Error::NoCuda,
            std::string("this program runs on an NVIDIA GPU, and there is no libcuda.so.1 here, neither in "
                        "LD_LIBRARY_PATH nor where the system's loader looks: install NVIDIA's driver "
                        "(525 or later), or ") +
                (runsOnHost ? "say --device=cpu" : "compile the model with --target=cpu")};
#define HEDDLE_CUDA(member, symbol, parameters)                                                                        \
  driver.member = reinterpret_cast<int(*) parameters>(dlsym(library, #symbol));                                        \
  if (!driver.member)                                                                                                  \
    return {Error::OldDriver, "the NVIDIA driver here has no " #symbol ": this program needs a driver of 525 or later"};
#include "runtime/Device/driver.def"
#undef HEDDLE_CUDA
  return {};
}

} // namespace heddle::rt
