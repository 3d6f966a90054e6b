//===- Fake.cpp - Models written by hand ----------------------------------===//
//
// Work is divided by rows; a barrier is where a real model would have one.
//
//===----------------------------------------------------------------------===//
#include "test/Runtime/Fake.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace heddle::fake {

int64_t refillAt = -1;
int calls = 0;
int64_t longestCall = 0;
int64_t nanId = -1;

std::vector<int64_t> continuation(uint64_t seed, std::vector<int64_t> tokens, int64_t steps) {
  std::vector<int64_t> made;
  for (int64_t i = 0; i < steps; ++i) {
    uint64_t hash = seed;
    for (size_t k = 0; k < tokens.size(); ++k)
      hash = mix(hash, tokens[k], int64_t(k));
    made.push_back(pick(hash));
    tokens.push_back(made.back());
    if (made.back() == kEos)
      break;
  }
  return made;
}

uint64_t sourceSeed(const std::vector<int64_t> &source) {
  uint64_t hash = 99;
  for (int64_t token : source)
    hash = mix(hash, token, 0);
  return hash;
}

static void putLogits(float *row, uint64_t hash) {
  for (int64_t v = 0; v < kVocab; ++v)
    row[v] = v == nanId ? NAN : v == pick(hash) ? 2.0f : float(mix(hash, v, 5) % 1000) / 510;
}

static void checkIds(heddle_ctx *ctx, const int64_t *ids, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    if (ids[i] < 0 || ids[i] >= kVocab)
      heddle_fail(ctx, 1, ids[i], kVocab);
}

//===----------------------------------------------------------------------===//
// Decoder only: run(input_ids, attention_mask?, position_ids?), step.

static const char kDecoderRun[] = R"(heddle-card 1
name fake%20decoder      # a comment
target cpu%20none
dim B 4
dim T 32
generate tokens input_ids
generate logits logits
generate mask attention_mask
generate positions position_ids
generate eos 7
generate pad 3
generate extend token_type_ids 5
entry run
dims B T
input input_ids i64 [B, T]
input attention_mask i64 [B, T] default
input position_ids i64 [B, T] default
input token_type_ids i64 [B, T] default
output logits f32 [B, T, 50]
output hidden_states.0 f32 [B, T, 2] optional-all
flops 1000*B*T
arena 8*B*T+64
)";

static const char kDecoderStep[] = R"(entry step
dims B past new capacity
input input_ids i64 [B, new]
input attention_mask i64 [B, new]
input position_ids i64 [B, new]
input token_type_ids i64 [B, new] default
output logits f32 [B, 50]
output refill i64 []
state hash 8*B groups 1
state count 8*B*capacity groups 1
flops 1000*B*new
arena 64
)";

static void runDecoder(heddle_ctx *ctx, int64_t tid, int64_t nth, const int64_t *dims, void *const *tensors,
                       char *arena, const char *) {
  int64_t B = dims[0], T = dims[1];
  auto *ids = static_cast<const int64_t *>(tensors[0]);
  auto *mask = static_cast<const int64_t *>(tensors[1]);
  auto *positions = static_cast<const int64_t *>(tensors[2]);
  auto *logits = static_cast<float *>(tensors[4]);
  auto *hidden = static_cast<float *>(tensors[5]);
  auto *hashes = reinterpret_cast<uint64_t *>(arena);
  if (tid == 0) {
    ++calls;
    checkIds(ctx, ids, B * T);
  }
  for (int64_t b = tid; b < B; b += nth) {
    uint64_t hash = 0;
    for (int64_t t = 0; t < T; ++t) {
      int64_t i = b * T + t;
      if (!mask || mask[i])
        hash = mix(hash, ids[i], positions ? positions[i] : t);
      hashes[i] = hash;
      hidden[2 * i] = float(ids[i]);
      hidden[2 * i + 1] = float(t);
    }
  }
  heddle_barrier(ctx, 0);
  for (int64_t i = tid; i < B * T; i += nth)
    putLogits(logits + i * kVocab, hashes[i]);
}

static void stepDecoder(heddle_ctx *ctx, int64_t tid, int64_t nth, const int64_t *dims, void *const *tensors, char *,
                        const char *) {
  int64_t B = dims[0], past = dims[1], count = dims[2], capacity = dims[3];
  auto *ids = static_cast<const int64_t *>(tensors[0]);
  auto *mask = static_cast<const int64_t *>(tensors[1]);
  auto *positions = static_cast<const int64_t *>(tensors[2]);
  auto *types = static_cast<const int64_t *>(tensors[3]);
  auto *logits = static_cast<float *>(tensors[4]);
  auto *refill = static_cast<int64_t *>(tensors[5]);
  auto *hashes = static_cast<uint64_t *>(tensors[6]);
  auto *seen = static_cast<int64_t *>(tensors[7]);
  if (tid == 0) {
    ++calls;
    longestCall = std::max(longestCall, count);
    checkIds(ctx, ids, B * count);
    *refill = past > 0 && past + count == refillAt;
    if (past + count > capacity)
      heddle_fail(ctx, 2, past + count, capacity);
  }
  heddle_barrier(ctx, 0);
  for (int64_t b = tid; b < B; b += nth) {
    if (past == 0)
      hashes[b] = 0;
    for (int64_t t = 0; t < count; ++t) {
      int64_t i = b * count + t;
      // A new column of token types holds what the card says.
      if (types && past > 0 && types[i] != 5)
        heddle_fail(ctx, 2, types[i], 5);
      seen[b * capacity + past + t] += 1;
      if (mask[i])
        hashes[b] = mix(hashes[b], ids[i], positions[i]);
    }
    uint64_t hash = hashes[b];
    // A step that asks for a refill gives results nobody may use.
    if (past > 0 && past + count == refillAt)
      hash = hashes[b] = 12345;
    putLogits(logits + b * kVocab, hash);
  }
}

