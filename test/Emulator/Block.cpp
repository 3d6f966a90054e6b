//===- Block.cpp - The threads of a block ---------------------------------===//
//
// Threads switch to each other directly. A kernel whose lanes never meet runs
// every thread to its end without a stop.
//
//===----------------------------------------------------------------------===//
#include "test/Emulator/Block.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace heddle::emulator {

static Block *theBlock = nullptr;

Block &runningBlock() { return *theBlock; }

Block::Block(const Options &options, const Memory &memory) : options(options), memory(memory) {
  constexpr uint64_t kMostShared = 1 << 20;
  if (options.races && !(races.watch(memory.range()) && sharedRaces.watch(kMostShared)))
    error = "no memory for the shadows of races";
}

/// xorshift64*.
uint32_t Block::random(uint32_t below) {
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return uint32_t((state * 0x2545f4914f6cdd1dull) >> 33) % below;
}

std::string Block::run(const Launch &launch) {
  if (!error.empty())
    return error;
  theBlock = this;
  job = &launch;
  state = (options.seed + 1) * 0x9e3779b97f4a7c15ull | 1;
  for (const char *c = launch.name; *c; ++c)
    state = (state ^ uint64_t(*c)) * 0xff51afd7ed558ccdull | 1;
  if (launch.threads == 0 || launch.threads % 32 || !stacks.reserve(launch.threads))
    return "a block of " + std::to_string(launch.threads) + " threads";
  std::vector<uint32_t> order(launch.grid);
  std::iota(order.begin(), order.end(), 0);
  if (options.order == Order::Reverse)
    std::reverse(order.begin(), order.end());
  for (uint32_t i = launch.grid; options.order == Order::Random && i > 1; --i)
    std::swap(order[i - 1], order[random(i)]);
  races.begin(launch.threads);
  for (uint32_t number : order) {
    block = number;
    if (!runBlock())
      break;
  }
  job = nullptr;
  return std::move(error);
}

bool Block::runBlock() {
  uint32_t threads = job->threads;
  warps.assign(threads / 32, Warp());
  copies.assign(threads, Copies());
  stopped.resize(threads);
  for (uint32_t i = 0; i < threads; ++i)
    stopped[i] = stacks.enter(i, body);
  constexpr uintptr_t kAligned = 1024; // compilers rely on what a kernel asks for
  sharedMemory.assign(job->shared + kAligned, char(0xff));
  sharedBegin = sharedMemory.data() + (-reinterpret_cast<uintptr_t>(sharedMemory.data()) & (kAligned - 1));
  writers.assign(job->shared / 4 + 1, {});
  phases.begin();
  groups.clear();
  for (uint32_t i = 0; i < threads; i += Group::kThreads)
    groups.emplace_back(*this);
  sharedRaces.begin(threads);
  waiting = ended = 0;
  barriers = 0;
  current = options.order == Order::Reverse ? threads - 1 : options.order == Order::Random ? random(threads) : 0;
  heddle_fiber_switch(&outside, stopped[current]);
  return error.empty();
}

void Block::body() {
  Block &self = runningBlock();
  const Launch &job = *self.job;
  job.function(job.fail, job.dims, job.tensors, job.arena, job.weights, job.i, job.j, job.numbers.data());
  Warp &warp = self.warps[self.current / 32];
  uint32_t lane = 1u << self.current % 32;
  warp.ended |= lane;
  warp.ready &= ~lane;
  if (!self.copies[self.current].open.empty())
    self.fail("ends while copies that it asked for are under way");
  if (self.group().isOpen())
    self.fail("ends while products that it asked for are under way");
  if (warp.arrived && warp.mask & lane)
    self.fail("ends while lanes of its warp wait for it");
  ++self.ended;
  if (self.ended == job.threads && !self.phases.idle())
    self.fail("ends while copies in bulk are under way");
  if (self.waiting)
    self.fail("ends while threads of its block wait for it at a barrier");
  self.next();
  __builtin_trap();
}

void Block::go(uint32_t thread) {
  if (thread == current)
    return;
  uint32_t from = current;
  current = thread;
  ++switched;
  heddle_fiber_switch(&stopped[from], stopped[thread]);
}

void Block::next() {
  auto count = uint32_t(warps.size());
  uint32_t first = current / 32;
  bool back = options.order == Order::Reverse;
  if (options.order == Order::Random)
    first = random(count);
  for (uint32_t k = 0; k < count; ++k) {
    uint32_t warp = (back ? first + count - k : first + k) % count;
    uint32_t ready = warps[warp].ready;
    if (!ready)
      continue;
    uint32_t lane = uint32_t(back ? 31 - __builtin_clz(ready) : __builtin_ctz(ready));
    if (options.order == Order::Random)
      for (lane = random(32); !(ready >> lane & 1);)
        lane = (lane + 1) % 32;
    return go(warp * 32 + lane);
  }
  if (ended < job->threads && phases.progress())
    return next();
  if (ended < job->threads)
    error = "kernel " + std::string(job->name) + ": threads wait for each other, " +
            place(block * job->threads + current) + " last";
  heddle_fiber_switch(&stopped[current], outside);
}

uint32_t Block::meet(Meeting meeting, uint32_t mask, uint32_t value, uint32_t from) {
  if (!(mask >> from & 1))
    fail("meets lanes without being one of them");
  return gather(meeting, mask, {value})[from][0];
}

