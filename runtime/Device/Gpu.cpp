//===- Gpu.cpp - An opened device -----------------------------------------===//
//
// The primary context is the one that every library of a process shares.
//
//===----------------------------------------------------------------------===//
#include "runtime/Device/Gpu.h"

namespace heddle::rt {

static constexpr int kLeastVersion = 12000, kLeastCapability = 80;

Gpu::~Gpu() {
  if (device < 0)
    return;
  if (stream)
    driver.streamDestroy(stream);
  driver.contextRelease(device);
}

Status Gpu::check(int result, const char *doing) const {
  if (result == kCuSuccess)
    return {};
  return {Error::GpuFailed, "the GPU failed while " + std::string(doing) + ": " + driver.nameOf(result)};
}

/// The devices of `driver`, for messages.
static std::string listDevices(const Driver &driver, int count) {
  std::string list;
  for (int i = 0; i < count; ++i) {
    char name[128] = "?";
    int device = 0;
    if (driver.deviceGet(&device, i) == kCuSuccess && driver.deviceName(name, sizeof name, device) != kCuSuccess)
      name[0] = '?';
    list += (i ? ", " : "") + format("%d: %s", i, name);
  }
  return list;
}

Status Gpu::open(int ordinal) {
  int result = driver.init(0), count = 0;
  if (result != kCuNoDevice)
    HEDDLE_TRY(check(result, "it was looked for"));
  HEDDLE_TRY(check(driver.version(&version), "its driver was asked"));
  if (version < kLeastVersion)
    return {Error::OldDriver, format("the NVIDIA driver here knows CUDA %d.%d, and this program "
                                     "needs 12.0: install a driver of 525 or later",
                                     version / 1000, version % 1000 / 10)};
  if (result == kCuSuccess)
    HEDDLE_TRY(check(driver.deviceCount(&count), "devices were counted"));
  if (ordinal >= count)
    return Status(Error::NoSuchGpu, format("there is no GPU %d here", ordinal))
        .withHelp(count ? "those here are " + listDevices(driver, count) : "there is none");
  int taken = 0, major = 0, minor = 0;
  HEDDLE_TRY(check(driver.deviceGet(&taken, ordinal), "it was opened"));
  char text[128] = "GPU";
  HEDDLE_TRY(check(driver.deviceName(text, sizeof text, taken), "it was asked"));
  name = text;
  struct {
    int *value, attribute;
  } asked[] = {{&major, kCuCapabilityMajor}, {&minor, kCuCapabilityMinor}, {&multiprocessors, kCuMultiprocessors}};
  for (auto [value, attribute] : asked)
    HEDDLE_TRY(check(driver.deviceAttribute(value, attribute, taken), "it was asked"));
  capability = 10 * major + minor;
  if (capability < kLeastCapability)
    return {Error::OldGpu, format("GPU %d (%s) is an sm_%d, and this program needs sm_%d or "
                                  "later",
                                  ordinal, text, capability, kLeastCapability)};
  CuContext context = nullptr;
  HEDDLE_TRY(check(driver.contextRetain(&context, taken), "it was opened"));
  device = taken;
  HEDDLE_TRY(check(driver.contextUse(context), "it was opened"));
  return check(driver.streamCreate(&stream, kCuStreamNonBlocking), "it was opened");
}

Status Gpu::wait() { return check(driver.streamWait(stream), "it computed"); }

} // namespace heddle::rt
