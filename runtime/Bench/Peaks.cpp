//===- Peaks.cpp - What this machine can reach ----------------------------===//
//
// Each loop is written for every vector width; the processor is asked at run
// time which one to take.
//
//===----------------------------------------------------------------------===//
#include "runtime/Bench/Peaks.h"

#include "runtime/Core/Clock.h"
#include "runtime/Core/Cpu.h"
#include "runtime/Core/Tensor.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace heddle::rt {

namespace {

/// Reads [begin, end), a multiple of 512 bytes; returns a sum so that the
/// compiler keeps the loop.
using ReadLoop = float (*)(const char *begin, const char *end);
/// Does `rounds` times `chains` independent vector operations. How many chains keep a processor busiest differs: enough
/// to cover the latency, few enough for its registers; so several are tried and the best counts.
struct MultiplyLoop {
  float (*run)(int64_t rounds);
  int chains;
};

struct Loops {
  std::vector<ReadLoop> read;
  std::vector<MultiplyLoop> multiply;
  std::vector<MultiplyLoop> dots;     ///< of pairs of bf16; none where the processor has no such instruction
  std::vector<MultiplyLoop> integers; ///< of bytes, unsigned by signed ones; four products a lane
  int lanes;
  const char *name;
};

constexpr float kFactor = 0.999f, kTerm = 0.001f;

typedef float Vector4 __attribute__((vector_size(16)));

float readPlain(const char *begin, const char *end) {
  Vector4 sum[8] = {};
  for (; begin < end; begin += 128)
    for (int i = 0; i < 8; ++i) {
      Vector4 value;
      memcpy(&value, begin + 16 * i, 16);
      sum[i] += value;
    }
  float all = 0;
  for (auto &part : sum)
    all += part[0] + part[1] + part[2] + part[3];
  return all;
}

template <int chains> float multiplyPlain(int64_t rounds) {
  Vector4 chain[chains], factor = {kFactor, kFactor, kFactor, kFactor};
  Vector4 term = {kTerm, kTerm, kTerm, kTerm};
  for (int i = 0; i < chains; ++i) // alike they would be one chain
    chain[i] = term * float(i);
  for (int64_t r = 0; r < rounds; ++r)
    for (auto &value : chain)
      value = value * factor + term;
  float all = 0;
  for (auto &value : chain)
    all += value[0] + value[3];
  return all;
}

#if defined(__x86_64__)

__attribute__((target("avx2"))) float readAvx2(const char *begin, const char *end) {
  __m256 sum[8];
  for (auto &part : sum)
    part = _mm256_setzero_ps();
  for (; begin < end; begin += 256) {
    for (int i = 0; i < 4; ++i)
      _mm_prefetch(begin + 4096 + 64 * i, _MM_HINT_T0);
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i)
      sum[i] = _mm256_add_ps(sum[i], _mm256_load_ps(reinterpret_cast<const float *>(begin + 32 * i)));
  }
  float all = 0, lanes[8];
  for (auto &part : sum) {
    _mm256_storeu_ps(lanes, part);
    all += lanes[0] + lanes[7];
  }
  return all;
}

template <int chains> __attribute__((target("avx2,fma"))) float multiplyAvx2(int64_t rounds) {
  __m256 chain[chains], factor = _mm256_set1_ps(kFactor), term = _mm256_set1_ps(kTerm);
#pragma GCC unroll 16
  for (int i = 0; i < chains; ++i) // alike they would be one chain
    chain[i] = _mm256_set1_ps(float(i) * kTerm);
  for (int64_t r = 0; r < rounds; ++r) {
#pragma GCC unroll 16
    for (int i = 0; i < chains; ++i)
      chain[i] = _mm256_fmadd_ps(chain[i], factor, term);
    asm volatile("" ::: "memory");
  }
  __m256 all = chain[0];
#pragma GCC unroll 16
  for (int i = 1; i < chains; ++i)
    all += chain[i];
  return all[0] + all[7];
}

