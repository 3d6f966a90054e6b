//===- Fields.cpp - numbers and forms in a dictionary ---------------------===//

#include "compiler/Conversion/Lowering/Frame/Fields.h"

using namespace mlir;
using namespace heddle;
using heddle::loops::Fields;

Fields::Fields(Attribute attribute, StringRef name, ErrorOf error)
    : all(dyn_cast_if_present<DictionaryAttr>(attribute)), name(name), error(error) {
  if (all)
    return;
  error("'" + name + "' is no dictionary");
  good = false;
}

void Fields::miss(StringRef key, StringRef what) {
  if (good)
    error("'" + name + "' has no " + what + " '" + key + "'");
  good = false;
}

std::string Fields::text(StringRef key) {
  auto value = get<StringAttr>(key, "text");
  return value ? value.getValue().str() : "";
}

int64_t Fields::number(StringRef key, int64_t least) {
  auto value = get<IntegerAttr>(key, "number");
  if (value && value.getType().isSignlessInteger(64) && value.getInt() >= least)
    return value.getInt();
  miss(key, "number from " + std::to_string(least) + " on in");
  return least;
}

bool Fields::flag(StringRef key) {
  auto value = get<BoolAttr>(key, "flag");
  return value && value.getValue();
}

model::Size Fields::form(StringRef key) {
  auto value = get<StringAttr>(key, "form");
  std::optional<model::Size> form = value ? model::Size::parse(value.getValue()) : std::nullopt;
  if (!form)
    miss(key, "form");
  return form.value_or(model::Size(0));
}

ArrayRef<Attribute> Fields::elements(StringRef key) {
  auto value = get<ArrayAttr>(key, "array");
  return value ? value.getValue() : ArrayRef<Attribute>();
}

std::vector<std::string> Fields::texts(StringRef key) {
  std::vector<std::string> texts;
  for (Attribute one : elements(key)) {
    auto value = dyn_cast<StringAttr>(one);
    if (!value)
      miss(key, "texts in");
    texts.push_back(value ? value.getValue().str() : "");
  }
  return texts;
}

std::vector<int64_t> Fields::numbers(StringRef key) {
  auto value = get<DenseI64ArrayAttr>(key, "numbers");
  return value ? value.asArrayRef().vec() : std::vector<int64_t>();
}
