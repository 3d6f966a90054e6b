//===- Groups.h - Products by groups of four warps --------------*- C++ -*-===//
//
// wgmma: 128 threads ask for a product, and go on. It is done at once, or when
// some thread waits for it, which is as late as it may be. Until it is settled
// its registers hold tokens: a NaN that says of which sum it stands for. So a number
// that is used too early is NaN, or a token at a place where none may be.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TEST_EMULATOR_GROUPS_H
#define HEDDLE_TEST_EMULATOR_GROUPS_H

#include <array>
#include <cstdint>
#include <vector>

namespace heddle::emulator {

class Block;

class Group {
public:
  static constexpr uint32_t kThreads = 128, kRows = 64;
  explicit Group(Block &block) : block(block) {}

  /// Registers that were written until now may be sums.
  void fence();
  /// Four words of a thread: what it holds of the left side of a product.
  using Words = std::array<uint32_t, 4>;
  /// sums + left * right, 64 rows by `columns`; descriptors say where the sides are.
  void multiply(float *sums, uint32_t columns, uint64_t left, uint64_t right) {
    ask(sums, columns, {0, false, left, right, false, {}}, {});
  }
  /// The same where threads hold the left side and lines of the right one have 8 columns.
  void multiplyHeld(float *sums, uint32_t columns, const Words &left, uint64_t right) {
    ask(sums, columns, {0, false, 0, right, true, {}}, left);
  }
  void commit();
  /// Waits for all that was committed but the last `pending`.
  void wait(uint32_t pending);
  /// Waits for all, and the sums for the tokens that stand for them.
  void settle(float *sums, uint32_t count);
  /// Whether the thread that runs has not waited for something.
  bool isOpen() const;

private:
  /// Sums that one product after the other adds to.
  struct Chain {
    uint32_t columns, last;  ///< the last product
    std::vector<float> sums; ///< by thread
  };
  struct Product {
    uint32_t chain;
    bool fresh; ///< begins its chain
    uint64_t left, right;
    bool held;                ///< the left side by threads; then the right one is turned
    std::vector<Words> words; ///< of it, by thread
  };
  struct Thread {
    uint32_t asked = 0, settled = 0; ///< products
    std::vector<uint32_t> commits;   ///< how many products each had
    bool fenced = false;
  };
  Thread &mine();
  uint32_t place() const; ///< of the thread that runs, in the group
  uint32_t chainOf(const float *sums, uint32_t columns);
  void ask(float *sums, uint32_t columns, Product product, const Words &words);
  void perform(const Product &product);
  void read(const Product &product);
  uint64_t elementAt(uint64_t descriptor, uint32_t row, uint32_t k, bool turned);

  Block &block;
  std::vector<Chain> chains;
  std::vector<Product> products;
  uint32_t done = 0, arrived = 0;
  std::array<Thread, kThreads> threads;
};

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_GROUPS_H