__attribute__((target("avx512f"))) float readAvx512(const char *begin, const char *end) {
  __m512 s0, s1, s2, s3, s4, s5, s6, s7;
  s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = _mm512_setzero_ps();
  for (; begin < end; begin += 512) {
    for (int i = 0; i < 8; ++i)
      _mm_prefetch(begin + 4096 + 64 * i, _MM_HINT_T0);
#define STEP(s, i) s = _mm512_add_ps(s, _mm512_load_ps(begin + 64 * i))
    STEP(s0, 0), STEP(s1, 1), STEP(s2, 2), STEP(s3, 3), STEP(s4, 4), STEP(s5, 5), STEP(s6, 6), STEP(s7, 7);
#undef STEP
  }
  __m512 all = s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7;
  return all[0] + all[15];
}

template <int chains> __attribute__((target("avx512f"))) float multiplyAvx512(int64_t rounds) {
  __m512 chain[chains], factor = _mm512_set1_ps(kFactor), term = _mm512_set1_ps(kTerm);
#pragma GCC unroll 16
  for (int i = 0; i < chains; ++i) // alike they would be one chain
    chain[i] = _mm512_set1_ps(float(i) * kTerm);
  for (int64_t r = 0; r < rounds; ++r) {
#pragma GCC unroll 16
    for (int i = 0; i < chains; ++i)
      chain[i] = _mm512_fmadd_ps(chain[i], factor, term);
    asm volatile("" ::: "memory");
  }
  __m512 all = chain[0];
#pragma GCC unroll 16
  for (int i = 1; i < chains; ++i)
    all += chain[i];
  return all[0] + all[15];
}

template <int chains> __attribute__((target("avx512f,avx512bf16"))) float dotsAvx512(int64_t rounds) {
  // All halves 2^-66: products far below the sums, and the sums stay finite.
  __m512bh tiny = (__m512bh)_mm512_set1_epi32(0x1e801e80);
  __m512 chain[chains];
#pragma GCC unroll 16
  for (int i = 0; i < chains; ++i) // alike they would be one chain
    chain[i] = _mm512_set1_ps(float(i) * kTerm);
  for (int64_t r = 0; r < rounds; ++r) {
#pragma GCC unroll 16
    for (int i = 0; i < chains; ++i)
      chain[i] = _mm512_dpbf16_ps(chain[i], tiny, tiny);
    asm volatile("" ::: "memory");
  }
  __m512 all = chain[0];
#pragma GCC unroll 16
  for (int i = 1; i < chains; ++i)
    all += chain[i];
  return all[0] + all[15];
}

/// Defines a loop of products of bytes: `target` has the instruction `op`, of `type`, whose first argument is its
/// chain.
#define HEDDLE_INTEGER_LOOP(name, target_, type, set, op)                                                              \
  template <int chains> __attribute__((target(target_))) float name(int64_t rounds) {                                  \
    type chain[chains], factor = set(3);                                                                               \
    _Pragma("GCC unroll 16") for (int i = 0; i < chains; ++i) chain[i] = set(char(i)); /* alike they would be one */   \
    for (int64_t r = 0; r < rounds; ++r) {                                                                             \
      _Pragma("GCC unroll 16") for (int i = 0; i < chains; ++i) chain[i] = op;                                         \
      asm volatile("" ::: "memory");                                                                                   \
    }                                                                                                                  \
    type all = chain[0];                                                                                               \
    _Pragma("GCC unroll 16") for (int i = 1; i < chains; ++i) all += chain[i];                                         \
    return float(all[0]);                                                                                              \
  }
HEDDLE_INTEGER_LOOP(pairsAvx2, "avx2", __m256i, _mm256_set1_epi8, _mm256_maddubs_epi16(chain[i], factor))
HEDDLE_INTEGER_LOOP(pairsAvx512, "avx512f,avx512bw", __m512i, _mm512_set1_epi8, _mm512_maddubs_epi16(chain[i], factor))
HEDDLE_INTEGER_LOOP(quadsAvx2, "avx2,avxvnni", __m256i, _mm256_set1_epi8,
                    _mm256_dpbusd_avx_epi32(chain[i], factor, factor))
