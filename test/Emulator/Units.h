//===- Units.h - How a unit adds 16 products --------------------*- C++ -*-===//
//
// A unit adds 16 products and the sum before them in an order of its own; here
// either one after the other, each rounded, or all at once and cut off, as is
// reported of hardware. What is computed must be good in both. Products of two
// bf16 are exact in f32.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TEST_EMULATOR_UNITS_H
#define HEDDLE_TEST_EMULATOR_UNITS_H

#include <cstdint>

namespace heddle::emulator {

constexpr uint32_t kUnit = 16; ///< products that a unit adds at a time

/// The bf16 in the lower (0) or the upper half of a word.
float half(uint32_t word, uint32_t upper);

/// sum + the products of `left` and `right`, 16 each.
float addProducts(float sum, const float *left, const float *right, bool chops);

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_UNITS_H
