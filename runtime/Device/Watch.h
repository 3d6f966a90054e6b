//===- Watch.h - What is said of every launch -------------------*- C++ -*-===//
//
// Words behind --device=N: (and behind `emulator:`) for whoever looks for a wrong or slow kernel on a device where no
// debugger is. A watched program makes no graphs, so that every launch is one by itself.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_DEVICE_WATCH_H
#define HEDDLE_RUNTIME_DEVICE_WATCH_H

#include "runtime/Core/Backend.h"
#include "runtime/Core/DeviceChoice.h"
#include "runtime/Device/Gpu.h"

#include <map>
#include <vector>

namespace heddle::rt {

class Watch {
public:
  Watch(Gpu &gpu, Watching watching) : watching(watching), gpu(gpu) {}
  Watch(const Watch &) = delete;
  Watch &operator=(const Watch &) = delete;
  ~Watch();

  /// Memory that digests are of, in the order in which it was taken.
  Status took(CuAddress address, Backend::Use use, uint64_t bytes);
  void released(CuAddress address);

  /// In front of a launch.
  Status begin();
  /// Behind it; `launch` says which ("run_3 (model.json:5:3)"), `at` what repeats are at.
  Status end(const std::string &launch, const int64_t (&at)[2]);
  /// When all work of a call is done: reads the events.
  Status finish();

  const Watching watching;

private:
  struct Region {
    CuAddress address;
    Backend::Use use;
    uint64_t bytes;
  };
  struct Timed {
    std::string launch;
    CuEvent begin = nullptr, end = nullptr;
  };
  Status digest(const std::string &launch, const int64_t (&at)[2]);
  void printTimes() const;

  Gpu &gpu;
  std::vector<Region> regions;
  void *bytes = nullptr; ///< of a region, here: page-locked, as copies want it
  uint64_t room = 0;
  int64_t launches = 0;
  std::vector<Timed> pending;
  std::vector<CuEvent> spare;
  std::map<std::string, std::vector<float>> milliseconds; ///< by launch
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_DEVICE_WATCH_H
