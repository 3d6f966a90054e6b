//===- Machine.h - The emulated device --------------------------*- C++ -*-===//
//
// Options, memory and threads of the one device, and streams: lists of copies
// and launches that are done when the stream is waited for (as late as it may
// be), or at once with the option `early`. A graph is such a list that was
// captured. Driver.cpp puts the functions of libcuda in front of this.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TEST_EMULATOR_MACHINE_H
#define HEDDLE_TEST_EMULATOR_MACHINE_H

#include "heddle/image.h"
#include "test/Emulator/Block.h"

#include <functional>
#include <map>
#include <thread>

namespace heddle::emulator {

/// Something a stream does; a CUresult.
struct Operation {
  enum class Kind : uint8_t { Copy, Fill, Launch };
  Kind kind;
  char *to = nullptr;
  const char *from = nullptr;
  uint64_t bytes = 0;
  unsigned char value = 0;
  Launch launch = {};
};

struct Stream {
  std::vector<Operation> waiting, captured;
  bool capturing = false, invalid = false; ///< whether a call was made that a capture forbids
  int mode = 0;                            ///< of the capture
  std::thread::id capturer;
};

struct Graph {
  std::vector<Operation> operations;
};

class Machine {
public:
  Machine(const Options &options, const heddle_emulated_kernel *kernels);

  /// Does `operation` in its turn, or notes it for the graph that is captured.
  int submit(Stream &stream, const Operation &operation);
  /// Does all that waits.
  int finish(Stream &stream);
  int finishAll();
  const heddle_emulated_kernel *kernel(const char *name) const;
  /// Whether a launch of so many threads and bytes of dynamic shared memory can be on a multiprocessor at all.
  bool fits(const heddle_emulated_kernel &kernel, int64_t threads, int64_t dynamic) const;
  /// A stream whose capture restricts the thread that runs; null if none.
  Stream *restricting();
  /// The result that a call of `symbol` must fail with; 0: none. Counts calls.
  int injected(const char *symbol);
  void printCounts() const;

  const Options options;
  Memory memory;
  Block block;
  std::vector<std::unique_ptr<Stream>> streams;
  std::map<std::string, int64_t, std::less<>> calls;       ///< by symbol
  std::map<const heddle_emulated_kernel *, int64_t> asked; ///< dynamic shared memory that a kernel may have
  int64_t retained = 0;                                    ///< how often the context is held
  const int64_t number;                                    ///< of this machine among all, which its context goes by
  int64_t launches = 0;                                    ///< that were done, in graphs too
  int broken = 0;                                          ///< what every call returns after a launch failed
  std::string complaint;                                   ///< why it failed

private:
  int execute(const std::vector<Operation> &operations);
  int perform(const Operation &operation);

  const heddle_emulated_kernel *kernels;
};

/// The machine that heddle_emulator made last; null if none.
Machine *machine();

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_MACHINE_H
