//===- Memory.cpp - Memory of the emulated device -------------------------===//
//
// An allocation ends where its pages end, up to 256 bytes, so that what runs
// over it faults. Faults are explained in a signal handler that has a stack of
// its own: the faulting thread may be a fiber.
//
//===----------------------------------------------------------------------===//
#include "test/Emulator/Memory.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace heddle::emulator {

static constexpr uint64_t kPage = 4096, kAlign = 256;

static uint64_t roundUp(uint64_t value, uint64_t step) { return (value + step - 1) / step * step; }

/// The memory whose faults are explained: a signal has no other way to it.
static Memory *theMemory = nullptr;
static struct sigaction theOldAction;

static void onFault(int, siginfo_t *info, void *) {
  std::string text = theMemory ? theMemory->explain(info->si_addr) : "";
  if (text.empty()) {
    // Somebody else's: faults again, by the old rules.
    sigaction(SIGSEGV, &theOldAction, nullptr);
    return;
  }
  text = "emulator: " + text + "\n";
  ssize_t ignored = write(2, text.data(), text.size());
  (void)ignored;
  _exit(70);
}

Memory::Memory(uint64_t total) : most(total) {
  // Room for guard pages and gaps; addresses cost nothing.
  reserved = roundUp(4 * total + (uint64_t(1) << 30), kPage);
  void *range = mmap(nullptr, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) {
    fprintf(stderr, "emulator: no addresses for %llu bytes\n", static_cast<unsigned long long>(reserved));
    _exit(70);
  }
  base = static_cast<char *>(range);
  theMemory = this;
  struct sigaction action = {};
  action.sa_sigaction = onFault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &action, &theOldAction);
}

Memory::~Memory() {
  sigaction(SIGSEGV, &theOldAction, nullptr);
  theMemory = nullptr;
  munmap(base, reserved);
  for (auto &[address, bytes] : pinned)
    ::free(address);
}

char *Memory::allocate(uint64_t bytes) {
  uint64_t taken = roundUp(bytes ? bytes : 1, kAlign);
  uint64_t mapped = roundUp(taken, kPage);
  if (bytes > most || used + taken > most)
    return nullptr;
  // The first gap that it fits into with a page behind it.
  char *begin = base;
  for (const auto &[address, piece] : pieces) {
    if (piece.begin >= begin + mapped + kPage)
      break;
    begin = piece.begin + piece.mapped + kPage;
  }
  if (begin + mapped + kPage > base + reserved)
    return nullptr;
  mprotect(begin, mapped, PROT_READ | PROT_WRITE);
  memset(begin, 0xff, mapped);
  if (!opened)
    mprotect(begin, mapped, PROT_NONE);
  char *address = begin + mapped - taken;
  pieces[address] = {bytes, begin, mapped};
  used += taken;
  return address;
}

bool Memory::release(char *address) {
  auto found = pieces.find(address);
  if (found == pieces.end())
    return false;
  const Piece &piece = found->second;
  // Gives the pages back; what comes next is fresh.
  mmap(piece.begin, piece.mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  used -= roundUp(piece.bytes ? piece.bytes : 1, kAlign);
  pieces.erase(found);
  return true;
}

const std::pair<char *const, Memory::Piece> *Memory::find(const void *address) const {
  auto next = pieces.upper_bound(const_cast<char *>(static_cast<const char *>(address)));
  return next == pieces.begin() ? nullptr : &*std::prev(next);
}

bool Memory::holds(const void *address, uint64_t bytes) const {
  const auto *piece = find(address);
  if (!piece)
    return false;
  uint64_t at = uint64_t(static_cast<const char *>(address) - piece->first);
  return bytes <= piece->second.bytes && at <= piece->second.bytes - bytes;
}

bool Memory::offsetOf(const void *address, uint64_t &offset) const {
  offset = uint64_t(static_cast<const char *>(address) - base);
  return offset < reserved;
}

void *Memory::allocateHost(uint64_t bytes) {
  void *address = nullptr;
  if (posix_memalign(&address, kPage, bytes ? bytes : 1) != 0)
    return nullptr;
  memset(address, 0xff, bytes);
  pinned[static_cast<char *>(address)] = bytes;
  return address;
}

bool Memory::releaseHost(void *address) {
  if (!pinned.erase(static_cast<char *>(address)))
    return false;
  ::free(address);
  return true;
}

bool Memory::holdsHost(const void *address, uint64_t bytes) const {
  auto *begin = const_cast<char *>(static_cast<const char *>(address));
  auto next = pinned.upper_bound(begin);
  if (next == pinned.begin())
    return false;
  auto piece = std::prev(next);
  return begin + bytes <= piece->first + piece->second;
}

void Memory::open(const void *fixed) {
  // The handler needs a stack of its own on whichever thread works now.
  static thread_local char stack[64 << 10];
  stack_t onSide = {};
  onSide.ss_sp = stack;
  onSide.ss_size = sizeof stack;
  sigaltstack(&onSide, nullptr);
  for (auto &[address, piece] : pieces) {
    piece.fixed = address == fixed;
    mprotect(piece.begin, piece.mapped, piece.fixed ? PROT_READ : PROT_READ | PROT_WRITE);
  }
  opened = true;
}

void Memory::close() {
  for (auto &[address, piece] : pieces)
    mprotect(piece.begin, piece.mapped, PROT_NONE);
  opened = false;
}

std::string Memory::explain(const void *address) const {
  uint64_t offset = 0;
  if (!offsetOf(address, offset))
    return {};
  const auto *piece = find(address);
  char text[160];
  if (!piece)
    snprintf(text, sizeof text, "in front of all allocations");
  else {
    uint64_t at = uint64_t(static_cast<const char *>(address) - piece->first);
    snprintf(text, sizeof text, "byte %llu of an allocation of %llu", static_cast<unsigned long long>(at),
             static_cast<unsigned long long>(piece->second.bytes));
  }
  if (!opened)
    return std::string("the host touched memory of the device, ") + text;
  bool inside = piece && holds(address, 1);
  return user +
         (inside && piece->second.fixed ? " stored to the weights, "
                                        : " touched no memory of its "
                                          "own, ") +
         text;
}

} // namespace heddle::emulator
