//===- CardText.cpp - what a program says of its model --------------------===//
//
// The whole card in the order of its lines: facts about the model, lookups, dims with their bounds, roles of
// generation, then each entry with what is launched for it.
//===----------------------------------------------------------------------===//

#include "targets/Card/CardText.h"
#include "compiler/Conversion/ToKernels/Launch.h"
#include "compiler/Plan/ParameterBlob.h"
#include "dialects/Model/IR/Arithmetic.h"
#include "dialects/Model/IR/ModelPlanAttrs.h"
#include "dialects/Model/IR/VectorHead.h"
#include "dialects/Tile/IR/LaunchAttrs.h"
#include "heddle/digest.h"
#include "targets/Card/CardPrinter.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/Constants.h"
#include <map>
#include <utility>

using namespace mlir;
using namespace heddle;

/// A text of the module; `otherwise` where it has none.
static StringRef said(ModuleOp module, StringRef attribute, StringRef otherwise = "") {
  auto text = module->getAttrOfType<StringAttr>(attribute);
  return text && !text.empty() ? text.getValue() : otherwise;
}

/// An attribute as words of the card: a number, a text, or a list of them with blanks between.
static std::string valueText(Attribute value) {
  if (auto i = dyn_cast<IntegerAttr>(value))
    return std::to_string(i.getInt());
  if (auto f = dyn_cast<FloatAttr>(value)) {
    SmallString<32> text;
    f.getValue().toString(text);
    return text.str().str();
  }
  if (auto s = dyn_cast<StringAttr>(value))
    return wordOf(s);
  std::string text;
  if (auto list = dyn_cast<ArrayAttr>(value))
    for (Attribute one : list)
      text += (text.empty() ? "" : " ") + valueText(one);
  if (auto list = dyn_cast<DenseI64ArrayAttr>(value))
    for (int64_t one : list.asArrayRef())
      text += (text.empty() ? "" : " ") + std::to_string(one);
  return text;
}

//===-- the model --------------------------------------------------------------===//

static void addTarget(ModuleOp module, bool isDevice, CardPrinter &card) {
  model::TargetAttr target = model::targetOf(module);
  if (!target)
    return;
  card.textLine(CardLine::Target, (target.getName() + " " + target.getChip()).str());
  if (isDevice) {
    std::string chips = target.getChip().str();
    llvm::replace(chips, '+', ' ');
    card.line(CardLine::Device, chips);
    for (tile::RegroupAttr one : tile::regroupedOf(module))
      card.line(CardLine::Regroup, Twine(one.getOffset()) + " " + Twine(one.getDepth()) + " " + Twine(one.getPanels()) +
                                       " " + Twine(one.getWidth()));
  }
  if (target.getNeeds()) {
    SmallVector<StringRef> features;
    target.getNeeds().getValue().split(features, ' ', -1, /*KeepEmpty=*/false);
    card.line(CardLine::Needs, wordsOf(Builder(module.getContext()).getStrArrayAttr(features)));
  }
}

static void addArithmetic(ModuleOp module, CardPrinter &card) {
  model::Arithmetic arithmetic = model::arithmeticOf(module);
  if (!arithmetic.halves())
    return;
  bool attention = model::attentionArithmeticOf(module).dots;
  std::string text = wordOf(arithmetic.stored).str();
  if (arithmetic.stored == model::Stored::bf16)
    text += arithmetic.dots ? " dots" : " wide";
  if (attention != arithmetic.dots)
    text += attention ? " attention dots" : " attention wide";
  card.line(CardLine::Dtype, text);
}

/// One line for each way in which matrices are coded. A tensor that is in several parts is one matrix.
static void addCodes(ModuleOp module, CardPrinter &card) {
  struct Sum {
    llvm::StringSet<> names;
    uint64_t bytes = 0;
  };
  std::map<std::pair<int64_t, int64_t>, Sum> sums;
  for (const plan::BlobTensor &tensor : plan::blobTensors(module))
    if (const Coding &coding = tensor.layout.coding) {
      Sum &sum = sums[{coding.bits, coding.group}];
      sum.names.insert(tensor.name);
      sum.bytes += tensor.layout.bytes(tensor.shape);
    }
  std::string products = said(module, "model.codes", "dots").str();
  auto rows = module->getAttrOfType<IntegerAttr>("model.rows");
  if (products == "dots" && rows && rows.getInt() != Coding::rowFeatures)
    products += std::to_string(rows.getInt());
  for (const auto &[form, sum] : sums)
    card.line(CardLine::Codes, Twine(form.first) + " " + Twine(form.second) + " " + Twine(sum.names.size()) + " " +
                                   Twine(sum.bytes) + " " + products);
}

