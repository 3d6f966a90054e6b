//===- LifeAttrs.cpp - how long places are used ---------------------------===//

#include "dialects/Model/IR/LifeAttrs.h"

using namespace mlir;
using namespace heddle::model;

PlaceAttr heddle::model::placeIn(Attribute attribute) {
  if (auto pair = dyn_cast_or_null<ArrayAttr>(attribute))
    return lifeIn(pair) ? cast<PlaceAttr>(pair[0]) : PlaceAttr();
  return dyn_cast_or_null<PlaceAttr>(attribute);
}

std::optional<Life> heddle::model::lifeIn(Attribute attribute) {
  auto pair = dyn_cast_or_null<ArrayAttr>(attribute);
  auto fields =
      pair && pair.size() == 2 && isa<PlaceAttr>(pair[0]) ? dyn_cast<DictionaryAttr>(pair[1]) : DictionaryAttr();
  if (!fields || fields.size() != 4)
    return std::nullopt;
  auto begin = fields.getAs<IntegerAttr>("begin"), end = fields.getAs<IntegerAttr>("end"),
       storage = fields.getAs<IntegerAttr>("storage");
  auto bytes = fields.getAs<StringAttr>("bytes");
  for (IntegerAttr number : {begin, end, storage})
    if (!number || !number.getType().isInteger(64))
      return std::nullopt;
  std::optional<Size> size = bytes ? Size::parse(bytes) : std::nullopt;
  if (!size || begin.getInt() < 0 || end.getInt() < begin.getInt() || storage.getInt() < 0)
    return std::nullopt;
  return Life{begin.getInt(), end.getInt(), storage.getInt(), *size};
}

ArrayAttr heddle::model::withLife(PlaceAttr place, const Life &life) {
  Builder b(place.getContext());
  auto fields = b.getDictionaryAttr({b.getNamedAttr("begin", b.getI64IntegerAttr(life.begin)),
                                     b.getNamedAttr("bytes", b.getStringAttr(life.bytes.str())),
                                     b.getNamedAttr("end", b.getI64IntegerAttr(life.end)),
                                     b.getNamedAttr("storage", b.getI64IntegerAttr(life.storage))});
  return b.getArrayAttr({place, fields});
}