HEDDLE_INTEGER_LOOP(quadsAvx512, "avx512f,avx512vnni", __m512i, _mm512_set1_epi8,
                    _mm512_dpbusd_epi32(chain[i], factor, factor))
#undef HEDDLE_INTEGER_LOOP

/// What the eight matrix registers are: 16 rows of 64 bytes each. With all bytes 0 numbers stay 0, and take as long.
struct alignas(64) MatrixConfiguration {
  uint8_t palette = 1, start = 0, reserved[14] = {};
  uint16_t widths[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t heights[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

/// A product of matrix registers is as much as 256 of vector registers: as many chains as that is in a round.
constexpr int kMatrixChains = 4 * 256 / 16;

/// Four products in turn of two registers of each side, in 16 rounds.
#define HEDDLE_MATRIX_LOOP(name, target_, multiply)                                                                    \
  __attribute__((target(target_))) float name(int64_t rounds) {                                                        \
    MatrixConfiguration configuration;                                                                                 \
    _tile_loadconfig(&configuration);                                                                                  \
    _tile_zero(0), _tile_zero(1), _tile_zero(2), _tile_zero(3), _tile_zero(4), _tile_zero(5), _tile_zero(6),           \
        _tile_zero(7);                                                                                                 \
    for (int64_t r = 0; r < rounds; r += 16)                                                                           \
      multiply(0, 4, 6), multiply(1, 4, 7), multiply(2, 5, 6), multiply(3, 5, 7);                                      \
    alignas(64) float all[256];                                                                                        \
    _tile_stored(0, all, 64);                                                                                          \
    _tile_release();                                                                                                   \
    return all[0];                                                                                                     \
  }
HEDDLE_MATRIX_LOOP(dotsMatrix, "amx-tile,amx-bf16", _tile_dpbf16ps)
HEDDLE_MATRIX_LOOP(integersMatrix, "amx-tile,amx-int8", _tile_dpbsud)
#undef HEDDLE_MATRIX_LOOP

/// Reads eight stretches side by side: some memories give more so.
__attribute__((target("avx512f"))) float readStreams(const char *begin, const char *end) {
  constexpr int streams = 8;
  const int64_t part = (end - begin) / streams / 512 * 512;
  __m512 sums[streams];
  for (auto &sum : sums)
    sum = _mm512_setzero_ps();
  for (const char *at = begin; at < begin + part; at += 128)
#pragma GCC unroll 8
    for (int s = 0; s < streams; ++s) {
      const char *line = at + s * part;
      _mm_prefetch(line + 4096, _MM_HINT_T0);
      _mm_prefetch(line + 4160, _MM_HINT_T0);
      sums[s] = _mm512_add_ps(sums[s], _mm512_add_ps(_mm512_load_ps(line), _mm512_load_ps(line + 64)));
    }
  __m512 all = sums[0];
  for (int s = 1; s < streams; ++s)
    all += sums[s];
  return all[0] + all[15] + readAvx512(begin + streams * part, end);
}

#endif

Loops chooseLoops() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f")) {
    Loops loops{{readAvx512, readStreams}, {{multiplyAvx512<12>, 12}, {multiplyAvx512<16>, 16}}, {}, {}, 16, "avx512"};
    if (__builtin_cpu_supports("avx512bf16"))
      loops.dots = {{dotsAvx512<12>, 12}, {dotsAvx512<16>, 16}};
    if (__builtin_cpu_supports("avx512vnni"))
      loops.integers = {{quadsAvx512<12>, 12}, {quadsAvx512<16>, 16}};
    else if (__builtin_cpu_supports("avx512bw"))
      loops.integers = {{pairsAvx512<12>, 12}, {pairsAvx512<16>, 16}};
    if (missingFeatures({"amx-tile", "amx-bf16", "amx-int8"}).empty()) {
      loops.dots.push_back({dotsMatrix, kMatrixChains});
      loops.integers.push_back({integersMatrix, kMatrixChains});
      loops.name = "avx512 and amx";
    }
    return loops;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    Loops loops{{readAvx2}, {{multiplyAvx2<10>, 10}, {multiplyAvx2<12>, 12}}, {}, {}, 8, "avx2"};
    loops.integers = {{pairsAvx2<10>, 10}, {pairsAvx2<12>, 12}};
    if (__builtin_cpu_supports("avxvnni"))
      loops.integers = {{quadsAvx2<10>, 10}, {quadsAvx2<12>, 12}};
    return loops;
  }
#endif
  return {{readPlain}, {{multiplyPlain<12>, 12}, {multiplyPlain<16>, 16}}, {}, {}, 4, "128-bit"};
}

struct Work {
  ReadLoop read;
  MultiplyLoop multiply;
  char *buffer;
  uint64_t bytes;
  int64_t rounds;
  volatile float sink;
};

/// The least time of several runs of `function` on all threads.
double bestTime(Pool &pool, Pool::Function function, Work &work) {
  double best = 1e30;
  double stop = secondsNow() + 0.4;
  for (int i = 0; i < 3 || (secondsNow() < stop && i < 50); ++i) {
    double start = secondsNow();
    pool.run(function, &work);
    best = std::min(best, secondsNow() - start);
  }
  return best;
}

/// Vector operations a second of the best of `loops`, all threads together.
double bestRate(Pool &pool, const std::vector<MultiplyLoop> &loops, Work &work) {
  double best = 0;
  for (const MultiplyLoop &loop : loops) {
    work.multiply = loop;
    double seconds = bestTime(
        pool,
        [](void *argument, int64_t, int64_t) {
          Work &work = *static_cast<Work *>(argument);
          work.sink = work.multiply.run(work.rounds);
        },
        work);
    best = std::max(best, double(loop.chains) * double(work.rounds) * pool.threads() / seconds);
  }
  return best;
}

} // namespace

