//===- Remark.cpp - the table, and remarks that are emitted ---------------===//

#include "dialects/Remarks/Remark.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace heddle::remarks;

static constexpr Row kTable[] = {
#define HEDDLE_REMARK(id, name, kinds, says, numbers) {name, says, kinds, numbers},
#include "dialects/Remarks/Remarks.def"
};

ArrayRef<Row> heddle::remarks::table() { return kTable; }

const Row *heddle::remarks::find(StringRef name) {
  const Row *row = llvm::find_if(kTable, [&](const Row &r) { return r.name == name; });
  return row == std::end(kTable) ? nullptr : row;
}

InFlight::~InFlight() {
  if (!remark)
    return;
  remark << mlir::remark::detail::Remark::Arg(key, sentence);
  for (const mlir::remark::detail::Remark::Arg &one : numbers)
    remark << one;
}

InFlight &InFlight::note(Location where, const Twine &text) {
  if (!remark)
    return *this;
  mlir::remark::detail::Remark::Arg note(kNote, text.str());
  note.attr = LocationAttr(where);
  numbers.push_back(std::move(note));
  return *this;
}

/// The function that a remark is in; it outlives the remark, since the context owns it.
static StringRef entryOf(const Where &where) {
  if (!where.op)
    return where.entry ? where.entry.getValue() : StringRef();
  auto function = dyn_cast<FunctionOpInterface>(where.op);
  if (!function)
    function = where.op->getParentOfType<FunctionOpInterface>();
  return function ? function.getName() : StringRef();
}

remark::detail::InFlightRemark heddle::remarks::start(const Where &where, Kind kind, StringRef name) {
  if (LLVM_LIKELY(!where.loc->getContext()->getRemarkEngine()))
    return {};
  auto what = remark::RemarkOpts::name(name).category(name).function(entryOf(where));
  switch (kind) {
  case Passed: return remark::passed(where.loc, what);
  case Missed: return remark::missed(where.loc, what);
  case Analysis: return remark::analysis(where.loc, what);
  }
  llvm_unreachable("there are three kinds");
}
