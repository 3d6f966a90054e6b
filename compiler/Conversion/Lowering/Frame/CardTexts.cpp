//===- CardTexts.cpp - texts in the card and in the seal ------------------===//

#include "compiler/Conversion/Lowering/Frame/CardTexts.h"
#include "compiler/Conversion/Lowering/Frame/Lookups.h"
#include "mlir/IR/Builders.h"
#include "runtime/include/heddle/card_words.h"
#include "runtime/include/heddle/digest.h"

using namespace mlir;
using namespace heddle;

std::string heddle::loops::cardWord(StringRef text) { return heddle::cardWord(std::string_view(text)); }

/// The model's own texts as the module has them, in the order in which `Card::texts` (runtime/Core/Card.h) gives those
/// that were read from the card: what the seal compares (heddle/seal.h).
void heddle::loops::noteTexts(ModuleOp module, ArrayRef<func::FuncOp> entries) {
  Digest digest;
  auto add = [&](StringRef text) {
    digest.update(text.data(), text.size());
    digest.update("", 1);
  };
  auto said = [&](StringRef attr) {
    auto s = module->getAttrOfType<StringAttr>(attr);
    return s ? s.getValue() : StringRef();
  };
  add(said("model.name").empty() ? StringRef("model") : said("model.name"));
  add(said("model.license"));
  if (auto labels = module->getAttrOfType<ArrayAttr>("model.labels"))
    for (StringAttr label : labels.getAsRange<StringAttr>())
      add(label.getValue());
  if (auto chat = module->getAttrOfType<DictionaryAttr>("model.chat"))
    for (NamedAttribute one : chat)
      add(cast<StringAttr>(one.getValue()).getValue());
  for (const std::string &lookup : lookupTexts(module))
    add(lookup);
  auto roles = module->getAttrOfType<DictionaryAttr>("model.generate");
  if (auto stops = roles ? roles.getAs<ArrayAttr>("stop") : ArrayAttr())
    for (StringAttr stop : stops.getAsRange<StringAttr>())
      add(stop.getValue());
  for (func::FuncOp entry : entries) {
    func::FuncOp f = entry;
    add(f.getName());
    for (BlockArgument arg : f.getArguments())
      if (auto name = f.getArgAttrOfType<StringAttr>(arg.getArgNumber(), "model.name"))
        add(name.getValue());
    for (unsigned i = 0; i < f.getNumResults(); ++i)
      if (auto name = f.getResultAttrOfType<StringAttr>(i, "model.name"))
        add(name.getValue());
  }
  module->setAttr(kTextsAttr, Builder(module.getContext()).getI64IntegerAttr(int64_t(digest.finish())));
}