// Reading first, over a buffer larger than the last cache; then f32 and, where
// there is an instruction, pairs of bf16 and bytes.
Status measurePeaks(Pool &pool, Peaks &peaks) {
  long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
  uint64_t bytes = std::max<uint64_t>(cache > 0 ? uint64_t(cache) * 2 : 0, uint64_t(256) << 20);
  bytes = std::min<uint64_t>(bytes, uint64_t(1) << 30) & ~uint64_t(4095);
  Buffer buffer;
  HEDDLE_TRY(Buffer::make(bytes, "measuring", buffer));
  // Large pages, where the system has them: what is measured is memory, not the walk through page tables.
  madvise(buffer.data(), bytes, MADV_HUGEPAGE);
  Loops loops = chooseLoops();
  Work work{nullptr, {}, buffer.as<char>(), bytes, 1000000, 0};
  pool.run(
      [](void *argument, int64_t tid, int64_t nth) {
        Work &work = *static_cast<Work *>(argument);
        uint64_t part = work.bytes / nth / 512 * 512;
        memset(work.buffer + tid * part, 0, part);
      },
      &work);
  double read = 1e30;
  for (ReadLoop loop : loops.read) {
    work.read = loop;
    double seconds = bestTime(
        pool,
        [](void *argument, int64_t tid, int64_t nth) {
          Work &work = *static_cast<Work *>(argument);
          uint64_t part = work.bytes / nth / 512 * 512;
          const char *begin = work.buffer + tid * part;
          work.sink = work.read(begin, begin + part);
        },
        work);
    read = std::min(read, seconds);
  }
  peaks.bufferBytes = bytes;
  peaks.cacheBytes = cache > 0 ? uint64_t(cache) : 0;
  peaks.bytesPerSecond = std::max(peaks.bytesPerSecond, double(bytes) / read);
  // A multiplication and an addition in each lane; twice as many where a lane takes a pair.
  peaks.flopsPerSecond = std::max(peaks.flopsPerSecond, 2.0 * loops.lanes * bestRate(pool, loops.multiply, work));
  peaks.dotsPerSecond = std::max(peaks.dotsPerSecond, 4.0 * loops.lanes * bestRate(pool, loops.dots, work));
  peaks.integersPerSecond = std::max(peaks.integersPerSecond, 8.0 * loops.lanes * bestRate(pool, loops.integers, work));
  peaks.vectors = loops.name;
  return {};
}

} // namespace heddle::rt
