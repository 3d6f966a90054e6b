//===- Groups.cpp - Products by groups of four warps ----------------------===//
//
// A descriptor, as the PTX manual has it: bits 0-13 where the side begins, 16-29
// from one 8 x 8 matrix of halves to the next along k, 32-45 the same along rows
// or columns, all in units of 16 bytes; bits 62-63 the order within, of which
// "none" is known here: a matrix is 128 bytes, row after row; where the side is turned,
// a line of 16 bytes has 8 rows (columns) of one k.
//
//===----------------------------------------------------------------------===//
#include "test/Emulator/Groups.h"

#include "test/Emulator/Block.h"
#include "test/Emulator/Kernel.h"
#include "test/Emulator/Units.h"

#include <cstring>

namespace heddle::emulator {

static constexpr uint32_t kToken = 0x7fc00000, kMostChains = (1 << 14) - 2;

static float tokenOf(uint32_t chain, uint32_t i) {
  uint32_t bits = kToken | (chain + 1) << 8 | i;
  float token;
  memcpy(&token, &bits, 4);
  return token;
}

/// Whether `value` stands for sum `i` of a chain.
static bool isToken(float value, uint32_t chains, uint32_t &chain, uint32_t &i) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  i = bits & 0xff;
  chain = (bits >> 8 & 0x3fff) - 1;
  return (bits & 0xffc00000u) == kToken && i < 128 && chain < chains;
}

uint32_t Group::place() const { return block.thread() % kThreads; }
Group::Thread &Group::mine() { return threads[place()]; }
bool Group::isOpen() const { return threads[place()].settled != threads[place()].asked; }

void Group::fence() { mine().fenced = true; }

/// The chain that the registers go on with; a new one where they are numbers.
uint32_t Group::chainOf(const float *sums, uint32_t columns) {
  uint32_t chain = 0, i = 0, known = uint32_t(chains.size()), tokens = 0, first = 0;
  for (uint32_t n = 0; n < columns / 2; ++n)
    if (isToken(sums[n], known, chain, i)) {
      first = tokens++ ? first : chain;
      if (i != n || chain != first || chains[chain].columns != columns)
        block.fail("mixes the registers of products that are under way");
    }
  if (tokens == columns / 2)
    return first;
  if (tokens)
    block.fail("mixes numbers and products that are under way");
  return known;
}

void Group::ask(float *sums, uint32_t columns, Product wanted, const Words &words) {
  if (columns % 8 || columns == 0 || columns > 256 || wanted.left >> 62 || wanted.right >> 62)
    block.fail("multiplies what no group of warps can");
  Thread &thread = mine();
  uint32_t count = columns / 2, number = thread.asked++;
  // Who comes first says what is multiplied, and all others must say the same.
  if (number == products.size()) {
    uint32_t chain = chainOf(sums, columns);
    bool fresh = chain == chains.size();
    if (fresh)
      chains.push_back({columns, 0, std::vector<float>(size_t(kThreads) * count)});
    if (chain >= kMostChains)
      block.fail("has more sums under way than there are tokens");
    chains[chain].last = number;
    wanted.chain = chain;
    wanted.fresh = fresh;
    products.push_back(wanted);
    products.back().words.resize(wanted.held ? kThreads : 0);
    arrived = 0;
  }
  Product &product = products[number];
  Chain &chain = chains[product.chain];
  uint32_t its = 0, i = 0;
  bool goesOn = isToken(sums[0], uint32_t(chains.size()), its, i);
  if (product.left != wanted.left || product.right != wanted.right || product.held != wanted.held ||
      chain.columns != columns || goesOn == product.fresh || (goesOn && chainOf(sums, columns) != product.chain))
    block.fail("asks for another product than the other threads of its group");
  if (!goesOn) {
    if (!thread.fenced)
      block.fail("multiplies into registers that were written, and no wgmma.fence is between");
    memcpy(chain.sums.data() + size_t(place()) * count, sums, 4 * size_t(count));
  }
  if (product.held)
    product.words[place()] = words;
  for (uint32_t n = 0; n < count; ++n)
    sums[n] = tokenOf(product.chain, n);
  if (++arrived < kThreads)
    return block.sleep();
  uint32_t begin = block.thread() / kThreads * kThreads;
  for (uint32_t n = 0; n < kThreads; ++n)
    block.wake(begin + n);
  if (block.isNow(block.options.products))
    for (; done < products.size(); ++done)
      perform(products[done]);
}

void Group::commit() { mine().commits.push_back(mine().asked); }

void Group::wait(uint32_t pending) {
  Thread &thread = mine();
  size_t groups = thread.commits.size();
  uint32_t until = groups > pending ? thread.commits[groups - 1 - pending] : 0;
  for (; done < until; ++done)
    perform(products[done]);
  // Memory is read until here; the last thread stands for all in the eyes of races.
  for (; thread.settled < until; ++thread.settled)
    if (place() == kThreads - 1)
      read(products[thread.settled]);
}

