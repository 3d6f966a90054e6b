//===- TileAttrs.cpp - the clauses of the attributes ----------------------===//

#include "dialects/Model/IR/Size.h"
#include "dialects/Tile/IR/Tile.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::tile;

#define GET_ATTRDEF_CLASSES
#include "dialects/Tile/IR/TileAttrs.cpp.inc"

void TileDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Tile/IR/TileAttrs.cpp.inc"
      >();
}

using Complaint = llvm::function_ref<InFlightDiagnostic()>;

static bool isForm(StringAttr text) { return model::Size::parse(text.getValue()).has_value(); }
static bool isWord(StringAttr text) {
  return !text.empty() && llvm::all_of(text.getValue(), [](char c) { return llvm::isAlnum(c) || c == '_'; });
}
/// 32, 64, .. 1024.
static bool isBlock(int64_t threads) { return threads >= 32 && threads <= 1024 && threads % 32 == 0; }

LogicalResult ItemsAttr::verify(Complaint emitError, StringAttr count, int64_t each, bool) {
  if (!isForm(count)) // items_c1
    return emitError() << "expected a size form of items, got " << count;
  if (each != 1 && !isBlock(each)) // items_c2
    return emitError() << "expected items of 1, 32, 64, .. 1024 threads, got " << each;
  return success();
}

model::Size ItemsAttr::getForm() const { return *model::Size::parse(getCount().getValue()); }

LogicalResult CostAttr::verify(Complaint emitError, StringAttr op, StringAttr operations, StringAttr read,
                               StringAttr written, bool, bool, StringAttr untiled) {
  for (StringAttr form : {operations, read, written})
    if (!isForm(form)) // cost_c1
      return emitError() << "expected size forms of operations and bytes, got " << form;
  if (!isWord(op) || (untiled && !isWord(untiled))) // cost_c2
    return emitError() << "expected a word for the op and one for why it has no tiles, got " << op << " and "
                       << (untiled ? untiled : StringAttr::get(op.getContext()));
  return success();
}

LogicalResult LaunchAttr::verify(Complaint emitError, StringAttr entry, StringAttr items, int64_t each, int64_t threads,
                                 int64_t times, bool, StringAttr, ArrayAttr costs, int64_t shared, ArrayAttr on,
                                 int64_t number, DenseI64ArrayAttr) {
  if (!isForm(items)) // launch_attr_c1
    return emitError() << "expected a size form of items, got " << items;
  if (each != 1 && each != 32) // launch_attr_c2
    return emitError() << "expected items of 1 or 32 threads, got " << each;
  if (!isBlock(threads)) // launch_attr_c3
    return emitError() << "expected blocks of 32, 64, .. 1024 threads, got " << threads;
  if (times < 1) // launch_attr_c4
    return emitError() << "expected 1 launch or more, got " << times;
  bool chips = on && !on.empty() && llvm::all_of(on, [](Attribute one) {
                 auto name = dyn_cast<StringAttr>(one);
                 return name && !name.empty();
               });
  if (shared < 0 || (on && (!chips || !shared))) // launch_attr_c5
    return emitError() << "expected 0 or more bytes of shared memory, and names of chips that ask for some, got "
                       << shared << " on " << (on ? on : ArrayAttr::get(entry.getContext(), {}));
  if (costs && !llvm::all_of(costs, llvm::IsaPred<CostAttr>)) // launch_attr_c6
    return emitError() << "expected costs of #tile.cost, got " << costs;
  if (entry.empty()) // launch_attr_c7
    return emitError() << "expected the name of an entry, got " << entry;
  if (number < 0) // launch_attr_c8
    return emitError() << "expected a launch from number 0 on, got " << number;
  return success();
}

LogicalResult RegroupAttr::verify(Complaint emitError, int64_t offset, int64_t depth, int64_t panels, int64_t width) {
  if (offset < 0) // regroup_c1
    return emitError() << "expected an offset of 0 or more, got " << offset;
  if (depth < 1 || panels < 1 || width < 1) // regroup_c2
    return emitError() << "expected a depth, panels and a width of at least 1, got " << depth << ", " << panels
                       << " and " << width;
  return success();
}