/// The number of weights in the file; each tensor counts once, however often it is packed.
static int64_t parameterCount(ModuleOp module) {
  llvm::StringMap<int64_t> tensors;
  for (const plan::BlobTensor &tensor : plan::blobTensors(module)) {
    int64_t count = 1;
    for (int64_t n : tensor.shape)
      count *= n;
    tensors[tensor.name] = count;
  }
  int64_t all = 0;
  for (const auto &tensor : tensors)
    all += tensor.second;
  return all;
}

static void addDims(ModuleOp module, CardPrinter &card) {
  auto bounds = module->getAttrOfType<DictionaryAttr>("model.dims");
  SmallVector<StringAttr> known;
  for (card::EntryAttr entry : card::entriesOf(module))
    for (auto dim : entry.getDims().getAsRange<StringAttr>())
      if (!llvm::is_contained(known, dim)) {
        known.push_back(dim);
        auto bound = bounds ? bounds.getAs<IntegerAttr>(dim) : IntegerAttr();
        card.line(CardLine::Dim, wordOf(dim) + " " + (bound ? std::to_string(bound.getInt()) : "-"));
      }
}

static void addGeneration(ModuleOp module, CardPrinter &card) {
  auto roles = module->getAttrOfType<DictionaryAttr>("model.generate");
  if (!roles)
    return;
  for (NamedAttribute role : roles) {
    std::string name = wordOf(role.getName());
    if (auto named = dyn_cast<DictionaryAttr>(role.getValue()))
      for (NamedAttribute one : named)
        card.line(CardLine::Generate, name + " " + wordOf(one.getName()) + " " + valueText(one.getValue()));
    else
      card.line(CardLine::Generate, name + " " + valueText(role.getValue()));
  }
  // Where a mask says what is padding, the runtime turns rows in any case.
  auto padding = module->getAttrOfType<DictionaryAttr>("model.padding");
  auto left = padding ? padding.getAs<BoolAttr>("left") : BoolAttr();
  if (!roles.get("mask") && roles.get("pad") && left && left.getValue())
    card.line(CardLine::Generate, "padding left");
}

/// One line for each trait, and for each prompt.
static void addVectors(ModuleOp module, CardPrinter &card) {
  auto traits = module->getAttrOfType<DictionaryAttr>(model::kVectors);
  if (!traits)
    return;
  for (NamedAttribute one : traits) {
    std::string name = wordOf(one.getName());
    if (one.getName() != "prompt")
      card.line(CardLine::Vector, name + " " + valueText(one.getValue()));
    else
      for (Attribute prompt : cast<ArrayAttr>(one.getValue()))
        card.line(CardLine::Vector, name + " " + valueText(prompt));
  }
}

static void addModel(ModuleOp module, bool isDevice, CardPrinter &card) {
  card.textLine(CardLine::Name, said(module, "model.name", "model"));
  addTarget(module, isDevice, card);
  addArithmetic(module, card);
  addCodes(module, card);
  card.textLine(CardLine::MaskedRows, said(module, "model.masked_rows", "zero"));
  card.textLine(CardLine::License, said(module, "model.license"));
  if (auto adapters = module->getAttrOfType<ArrayAttr>("model.adapters"))
    for (auto adapter : adapters.getAsRange<StringAttr>())
      card.line(CardLine::Adapter, wordOf(adapter));
  if (int64_t count = parameterCount(module))
    card.line(CardLine::Parameters, Twine(count));
  card.textLine(CardLine::Kind, said(module, "model.kind"));
  addVectors(module, card);
  if (auto labels = module->getAttrOfType<ArrayAttr>("model.labels"))
    for (auto label : labels.getAsRange<StringAttr>())
      card.line(CardLine::Label, wordOf(label));
  for (auto [which, attribute] : {std::pair(CardLine::Picture, "model.picture"),
                                  {CardLine::Sound, "model.sound"},
                                  {CardLine::Chat, "model.chat"}})
    if (auto settings = module->getAttrOfType<DictionaryAttr>(attribute))
      for (NamedAttribute one : settings)
        card.line(which, wordOf(one.getName()) + " " + valueText(one.getValue()));
  for (StringRef lookup : card::lookupsOf(module))
    card.line(CardLine::Lookup, wordOf(lookup));
  addDims(module, card);
  addGeneration(module, card);
  if (StringRef why = said(module, "model.slots_report"); !why.empty())
    card.line(CardLine::Slots, "no " + wordOf(why));
}

//===-- launches -----------------------------------------------------------------===//

