//===- TypicalMasks.h - the masks of real models ----------------*- C++ -*-===//
#ifndef HEDDLE_TEST_MASK_TYPICALMASKS_H
#define HEDDLE_TEST_MASK_TYPICALMASKS_H

#include "test/Mask/MaskSpec.h"

namespace heddle::test {

struct TypicalMask {
  std::string name;
  MaskSpec spec;
};

/// Twenty masks whose edges are as they are at length 500: a cursor is to be exact for all.
std::vector<TypicalMask> typicalMasks();
/// Some whose cursor must be cheap, as they are at length 65536.
std::vector<TypicalMask> costlyMasks();

} // namespace heddle::test

#endif