const Brought &Block::gather(Meeting meeting, uint32_t mask, const Brought::value_type &words) {
  Warp &warp = warps[current / 32];
  uint32_t lane = current % 32, bit = 1u << lane;
  if (!(mask & bit))
    fail("meets lanes without being one of them");
  if (warp.arrived && (warp.meeting != meeting || warp.mask != mask))
    fail("meets its warp at another place than the lanes that wait there");
  if (warp.ended & mask)
    fail("waits for lanes that have ended");
  Brought &brought = warp.brought[warp.meetings % 2];
  warp.meeting = meeting;
  warp.mask = mask;
  warp.arrived |= bit;
  brought[lane] = words;
  if (warp.arrived != mask) {
    warp.ready &= ~bit;
    next();
    return brought;
  }
  warp.arrived = 0;
  ++warp.meetings;
  warp.ready |= mask;
  if (meeting == Meeting::Sync)
    ++warp.syncs;
  if (options.order != Order::Forward)
    next(); // the last to come need not be the first to go on
  return brought;
}

void Block::barrier() {
  if (ended)
    fail("waits at a barrier for threads that have ended");
  if (warps[current / 32].arrived)
    fail("waits at a barrier while its warp waits for it elsewhere");
  warps[current / 32].ready &= ~(1u << current % 32);
  if (++waiting < job->threads)
    return next();
  waiting = 0;
  ++barriers;
  for (Warp &warp : warps) {
    warp.ready = ~0u;
    ++warp.syncs;
  }
  if (options.order != Order::Forward)
    next();
}

void Block::sleep() {
  warps[current / 32].ready &= ~(1u << current % 32);
  next();
}

uint64_t Block::sharedOffset(const char *at, uint64_t bytes) {
  auto offset = uint64_t(at - sharedBegin);
  if (offset > job->shared || bytes > job->shared - offset)
    fail("takes " + std::to_string(bytes) + " bytes for shared memory that are not");
  return offset;
}

void Block::fillInBulk(char *to, uint64_t bytes) {
  uint64_t offset = sharedOffset(to, bytes);
  for (uint64_t at = offset; at < offset + bytes; at += 4)
    if (isWrittenByThreads(at))
      fail("copies in bulk over what threads wrote, and no fence.proxy.async is between");
  touch(to, bytes, true); // from now on, whenever it is
  note(offset, bytes, {});
  if (options.races)
    sharedRaces.forget(offset, bytes);
}

bool Block::barrierOr(bool mine) {
  bool &yes = said[barriers % 2];
  if (!waiting)
    yes = false;
  yes |= mine;
  barrier();
  return yes;
}

void Block::perform(const Copy &copy) {
  memcpy(copy.to, copy.from, copy.bytes);
  memset(copy.to + copy.bytes, 0, copy.size - copy.bytes);
}

void Block::copyAsync(char *to, const char *from, uint32_t bytes, uint32_t size) {
  auto offset = uint64_t(to - sharedBegin);
  if (offset % size || reinterpret_cast<uintptr_t>(from) % size || bytes > size || offset + size > job->shared)
    fail("copies " + std::to_string(size) + " bytes to or from where they do not fit");
  if (bytes == 0 && !memory.holds(from, size))
    fail("copies no bytes from an address that is in no allocation");
  touch(from, bytes, false);
  touch(to, size, true); // from now on, whenever it is
  Copies &mine = copies[current];
  note(offset, size, {current + 1, mine.groups, true});
  Copy copy{to, from, bytes, size, mine.groups};
  if (isNow(options.copies))
    perform(copy);
  else
    mine.open.push_back(copy);
}

void Block::endGroup() { ++copies[current].groups; }

void Block::note(uint64_t offset, uint64_t bytes, const Writer &writer) {
  for (uint64_t word = offset / 4; word <= (offset + bytes - 1) / 4; ++word)
    writers[word] = writer;
}

bool Block::isWrittenByThreads(uint64_t offset) const {
  const Writer &last = writers[offset / 4];
  if (!last.thread)
    return false;
  const Copies &its = copies[last.thread - 1];
  return last.number >= (last.copies ? its.shown : its.fences);
}

void Block::showUnits() {
  Copies &mine = copies[current];
  mine.shown = mine.waited;
  ++mine.fences;
}

void Block::waitGroups(uint32_t pending) {
  Copies &mine = copies[current];
  mine.waited = std::max(mine.waited, mine.groups > pending ? mine.groups - pending : 0);
  size_t done = 0;
  while (done < mine.open.size() && mine.open[done].group + pending < mine.groups)
    perform(mine.open[done++]);
  mine.open.erase(mine.open.begin(), mine.open.begin() + ptrdiff_t(done));
}

Moment Block::now() const {
  uint32_t first = block * job->threads;
  return {first + current, first, warps[current / 32].syncs, barriers};
}

std::string Block::place(uint32_t thread) const {
  return "thread " + std::to_string(thread % job->threads) + " of block " + std::to_string(thread / job->threads);
}

void Block::touch(const void *address, uint64_t bytes, bool stores) {
  if (!options.races)
    return;
  uint64_t offset = uint64_t(static_cast<const char *>(address) - sharedBegin);
  bool isShared = offset < job->shared;
  if (!isShared && !memory.offsetOf(address, offset))
    return; // a thread's own
  Races &shadows = isShared ? sharedRaces : races;
  if (isShared && stores)
    note(offset, bytes, {current + 1, copies[current].fences, false});
  uint32_t other = 0;
  if (!(stores ? shadows.store(offset, bytes, now(), other) : shadows.load(offset, bytes, now(), other)))
    fail(std::string("races: it ") + (stores ? "writes" : "reads") + (isShared ? " shared memory" : " memory") +
         " that " + place(other) + " touched, and nothing is between the two");
}

void Block::fail(const std::string &what) {
  error = "kernel " + std::string(job->name) + ": " + place(block * job->threads + current) + " " + what;
  heddle_fiber_switch(&stopped[current], outside);
  __builtin_trap();
}

} // namespace heddle::emulator
