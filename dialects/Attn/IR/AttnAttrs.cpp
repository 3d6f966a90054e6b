//===- AttnAttrs.cpp - what the plan says of attention --------------------===//

#include "dialects/Attn/IR/Attn.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace heddle::attn;
using heddle::model::Size;

#define GET_ATTRDEF_CLASSES
#include "dialects/Attn/IR/AttnAttrs.cpp.inc"

void AttnDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Attn/IR/AttnAttrs.cpp.inc"
      >();
}

using Complaint = llvm::function_ref<InFlightDiagnostic()>;

LogicalResult CacheAttr::verify(Complaint emitError, CacheKind, int64_t heads, Type element, int64_t block,
                                int64_t panel, int64_t classes, int64_t ring) {
  if (heads < 1 || block < 1 || block > 4096 || panel < 1 || classes < 1 || classes > mostClasses) // cache_c1
    return emitError() << "expected a cache of 1 or more heads, 1 to " << mostClasses
                       << " classes, blocks of 1 to 4096 rows and panels of 1 or more, got " << heads << ", " << classes
                       << ", " << block << " and " << panel;
  if (!element.isF32() && !element.isBF16() && !element.isF16()) // cache_c2
    return emitError() << "expected a cache of f32, bf16 or f16, got " << element;
  if (block % panel || ring < 0 || ring % block || ring > int64_t(1) << 48) // cache_c3
    return emitError() << "expected panels that divide a block, and blocks that divide a ring, got " << panel << ", "
                       << block << " and " << ring;
  return success();
}

LogicalResult ScheduleAttr::verify(Complaint emitError, int64_t rows, int64_t keys, int64_t panel, int64_t packed,
                                   int64_t classes, bool, bool) {
  auto power = [](int64_t n, int64_t most) { return n >= 1 && n <= most && llvm::isPowerOf2_64(n); };
  if (!power(rows, 256) || !power(keys, 1024) || !power(panel, 1024)) // schedule_c1
    return emitError() << "expected tiles of 1, 2, 4 .. 256 rows, 1, 2, 4 .. 1024 keys and panels of as many, got "
                       << rows << ", " << keys << " and " << panel;
  if (panel > keys) // schedule_c2
    return emitError() << "a panel of " << panel << " keys does not fit a tile of " << keys;
  if (packed < 1) // schedule_c3
    return emitError() << "expected 1 or more query heads together, got " << packed;
  if (classes < 1 || classes > CacheAttr::mostClasses) // schedule_c4
    return emitError() << "expected an attention of 1 to " << CacheAttr::mostClasses << " classes, got " << classes;
  return success();
}

/// Rounded up to whole blocks; with classes, which are many and small, to half blocks, what a step
/// reads at once.
Size CacheAttr::roomOf(const Size &rows) const {
  Size unit(getClasses() == 1 ? getBlock() : (getBlock() + 1) / 2), all = unit * Size(getClasses());
  Size room = (rows + all - Size(1)).floorDiv(all) * unit;
  return getRing() ? Size::min(room, Size(getRing() + getBlock())) : room;
}
