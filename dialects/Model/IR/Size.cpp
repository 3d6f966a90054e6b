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

Size::Size(int64_t constant) {
  if (constant)
    terms[{}] = constant;
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
  Size s = *this;
  for (auto &[atoms, c] : o.terms)
    if ((s.terms[atoms] += c) == 0)
      s.terms.erase(atoms);
  return s;
}

Size Size::operator-(const Size &o) const { return *this + o * Size(-1); }

Size Size::operator*(const Size &o) const {
  Size s;
  for (auto &[a, ca] : terms)
    for (auto &[b, cb] : o.terms) {
      std::vector<std::string> atoms(a);
      atoms.insert(atoms.end(), b.begin(), b.end());
      std::sort(atoms.begin(), atoms.end());
      if ((s.terms[atoms] += ca * cb) == 0)
        s.terms.erase(atoms);
    }
  return s;
}

/// Divides term by term where the divisor is a positive constant, so that (4·T + 6) // 4 is T + 1; what does not divide
/// stays one atom "(..)//(..)".
Size Size::floorDiv(const Size &o) const {
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
    if (atoms.empty()) {
      int64_t q = floorDivInt(c, *n);
      out = out + Size(q);
      rest = rest + Size(c - q * *n);
    } else {
      int64_t q = floorDivInt(c, *n);
      Size term;
      term.terms[atoms] = 1;
      if (q)
        out = out + term * Size(q);
      if (c - q * *n) {
        rest.terms[atoms] = c - q * *n;
        g = std::gcd(g, c - q * *n);
      }
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
    out.terms[mine] += k / c;
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
  if (std::optional<int64_t> d = (a - b).constant())
    return *d >= 0 ? a : b;
  return atom(call("max", a, b));
}

Size Size::min(const Size &a, const Size &b) {
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
      // "T//2" binds as tightly as a product; keep its value when it stands in one.
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
  if (values.empty())
    return *this;
  auto dim = [&](StringRef n) {
    auto it = values.find(n.str());
    return it == values.end() ? Size::dim(n) : it->second;
  };
  Size out;
  for (auto &[atoms, c] : terms) {
    Size product(c);
    for (const std::string &a : atoms)
      product = product * (isDim(a) ? dim(a) : *build(a, dim));
    out = out + product;
  }
  return out;
}

/// The number that an atom is; none where a dim is missing or a divisor is 0.
static std::optional<int64_t> numberOf(StringRef atom, const std::map<std::string, int64_t> &dims) {
  bool good = true;
  auto dim = [&](StringRef name) -> int64_t {
    auto it = dims.find(name.str());
    good &= it != dims.end();
    return it == dims.end() ? 0 : it->second;
  };
  auto constant = [](int64_t n) { return n; };
  auto binary = [&](char op, int64_t a, int64_t b) -> int64_t {
    switch (op) {
    case '+': return a + b;
    case '-': return a - b;
    case '*': return a * b;
    case '/': good &= b != 0; return b ? floorDivInt(a, b) : 0;
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
      std::optional<int64_t> n = numberOf(a, dims);
      if (!n)
        return std::nullopt;
      product *= *n;
    }
    sum += product;
  }
  return sum;
}
