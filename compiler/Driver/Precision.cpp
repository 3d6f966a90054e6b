//===- Precision.cpp - how reals are stored and multiplied ----------------===//
//
// --dtype, --math and --weights-dtype become attributes of the module and of its parameters, before any stage. Matrices
// that a checkpoint stores as codes keep these where linears can read them; elsewhere they are the numbers they mean.
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/Compile.h"
#include "compiler/Driver/MathChoice.h"
#include "compiler/Driver/Output.h"
#include "compiler/Plan/Indices.h"
#include "compiler/Plan/ParameterBlob.h"
#include "compiler/Weights/Coded/CodedTensor.h"
#include "compiler/Weights/Pack/PackCoded.h"
#include "dialects/Model/IR/Arithmetic.h"
#include "dialects/Model/IR/Model.h"
#include "dialects/Model/IR/ModelPlanAttrs.h"
#include "dialects/Model/Transforms/SliceParameters.h"
#include "dialects/Model/Transforms/SplitRepeat.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace heddle;

static bool anyCodes(ModuleOp module) {
  return module.walk([](model::ParamOp op) { return op.getCoded() ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

/// One iteration of a repeat: the value that its index has in names.
struct Iteration {
  Value index;
  int64_t number = 0;
};

/// Calls `visit` with the name of each tensor of a parameter, or of those of one iteration, until it returns false.
/// False: it did, or an index is neither a constant nor that of a repeat.
static bool eachTensor(model::ParamOp op, Iteration one, llvm::function_ref<bool(StringRef)> visit) {
  SmallVector<plan::IndexRange> ranges;
  SmallVector<int64_t> at;
  for (Value index : op.getIndices()) {
    std::optional<plan::IndexRange> range = plan::rangeOf(index);
    if (!range || range->first >= range->end)
      return false;
    if (index == one.index)
      range = {one.number, one.number + 1};
    ranges.push_back(*range);
    at.push_back(range->first);
  }
  for (;;) {
    if (!visit(plan::filledName(op.getName(), at)))
      return false;
    size_t i = at.size();
    while (i > 0 && ++at[i - 1] == ranges[i - 1].end) {
      at[i - 1] = ranges[i - 1].first;
      --i;
    }
    if (i == 0)
      return true;
  }
}

/// Whether all readers can work on codes [results, features]: linears, and lookups of rows.
static bool readsCodes(model::ParamOp op) {
  return llvm::all_of(op->getUses(), [](OpOperand &use) {
    auto linear = dyn_cast<model::LinearOp>(use.getOwner());
    if (linear && use.getOperandNumber() == 1)
      return !linear.getInOut() && !linear.getFilter();
    return isa<model::EmbeddingOp>(use.getOwner()) && use.getOperandNumber() == 1;
  });
}

/// The word by which codes say where they are from: "gptq" of "gptq, 4 bits".
static std::string methodOf(const CodedTensor &tensor) {
  std::string word;
  for (char c : StringRef(tensor.kind()).split(',').first)
    word += llvm::isAlnum(c) || c == '-' || c == '_' ? c : '_';
  return word.empty() ? "codes" : word;
}

namespace {
/// Finds the codes of parameters in the files of a model.
class StoredCodesOf {
public:
  explicit StoredCodesOf(const WeightStore &store) : store(store) {}

  /// How the tensors of `op` are coded, or those of one iteration, if all are so alike that one loop over layers reads
  /// them; nothing otherwise.
  absl::StatusOr<model::CodedAttr> find(model::ParamOp op, Iteration one = {});
  /// Lengths of the runs of iterations that are coded alike.
  absl::StatusOr<SmallVector<int64_t>> runsOf(model::RepeatOp op);

private:
  const WeightStore &store;
};
} // namespace

absl::StatusOr<model::CodedAttr> StoredCodesOf::find(model::ParamOp op, Iteration one) {
  std::optional<Coding> common;
  std::string from;
  absl::Status status;
  bool alike = eachTensor(op, one, [&](StringRef name) {
    const StoredTensor *tensor = store.find(name);
    if (!tensor || !tensor->coded || tensor->shape().size() != 2)
      return false;
    absl::StatusOr<std::optional<CodedForm>> form = tensor->coded->form();
    if (!form.ok())
      status = form.status();
    if (!form.ok() || !*form)
      return false;
    Coding coding = codingOf(**form);
    if (!coding.misfit(tensor->shape()[1]).empty() || (common && !(*common == coding)))
      return false;
    common = coding;
    from = methodOf(*tensor->coded);
    return true;
  });
  if (!status.ok())
    return status;
  if (!alike || !common)
    return model::CodedAttr();
  return model::CodedAttr::get(op.getContext(), *common, /*inOut=*/false, from);
}

absl::StatusOr<SmallVector<int64_t>> StoredCodesOf::runsOf(model::RepeatOp op) {
  SmallVector<int64_t> runs;
  SmallVector<model::CodedAttr> before, now;
  for (int64_t i = 0, count = int64_t(op.getCount()); i < count; ++i) {
    now.clear();
    for (Operation *user : op.getIndex().getUsers()) {
      absl::StatusOr<model::CodedAttr> coded =
          find(cast<model::ParamOp>(user), {op.getIndex(), int64_t(op.getFirst()) + i});
      if (!coded.ok())
        return coded.status();
      now.push_back(*coded);
    }
    if (i && now == before)
      ++runs.back();
    else
      runs.push_back(1);
    std::swap(before, now);
  }
  return runs;
}

/// Splits repeats so that each has layers that are coded alike: files of llama.cpp have some matrices of some layers in
/// more bits, and adapters change matrices of some layers, which are no codes then.
static absl::Status splitByCodes(ModuleOp module, StoredCodesOf &codes) {
  SmallVector<model::RepeatOp> repeats;
  module.walk([&](model::RepeatOp op) {
    if (model::canSplit(op))
      repeats.push_back(op);
  });
  for (model::RepeatOp op : repeats) {
    absl::StatusOr<SmallVector<int64_t>> runs = codes.runsOf(op);
    if (!runs.ok())
      return runs.status();
    if (runs->size() > 1)
      model::splitRepeat(op, *runs);
  }
  return absl::OkStatus();
}

/// Marks the parameters whose tensors are integer codes that kernels can read: of a quantised directory, or of a GGUF
/// file, of which config.json says nothing.
static int markStoredCodes(const Console &console, ModuleOp module, const CompileOptions &options, Formats target) {
  bool early = !module->hasAttr(model::kStageAttr) || stageOf(module) == "model";
  if (!module->hasAttr("model.weights") || !target.codes || options.import.headersOnly || !early)
    return Ok;
  int failed = Ok;
  std::optional<WeightStore> store = openWeights(console, module, failed);
  if (!store || llvm::none_of(store->tensors(), [](const StoredTensor &t) { return t.coded; }))
    return failed;
  StoredCodesOf codes(*store);
  // A matrix of a stack of experts is coded as any other is.
  model::sliceParameters(module);
  // --weights-dtype rounds matrices of a repeat that are coded unequally, all of them alike; with adapters only what
  // these changed.
  if (options.pipeline.weightBits == 0 || module->hasAttr("model.adapters"))
    if (absl::Status status = splitByCodes(module, codes); !status.ok())
      return complain(console, status);
  llvm::MapVector<StringAttr, SmallVector<model::ParamOp>> parameters;
  module.walk([&](model::ParamOp op) { parameters[op.getNameAttr()].push_back(op); });
  for (auto &[name, ops] : parameters)
    for (model::ParamOp op : ops) {
      if (!llvm::all_of(ops, readsCodes))
        break;
      absl::StatusOr<model::CodedAttr> coded = codes.find(op);
      if (!coded.ok())
        return complain(console, coded.status());
      if (*coded)
        op.setCodedAttr(*coded);
    }
  return Ok;
}

/// Says which matrices become codes (--weights-dtype), where a file of codes is not read already.
static int codeWeights(const Console &console, ModuleOp module, const CompileOptions &options, Formats target) {
  if (options.pipeline.weightBits == 0)
    return Ok;
  if (!target.codes)
    return console.complain(
        Error::TargetUnsupported,
        "a GPU multiplies no codes yet; --target=cpu does, and --dtype=bf16 halves the weights there");
  if (module->hasAttr(model::kStageAttr) && stageOf(module) != "model")
    return console.complain(Error::BadUsage,
                            "--weights-dtype comes before the stage 'entries', and this file is past the stage '" +
                                stageOf(module) + "'");
  model::CodedAttr stored;
  module.walk([&](model::ParamOp op) {
    if (op.getCoded() && !op.getCoded()->isSearched())
      stored = *op.getCoded();
  });
  // Matrices that an adapter changed are no codes any more.
  if (stored && !module->hasAttr("model.adapters"))
    return console.complain(Error::BadUsage,
                            "the weights are stored as integer codes already (" + stored.getFrom().getValue() +
                                "), and would be rounded twice; without --weights-dtype they are multiplied as they "
                                "are, and --weights-dtype is of weights that are no integer codes");
  return runStages(console, module, sharedStages(), "model", options);
}

/// Says how codes are multiplied: as integers, unless `want` is wide.
static int setCodes(const Console &console, ModuleOp module, StringRef want) {
  auto had = module->getAttrOfType<StringAttr>("model.codes");
  if (want == "auto" || !anyCodes(module) || (had ? had.getValue() : StringRef("dots")) == want)
    return Ok;
  if (model::hasBlob(module))
    return console.complain(Error::BadUsage,
                            "the weights of this file are laid out already; --math comes before the stage 'tiled'");
  module->setAttr("model.codes", StringAttr::get(module.getContext(), want));
  return Ok;
}

/// Says how many features of a row share a scale, where codes are multiplied as integers.
static int setRows(const Console &console, ModuleOp module, int64_t rows) {
  if (rows == 0)
    return Ok;
  auto codes = module->getAttrOfType<StringAttr>("model.codes");
  if (!anyCodes(module))
    return console.complain(Error::BadUsage,
                            "--rows is of products with codes, and no weight of this model is stored as "
                            "codes; --weights-dtype=int8 rounds them");
  if (codes && codes.getValue() == "wide")
    return console.complain(Error::BadUsage,
                            "--rows has no effect where codes are multiplied as f32 (--math=codes=wide)");
  auto had = module->getAttrOfType<IntegerAttr>("model.rows");
  if ((had ? had.getInt() : Coding::rowFeatures) == rows)
    return Ok;
  if (model::hasBlob(module))
    return console.complain(Error::BadUsage,
                            "the weights of this file are laid out already; --rows comes before the stage 'tiled'");
  module->removeAttr("model.rows");
  if (rows != Coding::rowFeatures)
    module->setAttr("model.rows", Builder(module.getContext()).getI64IntegerAttr(rows));
  return Ok;
}

/// Whether products of stored bf16 are those of pairs: as `word` says, or what the target is fast at. `said`: what the
/// file says, where the command line leaves it alone.
static bool takesPairs(StringRef word, bool isBf16, std::optional<bool> said, Formats target) {
  if (word == "auto")
    return said ? *said : isBf16 && target.fast;
  return isBf16 && word == "dots";
}

int heddle::setArithmetic(const Console &console, ModuleOp module, const CompileOptions &options, Formats target) {
  std::string wrong;
  std::optional<MathChoice> math = MathChoice::parse(options.math, wrong);
  if (!math)
    return console.complain(Error::BadUsage, "--math: " + wrong);
  if (int failed = markStoredCodes(console, module, options, target))
    return failed;
  if (int failed = codeWeights(console, module, options, target))
    return failed;
  if (int failed = setCodes(console, module, math->codes))
    return failed;
  if (int failed = setRows(console, module, options.rows))
    return failed;
  using model::Stored;
  model::Arithmetic had = model::arithmeticOf(module);
  bool hadAttention = model::attentionArithmeticOf(module).dots;
  Stored stored = options.dtype.empty() ? had.stored : *model::storedOf(options.dtype);
  bool isBf16 = stored == Stored::bf16, codes = anyCodes(module) || module->hasAttr("model.quantised");
  bool said = options.dtype.empty() && module->hasAttr("model.math");
  bool linear = takesPairs(math->linear, isBf16, said ? std::optional(had.dots) : std::nullopt, target);
  bool attention = takesPairs(math->attention, isBf16, said ? std::optional(hadAttention) : std::nullopt, target);
  bool asked = math->linear == "dots" || math->attention == "dots";
  if (!isBf16 && asked && !(math->codes == "dots" && codes))
    return console.complain(Error::BadUsage,
                            "--math=dots says how stored bf16 and codes are multiplied; it needs --dtype=bf16 or "
                            "--weights-dtype");
  if (asked && math->codes == "dots" && anyCodes(module) && !target.dots)
    linear = attention = false; // it was said of the codes
  if ((linear || attention) && !target.dots)
    return console.complain(
        Error::TargetUnsupported,
        "products of pairs of bf16 need a processor with avx512bf16 and avx512vbmi; --math=wide does without");
  if (stored == Stored::f16 && !target.f16)
    return console.complain(
        Error::TargetUnsupported,
        "numbers stored as f16 need a processor with f16c (x86-64-v3 and later have it); --dtype=bf16 --math=wide does without");
  if (had.stored == stored && had.dots == linear && hadAttention == attention)
    return Ok;
  if (model::hasBlob(module))
    return console.complain(
        Error::BadUsage,
        "the weights of this file are laid out already; --dtype and --math come before the stage 'tiled'");
  OpBuilder b(module.getContext());
  for (StringRef name : {"model.dtype", "model.math", "model.attention_math"})
    module->removeAttr(name);
  auto word = [&](bool dots) { return b.getStringAttr(dots ? "dots" : "wide"); };
  if (stored != Stored::f32)
    module->setAttr("model.dtype", b.getStringAttr(model::wordOf(stored)));
  if (isBf16)
    module->setAttr("model.math", word(linear));
  if (attention != linear)
    module->setAttr("model.attention_math", word(attention));
  return Ok;
}