rt::Image decoderOnly() {
  static const std::string card = std::string(kDecoderRun) + kDecoderStep + "end\n";
  static const heddle_entry_fn entries[] = {runDecoder, stepDecoder};
  rt::Image image;
  image.card = card.c_str();
  image.entries = entries;
  return image;
}

rt::Image inPieces() {
  static const std::string card = std::string(kDecoderRun) + kDecoderStep + "pieces 2 beyond 16\nend\n";
  rt::Image image = decoderOnly();
  image.card = card.c_str();
  return image;
}

//===----------------------------------------------------------------------===//
// The same, with the tokens themselves as its state.

static const char kAppendingStep[] = R"(entry step
dims B past new capacity
input input_ids i64 [B, new]
input attention_mask i64 [B, new]
input position_ids i64 [B, new]
input token_type_ids i64 [B, new] default
output logits f32 [B, 50]
state rows 24*B*capacity groups 1
arena 8*B*new*(past+new)
)";

static void stepAppending(heddle_ctx *ctx, int64_t tid, int64_t nth, const int64_t *dims, void *const *tensors,
                          char *arena, const char *) {
  int64_t B = dims[0], past = dims[1], count = dims[2], capacity = dims[3];
  auto *rows = static_cast<int64_t *>(tensors[5]);
  if (tid == 0) {
    ++calls;
    longestCall = std::max(longestCall, count);
    checkIds(ctx, static_cast<const int64_t *>(tensors[0]), B * count);
    memset(arena, 0x5a, 8 * B * count * (past + count)); // as much as the card asks for
  }
  heddle_barrier(ctx, 0);
  for (int64_t b = tid; b < B; b += nth) {
    for (int64_t t = 0; t < count; ++t)
      for (int64_t k = 0; k < 3; ++k)
        rows[(b * capacity + past + t) * 3 + k] = static_cast<const int64_t *>(tensors[k])[b * count + t];
    uint64_t hash = 0;
    for (int64_t t = 0; t < past + count; ++t)
      if (const int64_t *row = rows + (b * capacity + t) * 3; row[1])
        hash = mix(hash, row[0], row[2]);
    putLogits(static_cast<float *>(tensors[4]) + b * kVocab, hash);
  }
}

rt::Image appending() {
  static const std::string card = std::string(kDecoderRun) + kAppendingStep + "end\n";
  static const heddle_entry_fn entries[] = {runDecoder, stepAppending};
  rt::Image image;
  image.card = card.c_str();
  image.entries = entries;
  return image;
}

rt::Image recomputing() {
  static const std::string card = std::string(kDecoderRun) + "end\n";
  static const heddle_entry_fn entries[] = {runDecoder};
  rt::Image image;
  image.card = card.c_str();
  image.entries = entries;
  return image;
}

//===----------------------------------------------------------------------===//
// Encoder and decoder.

static const char kEncoderDecoder[] = R"(heddle-card 1
name fake%20encoder%20and%20decoder
dim B -
dim S 64
dim T 32
generate tokens decoder_input_ids
generate logits logits
generate source input_ids
generate start 11
generate eos 7 8
generate pad 3
entry run
dims B S T
input input_ids i64 [B, S]
input attention_mask i64 [B, S] default
input decoder_input_ids i64 [B, T]
output logits f32 [B, T, 50]
arena 64
entry once
dims B S T
input input_ids i64 [B, S]
input attention_mask i64 [B, S] default
state source 8*B groups 1
arena 16*B*S
entry step
dims B S past new capacity
input decoder_input_ids i64 [B, new]
output logits f32 [B, 50]
state source 8*B groups 1
state hash 8*B groups 1
arena max(64, 8*new)
end
)";

static void once(heddle_ctx *, int64_t tid, int64_t nth, const int64_t *dims, void *const *tensors, char *,
                 const char *) {
  int64_t B = dims[0], S = dims[1];
  auto *ids = static_cast<const int64_t *>(tensors[0]);
  auto *mask = static_cast<const int64_t *>(tensors[1]);
  auto *seeds = static_cast<uint64_t *>(tensors[2]);
  for (int64_t b = tid; b < B; b += nth) {
    seeds[b] = 99;
    for (int64_t s = 0; s < S; ++s)
      if (!mask || mask[b * S + s])
        seeds[b] = mix(seeds[b], ids[b * S + s], 0);
  }
}

static void stepTarget(heddle_ctx *, int64_t tid, int64_t nth, const int64_t *dims, void *const *tensors, char *,
                       const char *) {
  int64_t B = dims[0], past = dims[2], count = dims[3];
  auto *ids = static_cast<const int64_t *>(tensors[0]);
  auto *logits = static_cast<float *>(tensors[1]);
  auto *seeds = static_cast<const uint64_t *>(tensors[2]);
  auto *hashes = static_cast<uint64_t *>(tensors[3]);
  for (int64_t b = tid; b < B; b += nth) {
    if (past == 0)
      hashes[b] = seeds[b];
    for (int64_t t = 0; t < count; ++t)
      hashes[b] = mix(hashes[b], ids[b * count + t], past + t);
    putLogits(logits + b * kVocab, hashes[b]);
  }
}

static void runTarget(heddle_ctx *, int64_t, int64_t, const int64_t *, void *const *, char *, const char *) {}

rt::Image encoderDecoder() {
  static const heddle_entry_fn entries[] = {runTarget, once, stepTarget};
  rt::Image image;
  image.card = kEncoderDecoder;
  image.entries = entries;
  return image;
}

} // namespace heddle::fake