void Group::settle(float *sums, uint32_t count) {
  wait(0);
  uint32_t chain = 0, i = 0;
  for (uint32_t n = 0; n < count; ++n)
    if (isToken(sums[n], uint32_t(chains.size()), chain, i)) {
      if (chains[chain].last >= mine().settled)
        block.fail("takes sums of a product that was not committed");
      sums[n] = chains[chain].sums[place() * (chains[chain].columns / 2) + i];
    }
  mine().fenced = false;
}

/// The offset in shared memory of element (row, k) of a side.
uint64_t Group::elementAt(uint64_t descriptor, uint32_t row, uint32_t k, bool turned) {
  constexpr uint64_t kField = 0x3fff, kWindow = 0x3ffff;
  uint64_t begin = (descriptor & kField) << 4, leading = (descriptor >> 16 & kField) << 4,
           stride = (descriptor >> 32 & kField) << 4;
  uint64_t base = reinterpret_cast<uintptr_t>(block.shared());
  uint64_t offset = (begin - base) & kWindow;
  offset += row / 8 * stride + row % 8 * (turned ? 2 : 16) + k / 8 * leading + k % 8 * (turned ? 16 : 2);
  if (offset + 2 > block.sharedBytes())
    block.fail("multiplies what is not in shared memory");
  return offset;
}

void Group::perform(const Product &product) {
  Chain &chain = chains[product.chain];
  auto fetch = [&](uint64_t descriptor, uint32_t rows, bool turned) {
    std::vector<float> side(size_t(rows) * kUnit);
    for (uint32_t row = 0; row < rows; ++row)
      for (uint32_t k = 0; k < kUnit; ++k) {
        uint64_t at = elementAt(descriptor, row, k, turned);
        if (block.isWrittenByThreads(at))
          block.fail("multiplies what threads wrote, and no fence.proxy.async is between");
        uint16_t bits;
        memcpy(&bits, block.shared() + at, 2);
        side[row * kUnit + k] = half(bits, 0);
      }
    return side;
  };
  // A thread holds rows lane / 4 and the eighth behind, of each two pairs of k.
  auto gathered = [&] {
    std::vector<float> side(size_t(kRows) * kUnit);
    for (uint32_t thread = 0; thread < kThreads; ++thread)
      for (uint32_t i = 0; i < 8; ++i) {
        uint32_t lane = thread % 32, row = thread / 32 * 16 + lane / 4 + (i / 2 & 1) * 8;
        uint32_t k = i / 4 * 8 + lane % 4 * 2 + i % 2;
        side[row * kUnit + k] = half(product.words[thread][i / 2], i % 2);
      }
    return side;
  };
  std::vector<float> left = product.held ? gathered() : fetch(product.left, kRows, false);
  std::vector<float> right = fetch(product.right, chain.columns, product.held);
  uint32_t count = chain.columns / 2;
  for (uint32_t thread = 0; thread < kThreads; ++thread)
    for (uint32_t i = 0; i < count; ++i) {
      uint32_t lane = thread % 32, row = thread / 32 * 16 + lane / 4 + (i & 2) * 4;
      uint32_t column = i / 4 * 8 + lane % 4 * 2 + i % 2;
      float &sum = chain.sums[size_t(thread) * count + i];
      sum = addProducts(sum, &left[row * kUnit], &right[column * kUnit], block.chops());
    }
}

void Group::read(const Product &product) {
  auto touch = [&](uint64_t descriptor, uint32_t rows, bool turned) {
    for (uint32_t row = 0; row < rows; row += turned ? 8 : 1)
      for (uint32_t k = 0; k < kUnit; k += turned ? 1 : 8)
        block.touch(block.shared() + elementAt(descriptor, row, k, turned), 16, false);
  };
  if (!product.held)
    touch(product.left, kRows, false);
  touch(product.right, chains[product.chain].columns, product.held);
}

} // namespace heddle::emulator

using namespace heddle::emulator;

void hdemu_wgmma_fence_sync_aligned(void) { runningBlock().group().fence(); }

void hdemu_wgmma(float *sums, int columns, int64_t left, int64_t right) {
  runningBlock().group().multiply(sums, uint32_t(columns), uint64_t(left), uint64_t(right));
}

void hdemu_wgmma_held(float *sums, int columns, int a, int b, int c, int d, int64_t right) {
  runningBlock().group().multiplyHeld(sums, uint32_t(columns), {uint32_t(a), uint32_t(b), uint32_t(c), uint32_t(d)},
                                      uint64_t(right));
}

void hdemu_fence_proxy_async(void) { runningBlock().showUnits(); }

void hdemu_wgmma_commit_group_sync_aligned(void) { runningBlock().group().commit(); }

void hdemu_wgmma_wait_group_sync_aligned(int64_t pending) { runningBlock().group().wait(uint32_t(pending)); }

void hdemu_wgmma_settle(float *sums, int count) { runningBlock().group().settle(sums, uint32_t(count)); }
