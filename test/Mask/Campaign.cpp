//===- Campaign.cpp - many random masks on all cores ----------------------===//

#include "test/Mask/Campaign.h"
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

using namespace heddle::test;

CampaignOptions heddle::test::campaign;

bool CampaignOptions::parse(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    std::string arg = argv[i];
    size_t eq = arg.find('=');
    std::string name = arg.substr(0, eq);
    if (eq == std::string::npos)
      return false;
    long long value = std::atoll(arg.c_str() + eq + 1);
    if (name == "--expressions")
      expressions = value;
    else if (name == "--seed")
      seed = uint64_t(value);
    else if (name == "--batch")
      batch = value;
    else if (name == "--threads")
      threads = int(value);
    else if (name == "--failures")
      failures = int(value);
    else if (name == "--limit")
      limit = int(value);
    else
      return false;
  }
  return true;
}

static int64_t now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
             .count() +
         1;
}
static thread_local int slot = 0;

Campaign::Campaign(std::string name, int64_t batches)
    : name(std::move(name)), batches(batches), slots(std::max(1, campaign.threads)) {}

void Campaign::enter(const std::string &what) {
  slots[slot].what = what;
  slots[slot].since = now();
}
void Campaign::leave() { slots[slot].since = 0; }

void Campaign::fail(const std::string &what) {
  std::lock_guard<std::mutex> hold(lock);
  if (++failures <= 10)
    messages.push_back(what);
}

std::vector<std::string> Campaign::run(const std::function<void(int64_t)> &body) {
  std::atomic<bool> done{false};
  std::thread guard([&] {
    while (!done) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      for (Slot &s : slots)
        if (int64_t since = s.since; since && now() - since > campaign.limit * 1000) {
          std::fprintf(stderr, "FAIL %s: no end after %d s: %s\n", name.c_str(), campaign.limit, s.what.c_str());
          std::_Exit(3);
        }
    }
  });
  std::vector<std::thread> workers;
  for (size_t t = 0; t < slots.size(); ++t)
    workers.emplace_back([&, t] {
      slot = int(t);
      for (int64_t b = next++; b < batches && failures < campaign.failures; b = next++)
        if (campaign.batch < 0 || campaign.batch == b)
          body(b);
    });
  for (std::thread &w : workers)
    w.join();
  done = true;
  guard.join();
  return messages;
}
