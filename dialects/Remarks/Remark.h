//===- Remark.h - what a pass decided, and why ------------------*- C++ -*-===//
//
// Remarks through MLIR's engine (mlir/IR/Remarks.h), by the names of Remarks.def:
//
//   remarks::passed(op, remarks::FuseMap) << remarks::number("ops", n) << " elementwise ops are one pass over memory";
//   remarks::missed(op, remarks::FuseMap, "another op reads its operand");
//   if (remarks::InFlight remark = remarks::analysis(op, remarks::MemoryPlace)) // what takes time to find out
//     remark << ...
//
// Where nobody asked for remarks, each is one test of a pointer. A `missed` has its reason, and a kind that the table
// does not give a name does not compile. MLIR's category and name of a remark are its name here, so that
// `heddle-opt --remarks-filter='fuse\..*'` filters by it.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_REMARKS_REMARK_H
#define HEDDLE_DIALECTS_REMARKS_REMARK_H

#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/Remarks.h"

namespace heddle::remarks {

/// What a remark can be, as bits.
enum Kind : unsigned { Passed = 1, Missed = 2, Analysis = 4 };

/// A name of the table with the kinds that it has.
template <unsigned kinds> struct Named {
  llvm::StringLiteral name;
};
#define HEDDLE_REMARK(id, name, kinds, says, numbers) inline constexpr Named<unsigned(kinds)> id{name};
#include "dialects/Remarks/Remarks.def"

/// A row of the table.
struct Row {
  llvm::StringLiteral name, says;
  unsigned kinds;
  llvm::StringLiteral numbers; ///< names, with blanks between

  bool has(Kind kind) const { return kinds & kind; }
};
/// All rows, in the order of Remarks.def.
llvm::ArrayRef<Row> table();
/// The row of a name; null: there is none.
const Row *find(llvm::StringRef name);

/// A number that belongs to a remark under a name of its row.
template <typename T> struct Number {
  llvm::StringRef name;
  const T &value;
};
template <typename T> Number<T> number(llvm::StringRef name, const T &value) { return {name, value}; }

/// A remark while its sentence is written; it is emitted at the end of its life.
class InFlight {
public:
  InFlight(mlir::remark::detail::InFlightRemark remark, llvm::StringRef key, const llvm::Twine &text)
      : remark(std::move(remark)), key(key) {
    if (this->remark)
      sentence = text.str();
  }
  InFlight(InFlight &&) = default;
  ~InFlight();

  /// Whether anybody wants it.
  explicit operator bool() const { return bool(remark); }

  /// Goes on with the sentence.
  template <typename T> InFlight &operator<<(const T &piece) {
    if (remark)
      llvm::raw_string_ostream(sentence) << piece;
    return *this;
  }
  template <typename T> InFlight &operator<<(const Number<T> &piece) {
    return add(piece.name, piece.value) << piece.value;
  }
  /// A number that the sentence leaves out.
  template <typename T> InFlight &add(llvm::StringRef name, const T &value) {
    if (!remark)
      return *this;
    std::string text;
    llvm::raw_string_ostream(text) << value;
    numbers.emplace_back(name, std::move(text));
    return *this;
  }
  /// Another place that has to do with it.
  InFlight &note(mlir::Location where, const llvm::Twine &text);

private:
  mlir::remark::detail::InFlightRemark remark;
  llvm::StringRef key; ///< of the sentence: kSentence or kReason
  std::string sentence;
  llvm::SmallVector<mlir::remark::detail::Remark::Arg, 4> numbers;
};

/// The keys of a remark's arguments that are no numbers: the sentence, of `missed` the reason, and a note, whose
/// attribute is its location.
inline constexpr llvm::StringLiteral kSentence = "Remark", kReason = "Reason", kNote = "Note";

/// Where a remark is: an op, or a place in the function called `entry`.
struct Where {
  Where(mlir::Operation *op) : loc(op->getLoc()), op(op) {}
  template <typename Op, typename = std::enable_if_t<std::is_base_of_v<mlir::OpState, Op>>>
  Where(Op op) : Where(op.getOperation()) {}
  Where(mlir::Location loc, mlir::StringAttr entry) : loc(loc), entry(entry) {}

  mlir::Location loc;
  mlir::Operation *op = nullptr;
  mlir::StringAttr entry; ///< where there is no op; null: none
};

/// Whether anybody wants remarks at all.
inline bool wanted(mlir::Operation *op) { return op->getContext()->getRemarkEngine() != nullptr; }

/// For those below.
mlir::remark::detail::InFlightRemark start(const Where &where, Kind kind, llvm::StringRef name);

/// Something was done.
template <unsigned kinds> InFlight passed(const Where &where, const Named<kinds> &what) {
  static_assert(kinds & Passed, "Remarks.def does not say that this is ever done");
  return {start(where, Passed, what.name), kSentence, ""};
}
/// Something was not done, and why.
template <unsigned kinds> InFlight missed(const Where &where, const Named<kinds> &what, const llvm::Twine &reason) {
  static_assert(kinds & Missed, "Remarks.def does not say that this is ever missed");
  return {start(where, Missed, what.name), kReason, reason};
}
/// Something is so.
template <unsigned kinds> InFlight analysis(const Where &where, const Named<kinds> &what) {
  static_assert(kinds & Analysis, "Remarks.def does not say that this is ever noted");
  return {start(where, Analysis, what.name), kSentence, ""};
}

} // namespace heddle::remarks

#endif
