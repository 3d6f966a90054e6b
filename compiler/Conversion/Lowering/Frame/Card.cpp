//===- Card.cpp - what a binary says of itself ----------------------------===//
//
// The card: a text inside the binary (grammar in runtime/card.md) from which the runtime reads dims, inputs, outputs,
// states and the size of the arena. The functions of the entries are in a table, in the order of the text.
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/Frame/CardTexts.h"
#include "compiler/Conversion/Lowering/Frame/Lookups.h"
#include "compiler/Conversion/Lowering/Frame/Lowering.h"
#include "compiler/Plan/CacheLayout.h"
#include "compiler/Plan/ParameterBlob.h"
#include "dialects/Model/IR/Arithmetic.h"
#include "dialects/Model/IR/ReservedDims.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <map>

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using model::ModelTensorType;
using model::Size;
using model::StateType;

/// "f32 [B, T, 768]".
static std::string typeText(ArrayRef<StringAttr> axes, Type element) {
  std::string text = element.isF32() ? "f32 [" : element.isInteger(64) ? "i64 [" : "bool [";
  for (auto [i, a] : llvm::enumerate(axes))
    text += (i ? ", " : "") + a.getValue().str();
  return text + "]";
}

/// An attribute as words of the card: a number, a text, or a list of them with blanks between.
static std::string wordsOf(Attribute value) {
  if (auto i = dyn_cast<IntegerAttr>(value))
    return std::to_string(i.getInt());
  if (auto f = dyn_cast<FloatAttr>(value)) {
    SmallString<32> text;
    f.getValue().toString(text);
    return text.str().str();
  }
  if (auto s = dyn_cast<StringAttr>(value))
    return cardWord(s.getValue());
  std::string text;
  if (auto list = dyn_cast<ArrayAttr>(value))
    for (Attribute one : list)
      text += (text.empty() ? "" : " ") + wordsOf(one);
  if (auto list = dyn_cast<DenseI64ArrayAttr>(value))
    for (int64_t one : list.asArrayRef())
      text += (text.empty() ? "" : " ") + std::to_string(one);
  return text;
}

/// The number of equal parts of a state in each of which every row of the batch has one piece: the product of the axes
/// in front of the batch axis. 0: there is no batch axis.
static int64_t rowGroups(StateType type, StringRef batch) {
  int64_t groups = 1;
  for (Size size : type.getSizes()) {
    if (size == Size::dim(batch))
      return groups;
    if (!size.constant())
      return 0;
    groups *= *size.constant();
  }
  return 0;
}

