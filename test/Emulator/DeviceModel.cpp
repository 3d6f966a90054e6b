//===- DeviceModel.cpp - A model of kernels written by hand ---------------===//
//
// Items are dealt to warps or threads as generated kernels deal them.
//
//===----------------------------------------------------------------------===//
#include "test/Emulator/DeviceModel.h"

#include "test/Emulator/Kernel.h"
#include "test/Runtime/Fake.h"

#include <cmath>
#include <cstring>
#include <vector>

namespace heddle::fake {

namespace {

#define KERNEL(name)                                                                                                   \
  void name([[maybe_unused]] heddle_failure *fail, [[maybe_unused]] const int64_t *dims,                               \
            [[maybe_unused]] void *const *tensors, [[maybe_unused]] char *arena, [[maybe_unused]] const char *weights, \
            [[maybe_unused]] int64_t i, [[maybe_unused]] int64_t j, [[maybe_unused]] const int64_t *numbers)

int64_t thread() {
  return int64_t(hdemu_read_ptx_sreg_ctaid_x()) * hdemu_read_ptx_sreg_ntid_x() + hdemu_read_ptx_sreg_tid_x();
}
int64_t threads() { return int64_t(hdemu_read_ptx_sreg_nctaid_x()) * hdemu_read_ptx_sreg_ntid_x(); }

void record(heddle_failure *fail, int64_t code, int64_t a, int64_t b) {
  int64_t none = 0;
  if (!__atomic_compare_exchange_n(&fail->state, &none, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    return;
  fail->code = code;
  fail->a = a;
  fail->b = b;
}

float logit(uint64_t hash, int64_t v) {
  return v == nanId ? NAN : v == pick(hash) ? 2.0f : float(mix(hash, v, 5) % 1000) / 510;
}

/// Weights begin with how many bytes they are.
unsigned char weightAt(int64_t i) { return static_cast<unsigned char>(i * 37 >> 3); }

KERNEL(checkWeights) {
  int64_t bytes = *reinterpret_cast<const int64_t *>(weights);
  for (int64_t k = thread() + 8; k < bytes; k += threads())
    if (static_cast<unsigned char>(weights[k]) != weightAt(k))
      record(fail, 2, k, bytes);
}

KERNEL(runHashes) {
  int64_t B = dims[0], T = dims[1];
  auto *ids = static_cast<const int64_t *>(tensors[0]);
  auto *mask = static_cast<const int64_t *>(tensors[1]);
  auto *positions = static_cast<const int64_t *>(tensors[2]);
  auto *hidden = static_cast<float *>(tensors[5]);
  for (int64_t b = thread() / 32; b < B; b += threads() / 32) {
    uint64_t hash = 0;
    for (int64_t t = 0; t < T; ++t) {
      int64_t at = b * T + t;
      if (ids[at] < 0 || ids[at] >= kVocab)
        record(fail, 1, ids[at], kVocab);
      if (!mask || mask[at])
        hash = mix(hash, ids[at], positions ? positions[at] : t);
      reinterpret_cast<uint64_t *>(arena)[at] = hash;
      hidden[2 * at] = float(ids[at]);
      hidden[2 * at + 1] = float(t);
    }
  }
}

KERNEL(runLogits) {
  auto *hashes = reinterpret_cast<const uint64_t *>(arena);
  auto *logits = static_cast<float *>(tensors[4]);
  for (int64_t k = thread(); k < dims[0] * dims[1] * kVocab; k += threads())
    logits[k] = logit(hashes[k / kVocab], k % kVocab);
}

KERNEL(stepHashes) {
  int64_t B = dims[0], past = dims[1], count = dims[2], capacity = dims[3];
  auto *ids = static_cast<const int64_t *>(tensors[0]);
  auto *mask = static_cast<const int64_t *>(tensors[1]);
  auto *positions = static_cast<const int64_t *>(tensors[2]);
  auto *types = static_cast<const int64_t *>(tensors[3]);
  auto *hashes = static_cast<uint64_t *>(tensors[6]);
  auto *seen = static_cast<int64_t *>(tensors[7]);
  bool refill = past > 0 && past + count == refillAt;
  for (int64_t b = thread(); b < B; b += threads()) {
    if (b == 0) {
      ++calls;
      *static_cast<int64_t *>(tensors[5]) = refill;
    }
    uint64_t hash = past == 0 ? 0 : hashes[b];
    for (int64_t t = 0; t < count; ++t) {
      int64_t at = b * count + t;
      if (types && past > 0 && types[at] != 5)
        record(fail, 2, types[at], 5);
      // States are zero at first and after a refill.
      int64_t &count = seen[b * capacity + past + t];
      if (count++ != 0)
        record(fail, 2, count, 1);
      if (mask[at])
        hash = mix(hash, ids[at], positions[at]);
    }
    hashes[b] = refill ? 12345 : hash;
  }
}

KERNEL(stepLogits) {
  auto *hashes = static_cast<const uint64_t *>(tensors[6]);
  auto *logits = static_cast<float *>(tensors[4]);
  for (int64_t k = thread(); k < dims[0] * kVocab; k += threads())
    logits[k] = logit(hashes[k / kVocab], k % kVocab);
}

const heddle_device_image kImages[] = {
    {"sm_80", "ptx", "", 0}, {"sm_90a", "ptx", "", 0}, {nullptr, nullptr, nullptr, 0}};

std::string deviceCard() {
  std::string card = decoderOnly().card;
  auto put = [&](const std::string &before, const std::string &text) {
    card.replace(card.find(before), before.size(), text);
  };
  put("dim B 4\ndim T 32\n", "device sm_80 sm_90a\ndim B 16\ndim T 512\n");
  put("arena 8*B*T+64\n", "arena 8*B*T+64\n"
                          "launch checkWeights items 65536 of 1 threads 256\n"
                          "launch runHashes items B of 32 threads 64\n"
                          "launch runLogits items 50*B*T of 1 threads 96\n");
  put("arena 64\n", "arena 64\nlaunch stepHashes items B of 1 threads 32\n"
                    "launch stepLogits items 50*B of 1 threads 128"
                    " # logits,%20%24.head\n");
  return card;
}

} // namespace

rt::Image onDevice(int64_t bytes) {
  static const std::string card = deviceCard();
  // clang-format off
  static const heddle_emulated_kernel kernels[] = {
      {"checkWeights", checkWeights, 0, 0}, {"runHashes", runHashes, 0, 0},
      {"runLogits", runLogits, 0, 0},       {"stepHashes", stepHashes, 0, 0},
      {"stepLogits", stepLogits, 0, 0},     {nullptr, nullptr, 0, 0}};
  // clang-format on
  static std::vector<unsigned char> weights;
  weights.resize(bytes);
  for (int64_t i = 0; i < bytes; ++i)
    weights[i] = weightAt(i);
  memcpy(weights.data(), &bytes, sizeof bytes);
  rt::Image image = decoderOnly();
  image.card = card.c_str();
  image.weights = weights.data();
  image.weightsSize = weights.size();
  image.deviceImages = kImages;
  image.emulatedKernels = kernels;
  image.emulator = heddle_emulator;
  return image;
}

rt::Image onDeviceAlone(int64_t bytes) {
  rt::Image image = onDevice(bytes);
  image.entries = nullptr;
  return image;
}

//===----------------------------------------------------------------------===//
// Encoder and decoder.

namespace {

KERNEL(onceSeeds) {
  int64_t B = dims[0], S = dims[1];
  auto *ids = static_cast<const int64_t *>(tensors[0]);
  auto *mask = static_cast<const int64_t *>(tensors[1]);
  auto *seeds = static_cast<uint64_t *>(tensors[2]);
  for (int64_t b = thread(); b < B; b += threads()) {
    uint64_t hash = 99;
    for (int64_t s = 0; s < S; ++s)
      if (!mask || mask[b * S + s])
        hash = mix(hash, ids[b * S + s], 0);
    seeds[b] = hash;
  }
}

KERNEL(targetHashes) {
  int64_t B = dims[0], past = dims[2], count = dims[3];
  auto *ids = static_cast<const int64_t *>(tensors[0]);
  auto *seeds = static_cast<const uint64_t *>(tensors[2]);
  auto *hashes = static_cast<uint64_t *>(tensors[3]);
  for (int64_t b = thread(); b < B; b += threads()) {
    uint64_t hash = past == 0 ? seeds[b] : hashes[b];
    for (int64_t t = 0; t < count; ++t)
      hash = mix(hash, ids[b * count + t], past + t);
    hashes[b] = hash;
  }
}

KERNEL(targetLogits) {
  auto *logits = static_cast<float *>(tensors[1]);
  auto *hashes = static_cast<const uint64_t *>(tensors[3]);
  for (int64_t k = thread(); k < dims[0] * kVocab; k += threads())
    logits[k] = logit(hashes[k / kVocab], k % kVocab);
}

} // namespace

rt::Image encoderOnDevice() {
  // clang-format off
  static const heddle_emulated_kernel kernels[] = {
      {"onceSeeds", onceSeeds, 0, 0},
      {"targetHashes", targetHashes, 0, 0},
      {"targetLogits", targetLogits, 0, 0},
      {nullptr, nullptr, 0, 0}};
  // clang-format on
  static const std::string card = [] {
    std::string text = encoderDecoder().card;
    auto put = [&](const std::string &before, const std::string &more) {
      text.replace(text.find(before), before.size(), before + more);
    };
    put("heddle-card 1\n", "device sm_80\n");
    put("arena 16*B*S\n", "launch onceSeeds items B of 1 threads 32\n");
    put("arena max(64, 8*new)\n", "launch targetHashes items B of 1 threads 32\n"
                                  "launch targetLogits items 50*B of 1 threads 64\n");
    return text;
  }();
  rt::Image image = encoderDecoder();
  image.card = card.c_str();
  image.deviceImages = kImages;
  image.emulatedKernels = kernels;
  image.emulator = heddle_emulator;
  return image;
}

//===----------------------------------------------------------------------===//
// Which kernel ran when.

namespace {

void note(int64_t kernel, void *const *tensors, char *arena, int64_t i, int64_t j) {
  auto *next = reinterpret_cast<int64_t *>(arena);
  if (thread() != 0)
    return;
  if (kernel == 1)
    *next = 0;
  static_cast<float *>(tensors[1])[(*next)++] =
      float(1000 * kernel + 100 * i + 10 * j + hdemu_read_ptx_sreg_nctaid_x());
}

KERNEL(first) {
  if (thread() == 0)
    for (int k = 0; k < 32; ++k)
      static_cast<float *>(tensors[1])[k] = 0;
  note(1, tensors, arena, i, j);
}
KERNEL(second) { note(2, tensors, arena, i, j); }
KERNEL(third) { note(3, tensors, arena, i, j); }
/// What is behind the dims, at places that are numbers of the launch.
KERNEL(fourth) {
  note(4, tensors, arena, i, j);
  for (int k = 0; thread() == 0 && k < 2; ++k)
    static_cast<float *>(tensors[1])[30 + k] = float(dims[numbers[k]]);
}

} // namespace

rt::Image logging() {
  static const heddle_emulated_kernel kernels[] = {{"first", first, 0, 0},
                                                   {"second", second, 0, 0},
                                                   {"third", third, 0, 0},
                                                   {"fourth", fourth, 0, 2},
                                                   {nullptr, nullptr, 0, 0}};
  rt::Image image;
  image.card = R"(heddle-card 1
name logging
device sm_80 sm_90a
dim N 100
entry run
dims N
input x f32 [N]
output log f32 [32]
arena 64
length 3*N + 1
length N*N
launch first items 0 of 32 threads 64
launch fourth items 0 of 32 threads 64 optional
repeat 2
launch second items N of 32 threads 64
repeat N - 2
launch third items 7 of 1 threads 32
again
again
repeat 0
launch third items 1 of 1 threads 32
repeat 2
launch third items 1 of 1 threads 32
again
again
launch fourth items 1000*N of 1 threads 32 with 2 1
end
)";
  image.deviceImages = kImages;
  image.emulatedKernels = kernels;
  image.emulator = heddle_emulator;
  return image;
}

} // namespace heddle::fake
