//===- Watch.cpp - What is said of every launch ---------------------------===//
//
// Everything goes to standard error. In f32 a device computes the bits of the emulator, so the first line of digests
// in which both differ names the wrong kernel; bits of bf16 products may differ, for which digests are rounded.
//
//===----------------------------------------------------------------------===//
#include "runtime/Device/Watch.h"

#include "heddle/digest.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace heddle::rt {

Watch::~Watch() {
  if (!milliseconds.empty())
    printTimes();
  if (bytes)
    gpu.driver.releaseHost(bytes);
  for (const Timed &one : pending)
    for (CuEvent event : {one.begin, one.end})
      if (event)
        gpu.driver.eventDestroy(event);
  for (CuEvent event : spare)
    gpu.driver.eventDestroy(event);
}

Status Watch::took(CuAddress address, Backend::Use use, uint64_t size) {
  regions.push_back({address, use, size});
  if (!watching.digest || use != Backend::Use::Arena || size == 0)
    return {}; // a state is zero at first
  return gpu.check(gpu.driver.fill(address, 0xff, size, gpu.stream), "an arena was filled");
}

void Watch::released(CuAddress address) {
  regions.erase(std::remove_if(regions.begin(), regions.end(), [&](const Region &r) { return r.address == address; }),
                regions.end());
}

Status Watch::begin() {
  if (!watching.timed)
    return {};
  Timed one;
  for (CuEvent *event : {&one.begin, &one.end}) {
    if (spare.empty()) {
      HEDDLE_TRY(gpu.check(gpu.driver.eventCreate(event, 0), "an event was made"));
    } else {
      *event = spare.back();
      spare.pop_back();
    }
  }
  pending.push_back(one);
  return gpu.check(gpu.driver.eventRecord(one.begin, gpu.stream), "a launch was timed");
}

Status Watch::end(const std::string &launch, const int64_t (&at)[2]) {
  ++launches;
  if (watching.timed) {
    pending.back().launch = launch;
    HEDDLE_TRY(gpu.check(gpu.driver.eventRecord(pending.back().end, gpu.stream), "a launch was timed"));
  }
  return watching.digest ? digest(launch, at) : Status();
}

/// Rounds each 32-bit word to 8 bits of significand as if it were an f32.
static void roundWords(char *bytes, uint64_t size) {
  for (uint64_t i = 0; i + 4 <= size; i += 4) {
    uint32_t word;
    memcpy(&word, bytes + i, 4);
    word = (word + 0x7fff + (word >> 16 & 1)) & 0xffff0000;
    memcpy(bytes + i, &word, 4);
  }
}

Status Watch::digest(const std::string &launch, const int64_t (&at)[2]) {
  Digest sums[2]; // of states, of arenas
  for (const Region &region : regions) {
    if (region.bytes == 0)
      continue;
    if (room < region.bytes) {
      if (bytes)
        gpu.driver.releaseHost(bytes);
      bytes = nullptr;
      room = 0;
      HEDDLE_TRY(gpu.check(gpu.driver.allocateHost(&bytes, region.bytes, 0), "memory for a digest was taken"));
      room = region.bytes;
    }
    HEDDLE_TRY(gpu.check(gpu.driver.copyOut(bytes, region.address, region.bytes, gpu.stream), "a digest was made"));
    HEDDLE_TRY(gpu.check(gpu.driver.streamWait(gpu.stream), (launch + " ran").c_str()));
    if (watching.rounded)
      roundWords(static_cast<char *>(bytes), region.bytes);
    sums[region.use == Backend::Use::Arena].update(bytes, region.bytes);
  }
  fprintf(stderr, "launch %" PRId64 " %s at %" PRId64 ", %" PRId64 ": arena %016" PRIx64 ", states %016" PRIx64 "\n",
          launches, launch.c_str(), at[0], at[1], sums[1].finish(), sums[0].finish());
  return {};
}

Status Watch::finish() {
  for (Timed &one : pending) {
    float ms = 0;
    HEDDLE_TRY(gpu.check(gpu.driver.eventElapsed(&ms, one.begin, one.end), "a launch was timed"));
    milliseconds[one.launch].push_back(ms);
    spare.insert(spare.end(), {one.begin, one.end});
  }
  pending.clear();
  return {};
}

void Watch::printTimes() const {
  struct Row {
    const std::string *launch;
    size_t count;
    double median, total;
  };
  std::vector<Row> rows;
  double all = 0;
  for (const auto &[launch, times] : milliseconds) {
    std::vector<float> sorted = times;
    std::sort(sorted.begin(), sorted.end());
    double total = 0;
    for (float ms : sorted)
      total += double(ms);
    all += total;
    rows.push_back({&launch, sorted.size(), double(sorted[sorted.size() / 2]), total});
  }
  std::sort(rows.begin(), rows.end(), [](const Row &a, const Row &b) { return a.total > b.total; });
  fprintf(stderr, "launches  median us   total ms  share  kernel\n");
  for (const Row &row : rows)
    fprintf(stderr, "%8zu %10.2f %10.3f %5.1f%%  %s\n", row.count, row.median * 1e3, row.total,
            all > 0 ? 100 * row.total / all : 0.0, row.launch->c_str());
}

} // namespace heddle::rt
