//===- CacheLayout.cpp - how a state holds keys or values -----------------===//

#include "compiler/Conversion/ToLoops/CacheLayout.h"
#include "compiler/Conversion/ToLoops/KeyClasses.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using model::Size;

std::optional<CacheLayout> heddle::loops::cacheLayoutOf(Value appended) {
  auto append = appended.getDefiningOp<model::AppendOp>();
  return append ? cacheLayoutOf(append) : std::nullopt;
}

std::optional<CacheLayout> heddle::loops::cacheLayoutOf(model::AppendOp append) {
  auto mark = append->getAttrOfType<DictionaryAttr>("cache");
  auto state = dyn_cast<model::StateType>(append.getState().getType());
  if (!mark || !state || state.getRank() < 3)
    return std::nullopt;
  auto kind = mark.getAs<StringAttr>("kind");
  auto heads = mark.getAs<IntegerAttr>("heads");
  std::optional<int64_t> features = state.getSize(state.getRank() - 1).constant();
  if (!kind || !heads || !features || heads.getInt() < 1 || *features % heads.getInt())
    return std::nullopt;
  int64_t width = *features / heads.getInt();
  bool bf16 = bool(mark.get("element"));
  auto classes = mark.getAs<IntegerAttr>("classes");
  CacheLayout layout{append, kind.getValue() == "keys", bf16, heads.getInt(), width, bf16 ? (width + 1) / 2 : width,
                     classes ? classes.getInt() : 1, {}, {}};
  layout.room = roomOfClass(state.getSize(state.getRank() - 2), layout.classes);
  layout.element = layout.room * Size(layout.classes * layout.words);
  return layout;
}
