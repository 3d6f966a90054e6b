// The values of expressions: constants, lengths (forms over dims), tensors, masks, biases. Poison stands for an error
// that was reported already; it passes through everything silently, so that one run reports all mistakes.
#ifndef HEDDLE_COMPILER_IMPORT_EVALUATE_VALUE_H
#define HEDDLE_COMPILER_IMPORT_EVALUATE_VALUE_H

#include "dialects/Model/IR/Size.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"
#include <memory>
#include <string>
#include <vector>

namespace heddle {

struct JsonValue;

/// A tensor whose elements are known at import. Reals are doubles and rounded when the type of computation is known.
struct ConstantTensor {
  enum class Element { Real, Integer, Bool };
  Element element = Element::Real;
  llvm::SmallVector<int64_t, 4> shape;
  std::vector<double> reals;     // of Real
  std::vector<int64_t> integers; // of Integer and Bool
  std::string name;              // of the statement that binds it; empty: part of an expression

  int64_t count() const {
    int64_t n = 1;
    for (int64_t d : shape)
      n *= d;
    return n;
  }
  double real(size_t i) const { return element == Element::Real ? reals[i] : static_cast<double>(integers[i]); }
};

/// A value of an expression. Cheap to copy: whatever is large is shared and never changed.
class Value {
public:
  enum class Kind {
    Poison, // an error that was reported
    Absent, // needs a key that config.json lacks; only ?? accepts it
    Null,
    Bool,
    Integer,
    Real,
    String,
    List,
    Object,
    Size,     // a form with dims in it
    Constant, // a tensor of constants
    Tensor,
    Mask,
    Bias,
  };

  Value() = default;
  static Value poison() { return Value(); }
  /// `isNullKey`: the key is there and null, which `??` tells from a key that is not there.
  static Value absent(std::string key, bool isNullKey = false) {
    Value v = text(Kind::Absent, std::move(key));
    v.i = isNullKey;
    return v;
  }
  /// `stays`: what a family says that a null key means; `??` leaves it as it is.
  static Value null(bool stays = false) { return number(Kind::Null, stays); }
  static Value boolean(bool b) { return number(Kind::Bool, b); }
  static Value integer(int64_t i) { return number(Kind::Integer, i); }
  static Value real(double r) {
    Value v(Kind::Real);
    v.r = r;
    return v;
  }
  static Value string(std::string s) { return text(Kind::String, std::move(s)); }
  static Value list(std::vector<Value> items) {
    Value v(Kind::List);
    v.items = std::make_shared<std::vector<Value>>(std::move(items));
    return v;
  }
  using Members = std::vector<std::pair<std::string, Value>>;
  static Value object(Members m) {
    Value v(Kind::Object);
    v.fields = std::make_shared<Members>(std::move(m));
    return v;
  }
  /// An Integer if the form has no dim.
  static Value size(model::Size s) {
    if (auto n = s.constant())
      return integer(*n);
    Value v(Kind::Size);
    v.form = std::make_shared<model::Size>(std::move(s));
    return v;
  }
  static Value constant(ConstantTensor t) {
    Value v(Kind::Constant);
    v.table = std::make_shared<ConstantTensor>(std::move(t));
    return v;
  }
  static Value ofIr(Kind kind, mlir::Value ir) {
    Value v(kind);
    v.ir = ir;
    return v;
  }

  Kind kind() const { return k; }
  bool is(Kind kind) const { return k == kind; }
  bool isBad() const { return k == Kind::Poison || k == Kind::Absent; }
  bool isNull() const { return k == Kind::Null; }
  /// An Absent of a key that is null, a Null that `??` leaves as it is.
  bool isNullKey() const { return k == Kind::Absent && i; }
  bool nullStays() const { return k == Kind::Null && i; }
  bool isNumber() const { return k == Kind::Integer || k == Kind::Real; }
  /// Whether it can be an operand of elementwise arithmetic on tensors.
  bool isArray() const { return k == Kind::Tensor || k == Kind::Constant; }

  // Each is for its own kind only; asReal is for any number.
  bool asBool() const { return i != 0; }
  int64_t asInteger() const { return i; }
  double asReal() const { return k == Kind::Real ? r : static_cast<double>(i); }
  const std::string &asString() const { return *s; }
  const std::vector<Value> &asList() const { return *items; }
  const Members &asObject() const { return *fields; }
  /// The length; for Integer and Size only.
  model::Size asSize() const { return k == Kind::Size ? *form : model::Size(i); }
  const ConstantTensor &asConstant() const { return *table; }
  mlir::Value asIr() const { return ir; }

  /// The kind in words: "a tensor", "true or false".
  llvm::StringRef describe() const;
  /// The value as a message shows it.
  std::string show() const;

private:
  explicit Value(Kind kind) : k(kind) {}
  static Value number(Kind kind, int64_t i) {
    Value v(kind);
    v.i = i;
    return v;
  }
  static Value text(Kind kind, std::string s) {
    Value v(kind);
    v.s = std::make_shared<std::string>(std::move(s));
    return v;
  }

  // Which of these holds the value depends on the kind.
  Kind k = Kind::Poison;
  int64_t i = 0;
  double r = 0;
  mlir::Value ir;
  std::shared_ptr<std::string> s;
  std::shared_ptr<std::vector<Value>> items;
  std::shared_ptr<Members> fields;
  std::shared_ptr<model::Size> form;
  std::shared_ptr<ConstantTensor> table;
};

/// Deep equality of constants; 1 equals 1.0; different kinds differ.
bool equalConstants(const Value &a, const Value &b);

} // namespace heddle

#endif // HEDDLE_COMPILER_IMPORT_EVALUATE_VALUE_H
