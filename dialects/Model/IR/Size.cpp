//===- Size.cpp - arithmetic on size forms --------------------------------===//
//
// Atoms are kept as their canonical text, so a nested form needs no tree of its own:
// whoever has to look inside an atom parses it again (they are short).
//
//===----------------------------------------------------------------------===//

#include "dialects/Model/IR/Size.h"
#include <algorithm>
#include <numeric>

using namespace heddle::model;
using llvm::StringRef;

static int64_t floorDivInt(int64_t a, int64_t b) {
  int64_t q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

/// Whether an atom is a dim rather than a form over some.
static bool isDim(StringRef atom) {
  return llvm::all_of(atom, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

/// The text of a form that is too large, which no dim is called.
static constexpr llvm::StringLiteral kTooLarge = "?";

Size::Size(int64_t constant) {
  if (constant)
    add({}, constant);
}

Size Size::tooLarge() { return atom(kTooLarge.str()); }
bool Size::fits() const {
  return terms.size() != 1 || terms.begin()->first.size() != 1 || terms.begin()->first[0] != kTooLarge;
}

void Size::add(const std::vector<std::string> &atoms, int64_t c) {
  if (!fits())
    return;
  int64_t &sum = terms[atoms];
  bool over = __builtin_add_overflow(sum, c, &sum) || sum == INT64_MIN; // the one number that has no negative
  if (over)
    *this = tooLarge();
  else if (sum == 0)
    terms.erase(atoms);
}

Size Size::atom(std::string text) {
  Size s;
  s.terms[{std::move(text)}] = 1;
  return s;
}

Size Size::dim(StringRef name) { return atom(name.str()); }

std::optional<int64_t> Size::constant() const {
  if (terms.empty())
    return 0;
  if (terms.size() == 1 && terms.begin()->first.empty())
    return terms.begin()->second;
  return std::nullopt;
}

std::optional<std::string> Size::bareDim() const {
  if (terms.size() != 1 || terms.begin()->second != 1 || terms.begin()->first.size() != 1)
    return std::nullopt;
  const std::string &name = terms.begin()->first[0];
  return isDim(name) ? std::optional<std::string>(name) : std::nullopt;
}

Size Size::operator+(const Size &o) const {
  if (!fits() || !o.fits())
    return tooLarge();
  Size s = *this;
  for (auto &[atoms, c] : o.terms)
    s.add(atoms, c);
  return s;
}

Size Size::operator-(const Size &o) const { return *this + o * Size(-1); }

Size Size::operator*(const Size &o) const {
  if (!fits() || !o.fits())
    return tooLarge();
  Size s;
  for (auto &[a, ca] : terms)
    for (auto &[b, cb] : o.terms) {
      std::vector<std::string> atoms(a);
      atoms.insert(atoms.end(), b.begin(), b.end());
      std::sort(atoms.begin(), atoms.end());
      int64_t c;
      if (__builtin_mul_overflow(ca, cb, &c))
        return tooLarge();
      s.add(atoms, c);
    }
  return s;
}

/// Divides term by term where the divisor is a positive constant, so that (4·T + 6) // 4 is T + 1; what does not divide
/// stays one atom "(..)//(..)".
Size Size::floorDiv(const Size &o) const {
  if (!fits() || !o.fits())
    return tooLarge();
  std::optional<int64_t> n = o.constant(), all = constant();
  if (n && *n && all)
    return floorDivInt(*all, *n);
  if (!n || *n <= 0) {
    if (std::optional<Size> exact = exactDiv(o))
      return *exact;
    return atom("(" + str() + ")//(" + o.str() + ")");
  }
  // What divides comes out; of the constant, its floor.
  Size out, rest;
  int64_t g = *n;
  for (auto &[atoms, c] : terms) {
    int64_t q = floorDivInt(c, *n), left = c % *n + (c % *n < 0 ? *n : 0);
    if (q)
      out.add(atoms, q);
    if (left) {
      rest.add(atoms, left);
      if (!atoms.empty())
        g = std::gcd(g, left);
    }
  }
  if (std::optional<int64_t> r = rest.constant())
    return out + Size(floorDivInt(*r, *n));
  // (g*a + r) // (g*b) = (a + r//g) // b
  Size inner;
  for (auto &[atoms, c] : rest.terms)
    inner.terms[atoms] = floorDivInt(c, g);
  if (auto it = inner.terms.find({}); it != inner.terms.end() && it->second == 0)
    inner.terms.erase(it);
  int64_t m = *n / g;
  if (m == 1)
    return out + inner;
  std::string text = inner.str();
  bool simple = inner.terms.size() == 1 && inner.terms.begin()->second == 1 && inner.terms.begin()->first.size() == 1;
  return out + atom((simple ? text : "(" + text + ")") + "//" + std::to_string(m));
}

Size Size::mod(const Size &o) const { return *this - o * floorDiv(o); }

std::optional<Size> Size::exactDiv(const Size &o) const {
  if (!fits() || !o.fits())
    return std::nullopt;
  if (terms.empty())
    return Size(0);
  if (o.terms.size() != 1)
    return *this == o ? std::optional<Size>(Size(1)) : std::nullopt;
  auto &[atoms, c] = *o.terms.begin();
  Size out;
  for (auto &[all, k] : terms) {
    std::vector<std::string> mine = all;
    if (k % c)
      return std::nullopt;
    for (const std::string &a : atoms) {
      auto it = std::find(mine.begin(), mine.end(), a);
      if (it == mine.end())
        return std::nullopt;
      mine.erase(it);
    }
    out.add(mine, k / c);
  }
  return out;
}

static std::string call(const char *name, const Size &a, const Size &b) {
  std::string x = a.str(), y = b.str();
  if (y < x)
    std::swap(x, y);
  return std::string(name) + "(" + x + "," + y + ")";
}

Size Size::max(const Size &a, const Size &b) {
  if (!a.fits() || !b.fits())
    return tooLarge();
  if (std::optional<int64_t> d = (a - b).constant())
    return *d >= 0 ? a : b;
  return atom(call("max", a, b));
}

Size Size::min(const Size &a, const Size &b) {
  if (!a.fits() || !b.fits())
    return tooLarge();
  if (std::optional<int64_t> d = (a - b).constant())
    return *d <= 0 ? a : b;
  return atom(call("min", a, b));
}

std::string Size::str() const {
  if (terms.empty())
    return "0";
  std::string out;
  auto add = [&](const std::vector<std::string> &atoms, int64_t c) {
    uint64_t abs = c < 0 ? -uint64_t(c) : uint64_t(c);
    if (c < 0)
      out += "-";
    else if (!out.empty())
      out += "+";
    bool first = true;
    if (abs != 1 || atoms.empty()) {
      out += std::to_string(abs);
      first = false;
    }
    for (const std::string &a : atoms) {
      if (!first)
        out += "*";
      // "T//2" binds as tightly as a product; keep its value when it is in one.
      // So must a minus at the very front, which would bind before the division.
      bool wrap = (atoms.size() > 1 || abs != 1 || out == "-") && StringRef(a).contains("//") &&
                  !StringRef(a).starts_with("max(") && !StringRef(a).starts_with("min(");
      out += wrap ? "(" + a + ")" : a;
      first = false;
    }
  };
  for (auto &[atoms, c] : terms)
    if (!atoms.empty())
      add(atoms, c);
  if (auto it = terms.find({}); it != terms.end())
    add({}, it->second);
  return out;
}

/// Builds a form with `dim` for the names.
static std::optional<Size> build(StringRef text, llvm::function_ref<Size(StringRef)> dim) {
  bool good = true;
  auto constant = [](int64_t n) { return Size(n); };
  auto binary = [&](char op, Size a, Size b) -> Size {
    switch (op) {
    case '+': return a + b;
    case '-': return a - b;
    case '*': return a * b;
    case '/':
      if (b.is(0)) {
        good = false;
        return a;
      }
      return a.floorDiv(b);
    case 'M': return Size::max(a, b);
    default: return Size::min(a, b);
    }
  };
  std::optional<Size> s = visitSize<Size>(text, {constant, dim, binary});
  return good ? s : std::nullopt;
}

std::optional<Size> Size::parse(StringRef text) {
  if (text == kTooLarge)
    return tooLarge();
  return build(text, [](StringRef n) { return Size::dim(n); });
}

std::set<std::string> Size::dims() const {
  std::set<std::string> names;
  auto constant = [](int64_t) { return 0; };
  auto dim = [&](StringRef n) {
    names.insert(n.str());
    return 0;
  };
  auto binary = [](char, int, int) { return 0; };
  for (auto &entry : terms)
    for (const std::string &a : entry.first)
      visitSize<int>(a, {constant, dim, binary});
  return names;
}

Size Size::substitute(const std::map<std::string, Size> &values) const {
  if (values.empty() || !fits())
    return *this;
  auto dim = [&](StringRef n) {
    auto it = values.find(n.str());
    return it == values.end() ? Size::dim(n) : it->second;
  };
  Size out;
  for (auto &[atoms, c] : terms) {
    Size product(c);
    for (const std::string &a : atoms)
      product = product * (isDim(a) ? dim(a) : build(a, dim).value_or(tooLarge()));
    out = out + product;
  }
  return out;
}

std::pair<Size, Size> Size::sides() const {
  std::pair<Size, Size> both;
  for (auto &[atoms, c] : terms)
    (c > 0 ? both.first : both.second).add(atoms, c > 0 ? c : -c);
  return both;
}

std::set<Size> Size::divisors() const {
  std::set<Size> found;
  auto constant = [](int64_t n) { return Size(n); };
  auto dim = [](StringRef n) { return Size::dim(n); };
  auto binary = [&](char op, Size a, Size b) -> Size {
    switch (op) {
    case '+': return a + b;
    case '-': return a - b;
    case '*': return a * b;
    case '/':
      if (!b.constant())
        found.insert(b);
      return b.is(0) ? a : a.floorDiv(b);
    case 'M': return max(a, b);
    default: return min(a, b);
    }
  };
  for (auto &entry : terms)
    for (const std::string &a : entry.first)
      if (!isDim(a))
        visitSize<Size>(a, {constant, dim, binary});
  return found;
}

/// The number that an atom is; none where a dim is missing, a divisor is 0 or a number leaves 64 bits.
static std::optional<int64_t> valueOf(StringRef atom, const std::map<std::string, int64_t> &dims) {
  bool good = true;
  auto dim = [&](StringRef name) -> int64_t {
    auto it = dims.find(name.str());
    good &= it != dims.end();
    return it == dims.end() ? 0 : it->second;
  };
  auto constant = [](int64_t n) { return n; };
  auto binary = [&](char op, int64_t a, int64_t b) -> int64_t {
    int64_t n = 0;
    switch (op) {
    case '+': good &= !__builtin_add_overflow(a, b, &n); return n;
    case '-': good &= !__builtin_sub_overflow(a, b, &n); return n;
    case '*': good &= !__builtin_mul_overflow(a, b, &n); return n;
    case '/':
      if (b == 0 || (a == INT64_MIN && b == -1)) {
        good = false;
        return 0;
      }
      return floorDivInt(a, b);
    case 'M': return std::max(a, b);
    default: return std::min(a, b);
    }
  };
  std::optional<int64_t> n = isDim(atom) ? dim(atom) : visitSize<int64_t>(atom, {constant, dim, binary});
  return good ? n : std::nullopt;
}

std::optional<int64_t> Size::evaluate(const std::map<std::string, int64_t> &dims) const {
  int64_t sum = 0;
  for (auto &[atoms, c] : terms) {
    int64_t product = c;
    for (const std::string &a : atoms) {
      std::optional<int64_t> n = valueOf(a, dims);
      if (!n || __builtin_mul_overflow(product, *n, &product))
        return std::nullopt;
    }
    if (__builtin_add_overflow(sum, product, &sum))
      return std::nullopt;
  }
  return sum;
}