/// How the rows of a text lie in its piece of a cache, so that a beginning of them can be copied: " rows PARTS BYTES
/// POSITIONS" or " ring ROWS"; "" where nothing is known.
static std::string layoutText(func::FuncOp f, unsigned arg) {
  attn::CacheAttr cache = attn::cacheOf(f, arg);
  if (!cache)
    return "";
  if (cache.getRing())
    return " ring " + std::to_string(cache.getRing() * cache.getClasses());
  auto state = cast<StateType>(f.getArgumentTypes()[arg]);
  int64_t width = *state.getSize(state.getRank() - 1).constant() / cache.getHeads();
  int64_t words = cache.halves() ? (width + 1) / 2 : width, classes = cache.getClasses();
  int64_t block = *cache.roomOf(Size(classes)).constant(); // the room of one row in each class
  return " rows " + std::to_string(cache.getHeads() * classes) + " " + std::to_string(block * words * 4) + " " +
         std::to_string(block * classes);
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

/// Lines "codes BITS GROUP MATRICES BYTES dots|dots32|wide", one for each way in which matrices are coded. A tensor
/// that lies in several parts is one matrix.
static std::vector<std::string> codesTexts(ModuleOp module) {
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
  auto math = module->getAttrOfType<StringAttr>("model.codes");
  auto rows = module->getAttrOfType<IntegerAttr>("model.rows");
  std::string products = (math ? math.getValue() : StringRef("dots")).str();
  if (products == "dots" && rows && rows.getInt() != Coding::rowFeatures)
    products += std::to_string(rows.getInt());
  std::vector<std::string> texts;
  for (const auto &[form, sum] : sums)
    texts.push_back(std::to_string(form.first) + " " + std::to_string(form.second) + " " +
                    std::to_string(sum.names.size()) + " " + std::to_string(sum.bytes) + " " + products);
  return texts;
}

/// The bytes of a state as the plan laid it out, a formula over dims.
Size heddle::loops::stateBytes(func::FuncOp function, unsigned argument) {
  auto type = cast<StateType>(function.getArgument(argument).getType());
  attn::CacheAttr cache = attn::cacheOf(function, argument);
  Size bytes = Code::bytesOf(type.getElementType());
  for (int64_t i = 0; i < type.getRank(); ++i) {
    Size n = type.getSize(i);
    // A cache has blocks of rows, class by class; with 16 bits two numbers of a head share a word.
    if (cache && i == type.getRank() - 2)
      n = cache.roomOf(n) * Size(cache.getClasses());
    if (cache && cache.halves() && i == type.getRank() - 1) {
      Size heads = cache.getHeads();
      n = (n.floorDiv(heads) + Size(1)).floorDiv(Size(2)) * heads;
    }
    bytes = bytes * n;
  }
  return bytes;
}

/// A count as a form; 0 where it leaves 64 bits, as that of a window of 2^62 keys does: it is then not known.
static std::string counted(const Size &count) { return count.fits() ? count.str() : "0"; }

/// "linear+map turns N operations FORM bytes FORM # h.{0}.ff.weight": what threads do up to a barrier.
static std::string phaseText(const Phase &phase) {
  llvm::SetVector<StringRef> ops;
  Size operations = 0, bytes = 0;
  bool dots = false, integers = false;
  for (const Cost &cost : phase.costs) {
    ops.insert(cost.op);
    operations = operations + cost.operations;
    bytes = bytes + cost.read + cost.written;
    dots |= cost.dots;
    integers |= cost.integers;
  }
  std::string text = ops.empty() ? "-" : llvm::join(ops, "+");
  if (dots || integers)
    text += dots ? " dots" : " integers";
  text += " turns " + std::to_string(phase.repeats) + " operations " + counted(operations) + " bytes " + counted(bytes);
  if (!phase.weight.empty())
    text += " # " + cardWord(phase.weight);
  return text;
}

/// The whole text, line by line, in the order of the grammar: facts about the model, lookups, dims with their bounds,
/// roles of generation, then each entry with its dims, inputs, outputs, states, operations, bytes, arena and phases.
/// Read by runtime/Core/Card.cpp.
FailureOr<std::string> heddle::loops::cardText(ModuleOp module, ArrayRef<func::FuncOp> entries,
                                               ArrayRef<std::vector<Phase>> phases) {
  std::string text = "heddle-card 1\n";
  llvm::raw_string_ostream os(text);
  auto said = [&](StringRef attr) {
    auto s = module->getAttrOfType<StringAttr>(attr);
    return s ? s.getValue() : StringRef();
  };
  auto line = [&](StringRef key, StringRef value) {
    if (!value.empty())
      os << key << " " << cardWord(value) << "\n";
  };
  line("name", said("model.name").empty() ? StringRef("model") : said("model.name"));
  if (model::TargetAttr target = model::targetOf(module)) {
    line("target", (target.getName() + " " + target.getChip()).str());
    if (target.getNeeds()) {
      SmallVector<StringRef> features;
      target.getNeeds().getValue().split(features, ' ', -1, /*KeepEmpty=*/false);
      os << "needs";
      for (StringRef feature : features)
        os << " " << cardWord(feature);
      os << "\n";
    }
  }
  if (model::Arithmetic arithmetic = model::arithmeticOf(module); arithmetic.halves()) {
    bool attention = model::attentionArithmeticOf(module).dots;
    os << "dtype " << wordOf(arithmetic.stored);
    if (arithmetic.stored == model::Stored::bf16)
      os << (arithmetic.dots ? " dots" : " wide");
    if (attention != arithmetic.dots)
      os << " attention " << (attention ? "dots" : "wide");
    os << "\n";
  }
  for (const std::string &codes : codesTexts(module))
    os << "codes " << codes << "\n";
  line("masked_rows", said("model.masked_rows").empty() ? StringRef("zero") : said("model.masked_rows"));
  line("license", said("model.license"));
  if (int64_t count = parameterCount(module))
    os << "parameters " << count << "\n";
  line("kind", said("model.kind"));
  line("pooling", said("model.pooling"));
  line("vectors_lack", said("model.vectors_lack"));
  if (auto labels = module->getAttrOfType<ArrayAttr>("model.labels"))
    for (StringAttr label : labels.getAsRange<StringAttr>())
      os << "label " << cardWord(label.getValue()) << "\n";
  for (StringRef what : {"picture", "sound"})
    if (auto settings = module->getAttrOfType<DictionaryAttr>(("model." + what).str()))
      for (NamedAttribute one : settings)
        os << what << " " << cardWord(one.getName().getValue()) << " " << wordsOf(one.getValue()) << "\n";

  if (auto chat = module->getAttrOfType<DictionaryAttr>("model.chat"))
    for (NamedAttribute one : chat)
      os << "chat " << cardWord(one.getName().getValue()) << " "
         << cardWord(cast<StringAttr>(one.getValue()).getValue()) << "\n";

  for (const std::string &lookup : lookupTexts(module))
    os << "lookup " << cardWord(lookup) << "\n";

  auto bounds = module->getAttrOfType<DictionaryAttr>("model.dims");
  SmallVector<std::string> named;
  for (func::FuncOp f : entries)
    for (const std::string &dim : entryDims(f)) {
      if (llvm::is_contained(named, dim))
        continue;
      named.push_back(dim);
      auto bound = bounds ? bounds.getAs<IntegerAttr>(dim) : IntegerAttr();
      os << "dim " << cardWord(dim) << " " << (bound ? std::to_string(bound.getInt()) : "-") << "\n";
    }
  auto roles = module->getAttrOfType<DictionaryAttr>("model.generate");
  if (roles)
    for (NamedAttribute role : roles) {
      if (auto texts = dyn_cast<ArrayAttr>(role.getValue()); texts && role.getName() == "stop") {
        os << "generate stop";
        for (StringAttr text : texts.getAsRange<StringAttr>())
          os << " " << cardWord(text.getValue());
        os << "\n";
        continue;
      }
      if (auto extend = dyn_cast<DictionaryAttr>(role.getValue())) {
        for (NamedAttribute one : extend)
          os << "generate " << cardWord(role.getName().getValue()) << " " << cardWord(one.getName().getValue()) << " "
             << wordsOf(one.getValue()) << "\n";
        continue;
      }
      os << "generate " << cardWord(role.getName().getValue()) << " " << wordsOf(role.getValue()) << "\n";
    }

  // Where a mask says what is padding, the runtime turns rows in any case.
  auto padding = module->getAttrOfType<DictionaryAttr>("model.padding");
  auto left = padding ? padding.getAs<BoolAttr>("left") : BoolAttr();
  if (roles && !roles.get("mask") && roles.get("pad") && left && left.getValue())
    os << "generate padding left\n";

  line("slots no", said("model.slots_report"));

  // The batch is the first axis of the tokens.
  std::string batch;
  auto tokens = roles ? roles.getAs<StringAttr>("tokens") : StringAttr();
  for (func::FuncOp f : entries)
    for (BlockArgument arg : f.getArguments())
      if (auto t = dyn_cast<ModelTensorType>(arg.getType());
          t && tokens && t.getRank() == 2 && f.getArgAttr(arg.getArgNumber(), "model.name") == tokens)
        batch = t.getAxes().front().str();

  for (auto [number, entry] : llvm::enumerate(entries)) {
    func::FuncOp f = entry;
    os << "entry " << cardWord(f.getName()) << "\ndims";
    for (const std::string &dim : entryDims(f))
      os << " " << cardWord(dim);
    os << "\n";
    auto nameOf = [&](DictionaryAttr attrs, StringRef key, unsigned i) {
      auto s = attrs ? attrs.getAs<StringAttr>(key) : StringAttr();
      return s ? cardWord(s.getValue()) : "v" + std::to_string(i);
    };
    for (BlockArgument arg : f.getArguments())
      if (auto t = dyn_cast<ModelTensorType>(arg.getType()))
        os << "input " << nameOf(f.getArgAttrDict(arg.getArgNumber()), "model.name", arg.getArgNumber()) << " "
           << typeText(t.getAxes(), t.getElementType())
           << (f.getArgAttr(arg.getArgNumber(), "model.default") ? " default" : "") << "\n";
    for (auto [i, type] : llvm::enumerate(f.getResultTypes())) {
      auto t = cast<ModelTensorType>(type);
      os << "output " << nameOf(f.getResultAttrDict(i), "model.name", i) << " "
         << typeText(t.getAxes(), t.getElementType())
         << (f.getResultAttr(i, "model.optional_all") ? " optional-all" : "") << "\n";
    }
    for (BlockArgument arg : f.getArguments())
      if (isa<StateType>(arg.getType())) {
        os << "state " << nameOf(f.getArgAttrDict(arg.getArgNumber()), "model.state", arg.getArgNumber()) << " "
           << stateBytes(f, arg.getArgNumber()).str();
        bool inSlots = f.getName() == "batch";
        StringRef rowDim = inSlots ? StringRef(model::kSlotsDim) : StringRef(batch);
        if (int64_t groups = rowDim.empty() ? 0 : rowGroups(cast<StateType>(arg.getType()), rowDim))
          os << " groups " << groups << (inSlots ? layoutText(f, arg.getArgNumber()) : "");
        os << "\n";
      }
    FailureOr<std::string> lengths = lengthLines(f);
    if (failed(lengths))
      return failure();
    os << *lengths;
    if (model::PiecesAttr pieces = model::piecesOf(f))
      os << "pieces " << pieces.getLongest() << " beyond " << pieces.getBeyond() << "\n";
    os << "flops " << counted(operations(f)) << "\n";
    if (Size integers = integerOperations(f); !integers.is(0))
      os << "integers " << counted(integers) << "\n";
    os << "reads " << counted(bytesRead(f)) << "\n";
    os << "arena " << model::arenaOf(f).value_or(Size(64)).str() << "\n";
    if (!phases.empty())
      for (const Phase &phase : phases[number])
        os << "phase " << phaseText(phase) << "\n";
  }
  os << "end\n";
  return text;
}

/// Puts the text into the module as the symbol heddle_card, ending in a zero byte.
void heddle::loops::addCard(ModuleOp module, StringRef text, ArrayRef<std::string> entrySymbols) {
  ImplicitLocOpBuilder b(module.getLoc(), module.getContext());
  b.setInsertionPointToStart(module.getBody());
  std::string bytes = text.str() + '\0';
  Type array = LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size());
  LLVM::GlobalOp::create(b, array, /*isConstant=*/true, LLVM::Linkage::External, "heddle_card", b.getStringAttr(bytes));
  // Only names here: the table needs the functions of the LLVM dialect (addEntryTable).
  module->setAttr("heddle.entries",
                  b.getStrArrayAttr(SmallVector<StringRef>(entrySymbols.begin(), entrySymbols.end())));
}

/// Makes heddle_entries, an array of the entries' addresses in the order of the card.
void heddle::loops::addEntryTable(ModuleOp module) {
  auto symbols = module->getAttrOfType<ArrayAttr>("heddle.entries");
  if (!symbols || module.lookupSymbol("heddle_entries"))
    return;
  ImplicitLocOpBuilder b(module.getLoc(), module.getContext());
  b.setInsertionPointToEnd(module.getBody());
  Type ptr = LLVM::LLVMPointerType::get(b.getContext());
  Type table = LLVM::LLVMArrayType::get(ptr, symbols.size());
  auto entries =
      LLVM::GlobalOp::create(b, table, /*isConstant=*/true, LLVM::Linkage::External, "heddle_entries", Attribute());
  Block *init = b.createBlock(&entries.getInitializerRegion());
  b.setInsertionPointToStart(init);
  Value v = LLVM::PoisonOp::create(b, table);
  for (auto [i, symbol] : llvm::enumerate(symbols.getAsRange<StringAttr>()))
    v = LLVM::InsertValueOp::create(b, v, Value(LLVM::AddressOfOp::create(b, ptr, symbol.getValue())),
                                    ArrayRef<int64_t>{int64_t(i)});
  LLVM::ReturnOp::create(b, v);
}
