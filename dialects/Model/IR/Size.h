//===- Size.h - lengths as forms over dims ----------------------*- C++ -*-===//
//
// The length of an axis is a form over dims in ONE normal form,
//
//     sum of coefficient * product of atoms + constant,
//
// where an atom is a dim, a floor division after what divides has come out
// ((a*n + r)//n = a + r//n), or a min/max that cannot be decided. Two lengths are
// equal exactly when their forms are (language.md section 4): a T is never an S.
//
// Coefficients have 64 bits. A form whose arithmetic leaves them, or in which a dim was
// replaced so that it divides by 0, is `too large`: it has no number, its text is "?", and
// whatever is computed with it is too large, too.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_MODEL_IR_SIZE_H
#define HEDDLE_DIALECTS_MODEL_IR_SIZE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace heddle::model {

class Size {
public:
  Size() = default; ///< 0
  Size(int64_t constant);
  static Size dim(llvm::StringRef name);

  /// Reads `text` (integers, names, + - * //, max(,), min(,), parentheses; `%` is
  /// x - n*(x//n)) and normalises it. None when it is not a form.
  static std::optional<Size> parse(llvm::StringRef text);

  /// The canonical text; equal forms have equal texts.
  std::string str() const;

  bool operator==(const Size &o) const { return terms == o.terms; }
  bool operator!=(const Size &o) const { return !(*this == o); }
  bool operator<(const Size &o) const { return terms < o.terms; }

  bool fits() const; ///< whether all of its arithmetic stayed within 64 bits

  std::optional<int64_t> constant() const; ///< the value, when no dim is in it
  bool is(int64_t value) const { return constant() == value; }
  std::optional<std::string> bareDim() const; ///< "T" when the form is exactly T

  Size operator+(const Size &o) const;
  Size operator-(const Size &o) const;
  Size operator*(const Size &o) const;
  Size floorDiv(const Size &o) const;
  Size mod(const Size &o) const;
  static Size max(const Size &a, const Size &b);
  static Size min(const Size &a, const Size &b);

  /// This form divided by `o` when that is exact for every value of the dims.
  std::optional<Size> exactDiv(const Size &o) const;

  /// Every dim that occurs, inside atoms too.
  std::set<std::string> dims() const;
  bool uses(llvm::StringRef dim) const { return dims().count(dim.str()); }

  /// The form with dims replaced (those without an entry stay).
  Size substitute(const std::map<std::string, Size> &values) const;

  /// (p, n), both without negative coefficients, of which this is p - n.
  std::pair<Size, Size> sides() const;

  /// The divisors, anywhere in the form, that are not numbers.
  std::set<Size> divisors() const;

  /// The number, once every dim has one; none when a dim is missing, a divisor is 0 or the number leaves 64 bits.
  std::optional<int64_t> evaluate(const std::map<std::string, int64_t> &dims) const;

private:
  // product of atoms (sorted canonical texts) -> coefficient, never 0; {} is the constant
  // (too large: "?" alone)
  std::map<std::vector<std::string>, int64_t> terms;
  static Size tooLarge();
  /// Adds `c` times the product of `atoms`.
  void add(const std::vector<std::string> &atoms, int64_t c);
  static Size atom(std::string text);
};

/// Walks a form bottom up; code generators and evaluators are visitors of it.
/// T needs nothing; each function builds one node.
template <typename T> struct SizeVisitor {
  llvm::function_ref<T(int64_t)> constant;
  llvm::function_ref<T(llvm::StringRef)> dim;
  llvm::function_ref<T(char op, T, T)> binary; ///< + - * / (floor) M (max) m (min)
};

/// Parses canonical or hand-written text through `visitor`; none on a syntax error.
template <typename T> std::optional<T> visitSize(llvm::StringRef text, SizeVisitor<T> visitor);

} // namespace heddle::model

#include "dialects/Model/IR/SizeParser.h"

#endif
