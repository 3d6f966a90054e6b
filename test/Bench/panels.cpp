//===- panels.cpp - products of f32 in AVX2, by hand -----------------------===//
//
// What a linear of f32 can reach with 16 registers of 8 numbers, measured beside the peak in turns: tiles of 4 x 24 and
// of 6 x 16, all of k at once or in blocks, rows in blocks of 252 or all 504, the next panel or the next rows fetched
// ahead. Weights are in panels, as Heddle's are; results are not checked.
//   clang++-22 -O3 -march=x86-64-v3 test/Bench/panels.cpp -o panels && ./panels K N ROUNDS
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <immintrin.h>
#include <vector>

namespace {
constexpr long kRows = 504, kLine = 16; ///< floats of a line of the caches
constexpr long kWhole = 1L << 20;       ///< more than any k

enum Fetch { Nothing, NextPanel, NextRows };

/// x is rows x `pitch`, w is panels of k x 8 NV, y is rows x n.
struct Linear {
  long k, n, pitch;
  std::vector<float> x, w, y;

  Linear(long k, long n)
      : k(k), n(n), pitch(k + (k % 1024 ? 0 : kLine)), x((kRows + 8) * pitch, 0.1f), w(k * (n + 64), 0.2f),
        y(kRows * (n + 64)) {}
};

double seconds() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

void fetch(const float *p) { _mm_prefetch(reinterpret_cast<const char *>(p), _MM_HINT_T0); }

/// GFLOP/s of 12 chains in registers.
double peak() {
  constexpr long rounds = 1000000;
  __m256 sums[12], factor = _mm256_set1_ps(0.999f), more = _mm256_set1_ps(1e-3f);
  for (__m256 &sum : sums)
    sum = more;
  double begin = seconds();
  for (long r = 0; r < rounds; ++r) {
    for (__m256 &sum : sums)
      sum = _mm256_fmadd_ps(sum, factor, more);
    asm volatile("" ::: "memory");
  }
  double took = seconds() - begin;
  for (__m256 sum : sums)
    more = _mm256_add_ps(more, sum);
  volatile float used = _mm256_cvtss_f32(more);
  (void)used;
  return rounds * 12 * 16 / took / 1e9;
}

/// MR rows x 8 NV results over k in [from, to).
template <int MR, int NV, Fetch F>
inline void tile(const Linear &l, const float *a, const float *b, float *y, long from, long to, const float *next,
                 long share) {
  __m256 sums[MR][NV];
  for (int i = 0; i < MR; ++i)
    for (int j = 0; j < NV; ++j)
      sums[i][j] = from ? _mm256_loadu_ps(y + i * l.n + 8 * j) : _mm256_setzero_ps();
  for (long k = from; k < to; k += 4) {
    if (F == NextPanel)
      fetch(next + (k - from) / 4 * share);
    if (F == NextRows && k % kLine == 0)
      for (int i = 0; i < MR; ++i)
        fetch(a + (i + MR) * l.pitch + k);
#pragma clang loop unroll(full)
    for (int u = 0; u < 4; ++u) {
      __m256 line[NV];
      for (int j = 0; j < NV; ++j)
        line[j] = _mm256_loadu_ps(b + (k + u) * 8 * NV + 8 * j);
#pragma clang loop unroll(full)
      for (int i = 0; i < MR; ++i) {
        __m256 left = _mm256_broadcast_ss(a + i * l.pitch + k + u);
        for (int j = 0; j < NV; ++j)
          sums[i][j] = _mm256_fmadd_ps(left, line[j], sums[i][j]);
      }
    }
  }
  for (int i = 0; i < MR; ++i)
    for (int j = 0; j < NV; ++j)
      _mm256_storeu_ps(y + i * l.n + 8 * j, sums[i][j]);
}

template <int MR, int NV, Fetch F> void multiply(Linear &l, long block, long part) {
  constexpr long width = 8 * NV;
  long panels = l.n / width, size = l.k * width, turns = l.k / 4;
  long share = (size / (block / MR) / turns + kLine - 1) / kLine * kLine; // floats of the next panel at each turn
  for (long first = 0; first < kRows; first += block)
    for (long p = 0; p < panels; ++p)
      for (long from = 0; from < l.k; from += part)
        for (long r = first; r < first + block; r += MR) {
          long done = (r - first) / MR * turns * share;
          const float *next = l.w.data() + (p + 1) % panels * size + (done < size ? done : 0);
          tile<MR, NV, F>(l, l.x.data() + r * l.pitch, l.w.data() + p * size, l.y.data() + r * l.n + p * width, from,
                          std::min(from + part, l.k), next, share);
        }
}

struct Layout {
  const char *name;
  void (*run)(Linear &, long, long);
  long block, part;
  std::vector<double> speeds, shares;
};
} // namespace

int main(int argc, char **argv) {
  long k = argc == 4 ? atol(argv[1]) : 0, n = argc == 4 ? atol(argv[2]) : 0, rounds = argc == 4 ? atol(argv[3]) : 0;
  if (k < 16 || k % 16 || n < 48 || n % 48 || rounds < 1) {
    std::fprintf(stderr, "usage: panels K N ROUNDS: K a multiple of 16, N of 48, one round or more\n");
    return 2;
  }
  Linear l(k, n);
  std::vector<Layout> layouts = {
      {"4 x 24, rows by 252", multiply<4, 3, Nothing>, 252, kWhole, {}, {}},
      {"4 x 24, rows by 252, next panel fetched", multiply<4, 3, NextPanel>, 252, kWhole, {}, {}},
      {"4 x 24, rows by 252, next rows fetched", multiply<4, 3, NextRows>, 252, kWhole, {}, {}},
      {"4 x 24, rows by 252, k by 384", multiply<4, 3, Nothing>, 252, 384, {}, {}},
      {"4 x 24, all rows", multiply<4, 3, Nothing>, 504, kWhole, {}, {}},
      {"6 x 16, rows by 252", multiply<6, 2, Nothing>, 252, kWhole, {}, {}},
      {"6 x 16, rows by 252, next panel fetched", multiply<6, 2, NextPanel>, 252, kWhole, {}, {}},
      {"6 x 16, rows by 252, next rows fetched", multiply<6, 2, NextRows>, 252, kWhole, {}, {}},
      {"6 x 16, rows by 252, k by 512", multiply<6, 2, Nothing>, 252, 512, {}, {}},
      {"6 x 16, all rows", multiply<6, 2, Nothing>, 504, kWhole, {}, {}},
  };
  for (long i = 0; i < rounds; ++i)
    for (Layout &layout : layouts) {
      double before = peak(), begin = seconds();
      layout.run(l, layout.block, layout.part);
      double took = seconds() - begin, speed = 2e-9 * double(kRows * l.k * l.n) / took;
      layout.speeds.push_back(speed);
      layout.shares.push_back(2 * speed / (before + peak()));
    }
  std::printf("%ld x %ld x %ld, medians of %ld\n", kRows, l.k, l.n, rounds);
  for (Layout &layout : layouts) {
    std::sort(layout.speeds.begin(), layout.speeds.end());
    std::sort(layout.shares.begin(), layout.shares.end());
    std::printf("%-42s %6.1f GFLOP/s, %3.0f %% of the peak beside it\n", layout.name, layout.speeds[rounds / 2],
                100 * layout.shares[rounds / 2]);
  }
}