using Launches = std::map<std::string, std::map<int64_t, kernels::Launch>>; // by entry and number

/// "KERNEL items FORM of 32 threads N .."
static std::string launchText(const kernels::Launch &launch) {
  std::string text = wordOf(launch.kernel) + " items " + launch.items.str() + " of " + std::to_string(launch.lanes) +
                     " threads " + std::to_string(launch.threads) + (launch.optional ? " optional" : "");
  if (launch.shared)
    text += " shared " + std::to_string(launch.shared);
  for (const std::string &chip : launch.on)
    text += (&chip == &launch.on.front() ? " on " : " ") + wordOf(chip);
  for (const int64_t &number : launch.numbers)
    text += (&number == &launch.numbers.front() ? " with " : " ") + std::to_string(number);
  return text + (launch.place.empty() ? "" : " # " + wordOf(launch.place));
}

/// The launches of an entry in their order, with the repeats around them.
static void addLaunches(card::EntryAttr entry, const std::map<int64_t, kernels::Launch> &launches, CardPrinter &card) {
  SmallVector<card::RepeatAttr> repeats;
  if (entry.getRepeats())
    llvm::append_range(repeats, entry.getRepeats().getAsRange<card::RepeatAttr>());
  auto next = repeats.begin();
  SmallVector<int64_t> ends; // of the repeats that are open
  auto closeBefore = [&](int64_t number) {
    for (; !ends.empty() && ends.back() <= number; ends.pop_back())
      card.line(CardLine::Again);
  };
  for (const auto &[number, launch] : launches) {
    closeBefore(number);
    for (; next != repeats.end() && next->getFirst() <= number; ++next) {
      card.line(CardLine::Repeat, Twine(next->getCount()));
      ends.push_back(next->getEnd());
    }
    card.line(CardLine::Launch, launchText(launch));
  }
  closeBefore(INT64_MAX);
}

/// The launches of all kernels; a kernel that is there in several forms has them once.
static Launches launchesOf(ModuleOp module) {
  Launches launches;
  for (Operation &op : *module.getBody())
    for (kernels::Launch &launch : kernels::Launch::of(&op))
      launches[launch.entry].emplace(launch.number, std::move(launch));
  return launches;
}

//===-- all ----------------------------------------------------------------------===//

std::string heddle::cardText(ModuleOp module) {
  Launches launches = launchesOf(module);
  CardPrinter card;
  addModel(module, !launches.empty(), card);
  for (card::EntryAttr entry : card::entriesOf(module)) {
    card.entry(entry);
    addLaunches(entry, launches[entry.getName().str()], card);
  }
  return card.text + "end\n";
}

uint64_t heddle::digestOfTexts(ModuleOp module) {
  Digest digest;
  auto add = [&](StringRef text) {
    digest.update(text.data(), text.size());
    digest.update("", 1);
  };
  add(said(module, "model.name", "model"));
  add(said(module, "model.license"));
  auto addAll = [&](ArrayAttr texts) {
    if (texts)
      for (auto text : texts.getAsRange<StringAttr>())
        add(text);
  };
  addAll(module->getAttrOfType<ArrayAttr>("model.adapters"));
  addAll(module->getAttrOfType<ArrayAttr>("model.labels"));
  if (auto chat = module->getAttrOfType<DictionaryAttr>("model.chat"))
    for (NamedAttribute one : chat)
      add(cast<StringAttr>(one.getValue()));
  if (auto vectors = module->getAttrOfType<DictionaryAttr>(model::kVectors))
    if (auto prompts = vectors.getAs<ArrayAttr>("prompt"))
      for (auto prompt : prompts.getAsRange<ArrayAttr>())
        addAll(prompt);
  llvm::for_each(card::lookupsOf(module), add);
  if (auto roles = module->getAttrOfType<DictionaryAttr>("model.generate"))
    addAll(roles.getAs<ArrayAttr>("stop"));
  for (card::EntryAttr entry : card::entriesOf(module)) {
    add(entry.getName());
    for (ArrayAttr tensors : {entry.getInputs(), entry.getOutputs()})
      if (tensors)
        for (auto tensor : tensors.getAsRange<card::TensorAttr>())
          add(tensor.getName());
  }
  return digest.finish();
}

void heddle::addCard(llvm::Module &code, StringRef text) {
  llvm::Constant *bytes = llvm::ConstantDataArray::getString(code.getContext(), text, /*AddNull=*/true);
  new llvm::GlobalVariable(code, bytes->getType(), true, llvm::GlobalValue::ExternalLinkage, bytes, "heddle_card");
}
