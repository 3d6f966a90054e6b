//===- CodeWeights.cpp - which matrices become codes ----------------------===//
//
// --weights-dtype rounds the large matrices of linears and the table of tokens to 8 or 4 bits; what they are read by
// decides. This pass writes `coded` on their parameters; the codes themselves are made when the weights are packed.
//
//===----------------------------------------------------------------------===//

#include "dialects/Model/IR/Names.h"
#include "dialects/Model/Transforms/Passes.h"
#include "dialects/Remarks/Remark.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/GlobPattern.h"

namespace heddle::model {
#define GEN_PASS_DEF_CODEWEIGHTSPASS
#include "dialects/Model/Transforms/Passes.h.inc"
} // namespace heddle::model

using namespace mlir;
using namespace heddle;
using namespace heddle::model;

/// Smaller matrices stay as they are: they are little of any model, and often what is most sensitive.
static constexpr int64_t kLeastResults = 32, kLeastFeatures = 64;
/// Of the output product and of the table that it shares with the input.
static constexpr int64_t kOutputBits = 8, kOutputGroup = 32;

namespace {
/// A parameter, in all functions that read it.
struct Matrix {
  SmallVector<ParamOp> ops;
  int64_t linears = 0, tables = 0;
  bool inOut = false, mixed = false; ///< how linears read it; whether they differ
  bool router = false, other = false;
};

/// A matrix that is too small to be rounded.
struct Candidate {
  std::string name;
  int64_t results, features;
};

struct CodeWeights final : heddle::model::impl::CodeWeightsPassBase<CodeWeights> {
  using CodeWeightsPassBase::CodeWeightsPassBase;
  void runOnOperation() override;
  LogicalResult readPatterns();
  bool isKept(StringRef name);
  void sayNothingRounded(ArrayRef<Candidate> tooSmall, int64_t excluded);

  SmallVector<llvm::GlobPattern> patterns;
  SmallVector<bool> matched;
};
} // namespace

/// Whether ids are given by the caller in every call: those of tokens are, places and types have a default.
static bool areTokens(Value ids) {
  auto argument = dyn_cast<BlockArgument>(ids);
  auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  return function && !function.getArgAttr(argument.getArgNumber(), "model.default");
}

/// Whether `value` decides, through elementwise ops and softmax, which elements a top_k keeps: that of a router, which
/// chooses experts.
static bool isRouted(Value value) {
  llvm::SetVector<Value> reached;
  reached.insert(value);
  for (size_t i = 0; i < reached.size(); ++i)
    for (Operation *user : reached[i].getUsers()) {
      if (isa<TopKOp>(user))
        return true;
      if (isa<UnaryOp, BinaryOp, SoftmaxOp, SelectOp, CastOp>(user))
        reached.insert(user->result_begin(), user->result_end());
    }
  return false;
}

static void note(Matrix &matrix, OpOperand &use) {
  if (auto linear = dyn_cast<LinearOp>(use.getOwner()); linear && use.getOperandNumber() == 1 && !linear.getFilter()) {
    matrix.mixed |= matrix.linears && matrix.inOut != linear.getInOut();
    matrix.inOut = linear.getInOut();
    matrix.router |= llvm::any_of(linear.getResults(), isRouted);
    ++matrix.linears;
  } else if (auto table = dyn_cast<EmbeddingOp>(use.getOwner());
             table && use.getOperandNumber() == 1 && areTokens(table.getIds())) {
    ++matrix.tables;
  } else {
    matrix.other = true;
  }
}

/// The name of the tensor, of repeats that of the first layer.
static std::string firstName(ParamOp op) {
  std::string name = op.getName().str();
  for (unsigned k = 0; k < op.getIndices().size(); ++k) {
    std::string place = "{" + std::to_string(k) + "}";
    for (size_t at; (at = name.find(place)) != std::string::npos;)
      name.replace(at, place.size(), "0");
  }
  return name;
}

LogicalResult CodeWeights::readPatterns() {
  for (const std::string &text : keep) {
    llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(text);
    if (!pattern)
      return getOperation().emitError("the pattern '") << text << "': " << llvm::toString(pattern.takeError());
    patterns.push_back(*pattern);
  }
  matched.assign(patterns.size(), false);
  return success();
}

bool CodeWeights::isKept(StringRef name) {
  bool kept = false;
  for (auto [pattern, met] : llvm::zip(patterns, matched))
    if (pattern.match(name))
      kept = met = true;
  return kept;
}

