//===- SweepTest.cpp - odd and extreme numbers through every function -----===//
//
// All elementwise functions, norms and reductions in one program, given 29 special values and 12
// magnitudes of either sign; results of the compiled program and of the interpreter against the
// definition in long double. The bounds are those that the contracts of the ops state
// (dialects/Model/IR/ModelOps.td): in ulp of the exact result, and what is added where an op says so.
//
//===----------------------------------------------------------------------===//

#include "test/Numerics/KernelCases.h"
#include "test/Numerics/Kernels.h"
#include <cfloat>
#include <cmath>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <random>

using namespace heddle;
using namespace heddle::test;
using Real = long double;

namespace {
const float inf = INFINITY, nan = NAN;
// clang-format off
const std::vector<float> kSpecials = {
    0.0f, -0.0f, 0x1p-149f, -0x1p-149f, 0x1.fffffcp-127f, -0x1.fffffcp-127f, 0x1p-126f, -0x1p-126f, // around the denormals
    FLT_MAX, -FLT_MAX, inf, -inf, nan,                                                                // the end
    1.0f, -1.0f, 0x1.000002p0f, 0x1.fffffep-1f, -2.0f, 0.5f, 3.14159274f,                             // around 1
    0x1p24f, -16777217.0f, 0x1p63f, -0x1p63f,                                                         // where integers end
    88.7228394f, 88.73f, -87.34f, -87.3f, -104.0f};                                                   // where exp does
// clang-format on
const std::vector<float> kMagnitudes = {1e-38f, 1e-30f, 1e-20f, 1e-10f, 1e-4f, 1e-1f,
                                        1e1f,   1e4f,   1e6f,   1e10f,  1e18f, 1e38f};

/// The distance of f32 numbers around x.
Real ulp(Real x) {
  if (!(std::fabs(x) <= FLT_MAX))
    return 0;
  return std::max(std::ldexp(1.0L, std::ilogb(std::max<Real>(std::fabs(x), 0x1p-126L)) - 23), 0x1p-149L);
}

/// Whether `got` is `want` up to `bound`. What may be beyond f32 may be an infinity.
bool agrees(float got, Real want, Real bound) {
  if (std::isnan(want))
    return std::isnan(got);
  if (std::isinf(got))
    return std::fabs(want) + std::max(bound, ulp(FLT_MAX) / 2) >= (Real)FLT_MAX &&
           std::signbit(got) == std::signbit(want);
  if (std::isinf(want) || std::isnan(got))
    return false;
  return std::fabs(got - want) <= bound;
}

/// A function of one or two elements and what its contract allows: `ulps`, `amplified(x)` ulp more, and an absolute
/// part.
struct Function {
  std::string name;
  std::function<Real(Real, Real)> exact;
  Real ulps = 0.5;
  Real floor = 0;
  std::function<Real(Real)> amplified = nullptr;
  std::function<Real(Real)> absolute = nullptr;

