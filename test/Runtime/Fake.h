//===- Fake.h - Models written by hand --------------------------*- C++ -*-===//
//
// A model here is a card and C++ functions. Its next token is a hash of all
// real tokens and their positions so far, so that a token in the wrong place, a
// pad that is seen, or a state that is lost changes everything after it. What
// the runtime should have made is computed directly from the same hash.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TEST_RUNTIME_FAKE_H
#define HEDDLE_TEST_RUNTIME_FAKE_H

#include "heddle/image.h"

#include <string>
#include <vector>

namespace heddle::fake {

constexpr int64_t kVocab = 50, kEos = 7, kPad = 3, kStart = 11;

/// One token more.
inline uint64_t mix(uint64_t hash, int64_t token, int64_t position) {
  hash ^= uint64_t(token) * 0x9e3779b97f4a7c15ull + uint64_t(position) * 31 + 1;
  hash *= 0xff51afd7ed558ccdull;
  return hash ^ hash >> 29;
}
inline int64_t pick(uint64_t hash) { return int64_t(hash % kVocab); }

/// What generating from real tokens must give; stops after an eos.
std::vector<int64_t> continuation(uint64_t seed, std::vector<int64_t> tokens, int64_t steps);

/// With an entry `step`; `refillAt`: the length at which it asks for a refill.
rt::Image decoderOnly();
extern int64_t refillAt;
extern int calls;
extern int64_t longestCall;
/// The id whose logit is NaN; -1: none.
extern int64_t nanId;
/// The same, where texts that may get longer than 16 come in pieces of 2.
rt::Image inPieces();
/// The same with rows of tokens as its only state, all of which every step reads: it can go back.
rt::Image appending();
/// Only `run`.
rt::Image recomputing();
/// Source, `once`, `step`.
rt::Image encoderDecoder();
/// What the encoder makes of a source.
uint64_t sourceSeed(const std::vector<int64_t> &source);

} // namespace heddle::fake

#endif // HEDDLE_TEST_RUNTIME_FAKE_H