/// A remark that the option changes nothing, and why. `excluded`: matrices that are large enough, and stay.
void CodeWeights::sayNothingRounded(ArrayRef<Candidate> tooSmall, int64_t excluded) {
  InFlightDiagnostic remark = getOperation().emitRemark("--weights-dtype=int")
                              << int64_t(bits) << " rounds no matrix: ";
  if (excluded)
    remark << (excluded == 1 ? "the one that is large enough has" : "those that are large enough have")
           << " --keep, a choice of experts, or other readers than linears and lookups of tokens; ";
  if (tooSmall.empty()) {
    remark << (excluded ? "there are no others" : "there is no matrix of a linear or of tokens");
    return;
  }
  const Candidate &largest = *llvm::max_element(
      tooSmall, [](const Candidate &a, const Candidate &b) { return a.results * a.features < b.results * b.features; });
  remark << "a matrix needs " << kLeastResults << " results and " << kLeastFeatures
         << " features or more, and the largest" << (excluded ? " of the others" : "") << ", '" << largest.name
         << "', has " << largest.results << " and " << largest.features;
}

void CodeWeights::runOnOperation() {
  if (bits == 0)
    return;
  if (failed(readPatterns()))
    return signalPassFailure();
  llvm::MapVector<StringAttr, Matrix> matrices;
  llvm::SmallSetVector<int64_t, 4> vocabularies; // rows of the tables of tokens
  getOperation().walk([&](ParamOp op) {
    Matrix &matrix = matrices[op.getNameAttr()];
    matrix.ops.push_back(op);
    for (OpOperand &use : op->getUses())
      note(matrix, use);
  });
  auto lengths = [](ParamOp op) -> std::optional<std::pair<int64_t, int64_t>> {
    ModelTensorType type = op.getType();
    if (type.getRank() != 2 || !type.getElementType().isF32() || !type.getSize(0).constant() ||
        !type.getSize(1).constant())
      return std::nullopt;
    return std::pair(*type.getSize(0).constant(), *type.getSize(1).constant());
  };
  for (auto &[name, matrix] : matrices)
    if (auto shape = lengths(matrix.ops.front()); shape && matrix.tables)
      vocabularies.insert(shape->first);

  SmallVector<Candidate> tooSmall;
  int64_t rounded = 0, excluded = 0;
  for (auto &[name, matrix] : matrices) {
    auto shape = lengths(matrix.ops.front());
    if (!shape || (!matrix.linears && !matrix.tables))
      continue;
    auto [results, features] = matrix.inOut ? std::pair(shape->second, shape->first) : *shape;
    ParamOp first = matrix.ops.front();
    if (results < kLeastResults || features < kLeastFeatures) {
      remarks::missed(first, remarks::LayoutCoded, "a matrix of fewer than 32 results or 64 features keeps its numbers")
          .add("results", results)
          .add("features", features);
      tooSmall.push_back({firstName(matrix.ops.front()), results, features});
      continue;
    }
    StringRef why = matrix.other               ? "an op reads it that is neither a linear nor a lookup of tokens"
                    : matrix.mixed             ? "linears read it along both of its axes"
                    : matrix.router            ? "it chooses experts"
                    : first.getCoded()         ? "it has codes already"
                    : isKept(firstName(first)) ? "--keep names it"
                                               : "";
    if (!why.empty()) {
      remarks::missed(first, remarks::LayoutCoded, why);
      ++excluded;
      continue;
    }
    ++rounded;
    bool output = matrix.linears && vocabularies.contains(results);
    int64_t size = output ? kOutputGroup : group == 0 ? features : std::min<int64_t>(group, features);
    heddle::Coding coding{{output ? kOutputBits : int64_t(bits), size}};
    auto coded = CodedAttr::get(&getContext(), coding, matrix.inOut, "search");
    remarks::passed(first, remarks::LayoutCoded)
        << "rounded to codes of " << remarks::number("bits", output ? kOutputBits : int64_t(bits)) << " bits, "
        << remarks::number("group", size) << " features share a scale";
    for (ParamOp op : matrix.ops)
      op.setCodedAttr(coded);
  }
  if (!rounded)
    sayNothingRounded(tooSmall, excluded);
  for (auto [text, met] : llvm::zip(keep, matched))
    if (!met) {
      getOperation().emitError("no matrix that would become codes has the name '")
          << text << "'; a parameter of a repeat is named as in its first layer";
      return signalPassFailure();
    }
}