  Real bound(Real x, Real want) const {
    return (ulps + (amplified ? amplified(x) : 0)) * ulp(want) + floor +
           (absolute && std::isfinite(x) ? absolute(x) : 0);
  }
};

Real gate(Real x, Real exponent) { return x / (1 + std::exp(-exponent)); }
Real tanhExponent(Real x) {
  return 2 * std::sqrt(2 / 3.14159265358979323846264338327950288L) * (x + 0.044715L * x * x * x);
}
Real toBf16(Real x) {
  float f = float(x);
  uint32_t bits;
  std::memcpy(&bits, &f, 4);
  bits = std::isnan(f) ? bits : (bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff0000u;
  std::memcpy(&f, &bits, 4);
  return f;
}

/// Below this a result may be 0.
const Real kTiny = 0x1p-126L;

std::vector<Function> unaryFunctions() {
  auto capped = [](Real x) { return std::min<Real>(std::isnan(x) ? 0 : std::fabs(x), 128); };
  // clang-format off
  return {
      {"neg", [](Real x, Real) { return -x; }, 0},
      {"abs", [](Real x, Real) { return std::fabs(x); }, 0},
      {"floor", [](Real x, Real) { return std::floor(x); }, 0},
      {"ceil", [](Real x, Real) { return std::ceil(x); }, 0},
      {"relu", [](Real x, Real) { return x > 0 || std::isnan(x) ? x : 0; }, 0},
      {"bf16", [](Real x, Real) { return toBf16(x); }, 0},
      {"sqrt", [](Real x, Real) { return std::sqrt(x); }},
      {"relu2", [](Real x, Real) { return x > 0 || std::isnan(x) ? x * x : 0; }},
      {"exp", [](Real x, Real) { return std::exp(x); }, 2, kTiny},
      {"log", [](Real x, Real) { return std::log(x); }, 2},
      {"sin", [](Real x, Real) { return std::sin(x); }, 2},
      {"cos", [](Real x, Real) { return std::cos(x); }, 2},
      {"tanh", [](Real x, Real) { return std::tanh(x); }, 2},
      {"sigmoid", [](Real x, Real) { return 1 / (1 + std::exp(-x)); }, 3, kTiny},
      {"softplus", [](Real x, Real) { return std::isnan(x) ? x : std::max<Real>(x, 0) + std::log1p(std::exp(-std::fabs(x))); }, 3, kTiny},
      {"silu", [](Real x, Real) { return gate(x, x); }, 3, 128 * kTiny},
      {"quick_gelu", [](Real x, Real) { return gate(x, 1.702L * x); }, 3, 128 * kTiny, [=](Real x) { return 2 * capped(x); }},
      {"gelu_tanh", [](Real x, Real) { return gate(x, tanhExponent(x)); }, 3, 128 * kTiny,
       [=](Real x) { return 2 * capped(tanhExponent(x)); }},
      {"gelu", [](Real x, Real) { return x * std::erfc(-x / std::sqrt(2.0L)) / 2; }, 0.5, 0, nullptr,
       [](Real x) { return 0x1p-22L * std::fabs(x); }},
  };
  // clang-format on
}

Real least(Real x, Real y) {
  return std::isnan(x) || std::isnan(y) ? nan : x < y || (x == y && std::signbit(x)) ? x : y;
}
Real modulo(Real x, Real y) {
  Real r = std::fmod(x, y);
  return r == 0 ? std::copysign(r, y) : (r < 0) != (y < 0) ? r + y : r;
}
Real floorDivided(Real x, Real y) {
  // Of two f32 numbers the quotient in 64 bits is whole only where it is exact, up to 2^24.
  return std::floor(x / y);
}

std::vector<Function> binaryFunctions() {
  return {
      {"add", [](Real x, Real y) { return x + y; }},
      {"sub", [](Real x, Real y) { return x - y; }},
      {"mul", [](Real x, Real y) { return x * y; }},
      {"div", [](Real x, Real y) { return x / y; }},
      {"min", [](Real x, Real y) { return least(x, y); }, 0},
      {"max", [](Real x, Real y) { return -least(-x, -y); }, 0},
      {"mod", modulo},
      {"floordiv", floorDivided, 1},
      {"pow", [](Real x, Real y) { return std::pow(double(x), double(y)); }, 1},
  };
}

std::vector<float> sweepValues() {
  std::vector<float> values = kSpecials;
  std::mt19937 random(29);
  for (float m : kMagnitudes)
    for (float sign : {1.0f, -1.0f})
      for (int i = 0; i < 3; ++i)
        values.push_back(sign * m * (0.5f + float(random() % 4096) / 2048));
  return values;
}

template <typename T> std::vector<char> bytesOf(const std::vector<T> &values) {
  std::vector<char> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::string joined(const std::vector<std::string> &parts) {
  std::string all;
  for (const std::string &part : parts)
    all += (all.empty() ? "" : ", ") + part;
  return all;
}

/// A program of many outputs over some inputs, run both ways.
class Sweep {
public:
  /// "x: f[7]"
  void input(const std::string &declaration, std::vector<char> bytes) {
    declarations.push_back(declaration);
    given.push_back(std::move(bytes));
  }
  /// `statement` defines %name.
  void output(const std::string &name, const std::string &type, const std::string &statement) {
    results.push_back(name + ": " + type);
    body += "%" + name + " = " + statement + "\n";
    places[name] = int(results.size()) - 1;
  }
  /// A step on the way.
  void step(const std::string &line) { body += line + "\n"; }

  bool run() {
    kernels = std::make_unique<Kernels>(functionText(joined(declarations) + " -> " + joined(results), body));
    if (!kernels->good())
      return false;
    outputs = kernels->run({}, given, 2);
    mlir::FailureOr<Tensors> meant = kernels->expected({}, given);
    if (failed(meant))
      return false;
    interpreted = std::move(*meant);
    return true;
  }
  template <typename T = float> T compiled(const std::string &name, size_t i) const {
    return reinterpret_cast<const T *>(outputs[places.at(name)].data())[i];
  }
  const Tensor &meant(const std::string &name) const { return interpreted.at(name); }
  const Tensor &parameter(const std::string &name) const { return kernels->parameterValue(name); }

private:
  std::vector<std::string> declarations, results;
  Kernels::Bytes given, outputs;
  std::string body;
  std::map<std::string, int> places;
  Tensors interpreted;
  std::unique_ptr<Kernels> kernels;
};

/// Both ways within the bound; a result of 0 has the sign of the exact one.
void expectFunction(const Sweep &sweep, const Function &f, const std::string &name, size_t i, Real x, Real y) {
  Real want = f.exact(x, y), bound = f.bound(x, want);
  for (bool program : {true, false}) {
    float got = program ? sweep.compiled(name, i) : float(sweep.meant(name).reals[i]);
    bool sameSign = got != 0 || std::isnan(want) || std::signbit(got) == std::signbit(want);
    EXPECT_TRUE(agrees(got, want, bound) && sameSign)
        << (program ? "compiled " : "interpreted ") << name << "(" << double(x) << ", " << double(y) << ") is " << got
        << ", exactly " << double(want) << ", off by " << double(std::fabs(got - want) / ulp(want)) << " ulp";
  }
}
} // namespace

TEST(Sweep, FunctionsOfOneElement) {
  static_assert(std::numeric_limits<Real>::digits >= 64);
  ASSERT_EQ(kSpecials.size(), 29u);
  std::vector<float> x = sweepValues();
  // Between the special values, where functions change their form.
  for (float v = -12; v < 12; v += 0.037f)
    x.push_back(v);
  for (float v = -105; v < 95; v += 0.61f)
    x.push_back(v);
  // And number by number around the ends of exp and the turning points.
  for (float end : {88.722839f, -87.33654f, 0.625f, 1.0f, 0x1p50f, 4.0f * 1.41421356f})
    for (float sign : {1.0f, -1.0f}) {
      float v = sign * end;
      for (int i = 0; i < 8; ++i)
        v = std::nextafterf(v, -inf);
      for (int i = 0; i < 16; ++i, v = std::nextafterf(v, inf))
        x.push_back(v);
    }
  std::string n = std::to_string(x.size()), type = "f[" + n + "]";
  Sweep sweep;
  sweep.input("x: " + type, bytesOf(x));
  for (const Function &f : unaryFunctions())
    sweep.output("y_" + f.name, type, "model.unary " + f.name + " %x : (" + type + ") -> " + type);
  for (const char *power : {"1.0", "2.0", "3.0", "0.5"}) {
    std::string digit = std::string(1, power[0]) + power[2];
    sweep.step("%c" + digit + " = model.constant dense<" + power + "> : tensor<f64> : f[]");
    sweep.output("pow_" + digit, type, "model.binary pow %x, %c" + digit + " : (" + type + ", f[]) -> " + type);
  }
  sweep.output("whole", "i[" + n + "]", "model.cast %x : " + type + " -> i[" + n + "]");
  sweep.output("some", "b[" + n + "]", "model.cast %x : " + type + " -> b[" + n + "]");
  ASSERT_TRUE(sweep.run());
  for (const Function &f : unaryFunctions())
    for (size_t i = 0; i < x.size(); ++i)
      expectFunction(sweep, f, "y_" + f.name, i, x[i], 0);
  for (double p : {1.0, 2.0, 3.0, 0.5}) {
    Function pow{"pow", [=](Real v, Real) { return std::pow(v, Real(p)); }, 2};
    for (size_t i = 0; i < x.size(); ++i)
      expectFunction(sweep, pow, p == 0.5 ? "pow_05" : "pow_" + std::to_string(int(p)) + "0", i, x[i], 0);
  }
  for (size_t i = 0; i < x.size(); ++i) {
    int64_t whole = std::isnan(x[i]) ? 0 : x[i] >= 0x1p63f ? INT64_MAX : x[i] < -0x1p63f ? INT64_MIN : int64_t(x[i]);
    EXPECT_EQ(sweep.compiled<int64_t>("whole", i), whole) << x[i];
    EXPECT_EQ(sweep.meant("whole").ints[i], whole) << x[i];
    EXPECT_EQ(sweep.compiled<char>("some", i), x[i] != 0) << x[i];
    EXPECT_EQ(sweep.meant("some").ints[i], x[i] != 0) << x[i];
  }
}

TEST(Sweep, FunctionsOfTwoElements) {
  std::vector<float> values = sweepValues();
  std::vector<float> whole{1.0f, 3.0f, 0.1f, 7.0f, 0.3f, 1e7f / 3};
  values.insert(values.end(), whole.begin(), whole.end());
  size_t n = values.size();
  std::string N = std::to_string(n), type = "f[" + N + ", " + N + "]", column = "f[" + N + ", 1]", row = "f[" + N + "]",
              truth = "b[" + N + ", " + N + "]";
  Sweep sweep;
  sweep.input("x: " + column, bytesOf(values));
  sweep.input("z: " + row, bytesOf(values));
  for (const Function &f : binaryFunctions())
    sweep.output("y_" + f.name, type, "model.binary " + f.name + " %x, %z : (" + column + ", " + row + ") -> " + type);
  for (const char *p : {"eq", "ne", "lt", "le", "gt", "ge"})
    sweep.output(std::string("is_") + p, truth,
                 std::string("model.compare ") + p + " %x, %z : (" + column + ", " + row + ") -> " + truth);
  ASSERT_TRUE(sweep.run());
  for (const Function &f : binaryFunctions())
    for (size_t i = 0; i < n * n && !testing::Test::HasFailure(); ++i)
      expectFunction(sweep, f, "y_" + f.name, i, values[i / n], values[i % n]);
  for (size_t i = 0; i < n * n; ++i) {
    float a = values[i / n], b = values[i % n];
    std::pair<const char *, bool> meaning[] = {{"is_eq", a == b}, {"is_ne", a != b}, {"is_lt", a < b},
                                               {"is_le", a <= b}, {"is_gt", a > b},  {"is_ge", a >= b}};
    for (auto [name, truth] : meaning)
      ASSERT_TRUE(sweep.compiled<char>(name, i) == truth && sweep.meant(name).ints[i] == truth)
          << name << " " << a << " " << b;
  }
}

//===-- rows -------------------------------------------------------------------===//

namespace {
using Row = std::vector<Real>;

/// One row with nothing but each special value, one with it among others; of each magnitude numbers of either sign,
/// equal ones, ones that differ in the last digits, and ones whose sum is 0.
std::vector<float> sweepRows(size_t width) {
  std::mt19937 random(12);
  auto any = [&] { return float(int(random() % 4001) - 2000) / 1000; };
  std::vector<float> rows;
  for (float s : kSpecials) {
    rows.insert(rows.end(), width, s);
    for (size_t i = 0; i < width; ++i)
      rows.push_back(i == width / 3 ? s : any());
  }
  for (float m : kMagnitudes)
    for (int kind = 0; kind < 5; ++kind)
      for (size_t i = 0; i < width; ++i)
        rows.push_back(kind == 0                     ? m * any()
                       : kind == 1                   ? m
                       : kind == 2                   ? -m
                       : kind == 3                   ? m * (1 + any() / 1000)
                       : i + 1 == width && width % 2 ? 0
                       : i % 2                       ? m
                                                     : -m);
  return rows;
}

/// What an op says about one row of f32 numbers: the exact results and how far each may be off. A bound with a minus
/// holds for the interpreter alone: of such a row the op promises nothing.
struct RowOp {
  std::string name;
  std::function<void(const Row &x, Row &want, Row &bound)> meaning;
};
const Real kHalf = 0x1p-24L, kEps = 1e-5L;
Real promised(bool promise, Real bound) { return promise ? bound : -bound; }

Real sumOf(const Row &x, const std::function<Real(Real)> &f) {
  Real sum = 0;
  for (Real v : x)
    sum += f(v);
  return sum;
}
Real largestOf(const Row &x) {
  Real top = -INFINITY;
  for (Real v : x)
    top = std::isnan(v) || std::isnan(top) ? nan : std::max(top, v);
  return top;
}
/// Additions in a chain of a sum over vectors, and some for what comes before and after.
Real chain(const Row &x) { return Real(x.size()) / 16 + 10; }

void softmax(const Row &x, bool logarithm, Row &want, Row &bound) {
  Real top = largestOf(x), sum = sumOf(x, [&](Real v) { return std::exp(v - top); });
  for (Real v : x) {
    Real below = v - top, share = std::log(sum);
    want.push_back(logarithm ? below - share : std::exp(below) / sum);
    bound.push_back(logarithm ? kHalf * (2 * std::fabs(below) + 2 * std::fabs(share) + chain(x))
                              : (chain(x) + std::min<Real>(-below, 128)) * kHalf * want.back() + kTiny);
  }
}

/// Statistics in f32: beyond 2^127 their squares and sums are no longer known.
void normed(const Row &x, bool centred, const Tensor *w, const Tensor *b, Real offset, Row &want, Row &bound) {
  Real n = x.size(), mean = centred ? sumOf(x, [](Real v) { return v; }) / n : 0;
  Real squares = sumOf(x, [&](Real v) { return (v - mean) * (v - mean); }), scale = std::sqrt(squares / n + kEps);
  Real most = 0;
  bool finite = true;
  for (Real v : x) {
    most = std::max(most, std::fabs(v));
    finite &= std::isfinite(v);
  }
  for (size_t i = 0; i < x.size(); ++i) {
    Real y = (x[i] - mean) / scale, factor = offset + (w ? w->reals[i] : 0), shift = b ? b->reals[i] : 0;
    want.push_back(y * factor + shift);
    Real off = chain(x) * kHalf * (std::fabs(y) + (centred ? (1 + std::fabs(y)) * most / scale : 0));
    bool known = !finite || (squares < 0x1p126L && n * most < 0x1p126L);
    bound.push_back(
        promised(known, off * std::fabs(factor) + 2 * kHalf * (std::fabs(y * factor) + std::fabs(shift)) + 0x1p-140L));
  }
}
} // namespace

TEST(Sweep, NormsAndReductions) {
  for (size_t width : {35, 64}) {
    std::vector<float> values = sweepRows(width);
    size_t count = values.size() / width;
    std::string R = std::to_string(count), W = std::to_string(width), type = "f[" + R + ", " + W + "]",
                w = "f[" + W + "]", one = "f[" + R + "]";
    std::string turned = "f[" + W + ", " + R + "]";
    Sweep sweep;
    sweep.input("x: " + type, bytesOf(values));
    for (const char *name : {"w", "b", "m", "v0"})
      sweep.step(std::string("%") + name + " = model.param \"" + name + "\" : " + w);
    sweep.step("%v = model.unary abs %v0 : (" + w + ") -> " + w);
    sweep.step("%x3 = model.unsqueeze %x axis 1 : (" + type + ") -> f[" + R + ", 1, " + W + "]");
    sweep.step("%t = model.rearrange %x \"r w -> w r\" : (" + type + ") -> " + turned);
    std::string same = " : (" + type + ") -> " + type, eps = " eps 1.0e-5 ";
    sweep.output("layer_norm", type,
                 "model.layer_norm %x weight %w bias %b" + eps + ": (" + type + ", " + w + ", " + w + ") -> " + type);
    sweep.output("rms_norm", type,
                 "model.rms_norm %x weight %w" + eps + "offset 1.0 : (" + type + ", " + w + ") -> " + type);
    sweep.output("l2_norm", type, "model.l2_norm %x" + eps + same.substr(1));
    sweep.output("batch_norm", type,
                 "model.batch_norm %x mean %m variance %v weight %w bias %b" + eps + ": (" +
                     joined({type, w, w, w, w}) + ") -> " + type);
    sweep.output("group_norm", "f[" + R + ", 1, " + W + "]",
                 "model.group_norm %x3 weight %w bias %b groups 1" + eps + ": (f[" + R + ", 1, " + W + "], " + w +
                     ", " + w + ") -> f[" + R + ", 1, " + W + "]");
    sweep.output("softmax", type, "model.softmax %x axis 1" + same);
    sweep.output("log_softmax", type, "model.softmax %x axis 1 logarithm" + same);
    for (const char *mark : {"", " logarithm"}) {
      std::string name = *mark ? "log_softmax_rows" : "softmax_rows";
      sweep.step("%s_" + name + " = model.softmax %t axis 0" + mark + " : (" + turned + ") -> " + turned);
      sweep.output(name, type, "model.rearrange %s_" + name + " \"w r -> r w\" : (" + turned + ") -> " + type);
    }
    sweep.output("cumsum", type, "model.cumsum %x axis 1" + same);
    sweep.output("top_k", type, "model.top_k %x k 3 fill -7.0" + same);
    for (const char *kind : {"sum", "mean", "max"})
      sweep.output(kind, one, std::string("model.reduce ") + kind + " %x axes [1] : (" + type + ") -> " + one);
    sweep.output("argmax", "i[" + R + "]", "model.reduce argmax %x axes [1] : (" + type + ") -> i[" + R + "]");
    ASSERT_TRUE(sweep.run());

    const Tensor &weight = sweep.parameter("w"), &bias = sweep.parameter("b");
    auto total = [](const Row &x, Real by, Row &want, Row &bound) {
      want.push_back(sumOf(x, [](Real v) { return v; }) / by);
      bound.push_back(ulp(want[0]) / 2 + x.size() * 0x1p-53L * sumOf(x, [](Real v) { return std::fabs(v); }) / by);
    };
    // clang-format off
    const RowOp ops[] = {
        {"layer_norm", [&](const Row &x, Row &want, Row &bound) { normed(x, true, &weight, &bias, 0, want, bound); }},
        {"rms_norm", [&](const Row &x, Row &want, Row &bound) { normed(x, false, &weight, nullptr, 1, want, bound); }},
        {"l2_norm",
         [&](const Row &x, Row &want, Row &bound) {
           Real squares = sumOf(x, [](Real v) { return v * v; }), length = std::max(std::sqrt(squares), kEps);
           for (Real v : x) {
             want.push_back(v / length);
             bound.push_back(promised(squares < 0x1p126L || !std::isfinite(squares), chain(x) * kHalf * std::fabs(want.back()) + 0x1p-149L));
           }
         }},
        {"batch_norm",
         [&](const Row &x, Row &want, Row &bound) {
           for (size_t i = 0; i < x.size(); ++i) {
             Real y = (x[i] - sweep.parameter("m").reals[i]) / std::sqrt(std::fabs(sweep.parameter("v0").reals[i]) + kEps);
             want.push_back(y * weight.reals[i] + bias.reals[i]);
             bound.push_back(promised(std::fabs(y) <= FLT_MAX || !std::isfinite(y), 4 * kHalf * (std::fabs(y * weight.reals[i]) + std::fabs(bias.reals[i]))));
           }
         }},
        {"group_norm",
         [&](const Row &x, Row &want, Row &bound) {
           Real n = x.size(), mean = sumOf(x, [](Real v) { return v; }) / n, most = 0;
           Real scale = std::sqrt(sumOf(x, [&](Real v) { return (v - mean) * (v - mean); }) / n + kEps);
           for (Real v : x)
             most = std::max(most, std::fabs(v));
           for (size_t i = 0; i < x.size(); ++i) {
             Real y = (x[i] - mean) / scale;
             want.push_back(y * weight.reals[i] + bias.reals[i]);
             Real off = 2 * kHalf * std::fabs(y) + n * 0x1p-53L * (1 + std::fabs(y)) * most / scale;
             bound.push_back(off * std::fabs(weight.reals[i]) + kHalf * (std::fabs(want.back()) + std::fabs(bias.reals[i])) + 0x1p-149L);
           }
         }},
        {"softmax", [&](const Row &x, Row &want, Row &bound) { softmax(x, false, want, bound); }},
        {"softmax_rows", [&](const Row &x, Row &want, Row &bound) { softmax(x, false, want, bound); }},
        {"log_softmax", [&](const Row &x, Row &want, Row &bound) { softmax(x, true, want, bound); }},
        {"log_softmax_rows", [&](const Row &x, Row &want, Row &bound) { softmax(x, true, want, bound); }},
        {"cumsum",
         [&](const Row &x, Row &want, Row &bound) {
           Real sum = 0, all = 0;
           for (Real v : x) {
             want.push_back(sum += v);
             all += std::fabs(v);
             bound.push_back(promised(all <= FLT_MAX || !std::isfinite(all), Real(want.size()) * kHalf * all));
           }
         }},
        {"sum", [&](const Row &x, Row &want, Row &bound) { total(x, 1, want, bound); }},
        {"mean", [&](const Row &x, Row &want, Row &bound) { total(x, x.size(), want, bound); }},
        {"max", [&](const Row &x, Row &want, Row &bound) { want.push_back(largestOf(x)), bound.push_back(0); }},
    };
    // clang-format on
    for (const RowOp &op : ops)
      for (size_t r = 0; r < count; ++r) {
        Row x(values.begin() + r * width, values.begin() + (r + 1) * width), want, bound;
        op.meaning(x, want, bound);
        for (size_t i = 0; i < want.size(); ++i) {
          size_t at = r * want.size() + i;
          for (bool program : {true, false}) {
            float got = program ? sweep.compiled(op.name, at) : float(sweep.meant(op.name).reals[at]);
            if (program && bound[i] < 0)
              continue;
            ASSERT_TRUE(agrees(got, want[i], std::fabs(bound[i])))
                << (program ? "compiled " : "interpreted ") << op.name << ", row " << r << " [" << double(x[0]) << ", "
                << double(x[1]) << ", ..], element " << i << " is " << got << ", exactly " << double(want[i])
                << ", bound " << double(bound[i]);
          }
        }
      }

    // The largest, its place and the k largest: a NaN is larger than every number, of equals the first is the larger.
    for (size_t r = 0; r < count; ++r) {
      const float *x = &values[r * width];
      auto larger = [&](size_t i, size_t j) { return x[i] > x[j] || (std::isnan(x[i]) && !std::isnan(x[j])); };
      std::vector<size_t> order(width);
      for (size_t i = 0; i < width; ++i)
        order[i] = i;
      std::stable_sort(order.begin(), order.end(), larger);
      EXPECT_EQ(sweep.compiled<int64_t>("argmax", r), int64_t(order[0])) << r;
      EXPECT_EQ(sweep.meant("argmax").ints[r], int64_t(order[0])) << r;
      std::vector<float> kept(width, -7.0f);
      for (size_t i = 0; i < 3; ++i)
        kept[order[i]] = x[order[i]];
      for (size_t i = 0; i < width; ++i) {
        EXPECT_TRUE(agrees(sweep.compiled("top_k", r * width + i), kept[i], 0)) << r << " " << i;
        EXPECT_TRUE(agrees(float(sweep.meant("top_k").reals[r * width + i]), kept[i], 0)) << r << " " << i;
      }
    }
  }
}
