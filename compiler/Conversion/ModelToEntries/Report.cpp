//===- Report.cpp - reasons, padding and guards -----------------------------===//
//
// Facts about everything that the logits depend on: printed for the user or kept as attributes
// of the module.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ModelToEntries/Report.h"
#include "dialects/Model/IR/Names.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::entries;
using model::Size;

std::string entries::place(Location loc) {
  if (StringRef path = model::pathOf(loc); !path.empty())
    return path.str();
  if (auto file = loc->findInstanceOf<FileLineColLoc>())
    return file.getFilename().str() + ":" + std::to_string(file.getLine()) + ":" + std::to_string(file.getColumn());
  return "the description";
}

std::string entries::line(const Refusal &r) {
  std::string text = place(r.reason->where) + ": " + r.reason->why;
  if (std::string held = r.held ? place(r.held.getLoc()) : ""; !held.empty() && held != place(r.reason->where))
    text += "; needed unchanged at " + held;
  return text;
}

/// Whether the input has a role: the runtime gives it or computes it from the mask.
static bool isGiven(model::DefaultOp op, const StepAnalysis &kinds) {
  const Facts &f = kinds.of(op.getInput());
  return f.kind == Kind::Rows && !f.unstable;
}

SetVector<Operation *> entries::reaching(Value root, const StepAnalysis &kinds) {
  SetVector<Operation *> out;
  SmallVector<Value> worklist{root};
  DenseSet<Value> seen;
  while (!worklist.empty()) {
    Value v = worklist.pop_back_val();
    if (!seen.insert(v).second)
      continue;
    auto carried = [&](model::RepeatOp op, unsigned i) {
      if (i < op.getNumCarried()) {
        worklist.push_back(op.getCarried()[i]);
        worklist.push_back(op.getBody().front().getArgument(i + 1));
      }
      worklist.push_back(op.getBody().front().getTerminator()->getOperand(i));
    };
    if (auto arg = dyn_cast<BlockArgument>(v)) {
      if (auto repeat = dyn_cast<model::RepeatOp>(arg.getOwner()->getParentOp()); repeat && arg.getArgNumber() > 0)
        carried(repeat, arg.getArgNumber() - 1);
      continue;
    }
    Operation *op = v.getDefiningOp();
    if (auto repeat = dyn_cast<model::RepeatOp>(op)) {
      carried(repeat, cast<OpResult>(v).getResultNumber());
      continue;
    }
    out.insert(op);
    worklist.append(op->operand_begin(), op->operand_end());
    if (auto def = dyn_cast<model::DefaultOp>(op); def && !isGiven(def, kinds))
      worklist.push_back(cast<model::YieldOp>(def.getBody().front().getTerminator()).getOperand(0));
  }
  return out;
}

//===-- padding ----------------------------------------------------------------===//

/// Whether `v` depends on the input with the role `mask`.
static bool isFromMask(Value v, const StepAnalysis &kinds) {
  auto isMask = [&](Value in) {
    auto arg = dyn_cast<BlockArgument>(in);
    if (!arg || arg.getOwner() != &kinds.run.getBody().front() || kinds.roles.mask.empty())
      return false;
    auto name = kinds.run.getArgAttrOfType<StringAttr>(arg.getArgNumber(), "model.name");
    return name && name.getValue() == kinds.roles.mask;
  };
  if (isMask(v))
    return true;
  for (Operation *op : reaching(v, kinds))
    if (llvm::any_of(op->getOperands(), isMask))
      return true;
  return false;
}

/// Whether `v` is 0 where a token has the id of padding: `tokens != pad`, where there is no role `mask`.
static bool isFromPad(Value v, const StepAnalysis &kinds) {
  while (v.getDefiningOp() && isa<model::CastOp, model::BroadcastOp>(v.getDefiningOp()))
    v = v.getDefiningOp()->getOperand(0);
  auto compare = v.getDefiningOp<model::CompareOp>();
  if (!kinds.roles.pad || !compare || compare.getPredicate() != model::ComparePredicate::ne)
    return false;
  auto isTokens = [&](Value in) {
    auto arg = dyn_cast<BlockArgument>(in);
    return arg && arg.getOwner() == &kinds.run.getBody().front() &&
           kinds.run.getArgAttr(arg.getArgNumber(), "model.name") ==
               StringAttr::get(kinds.run.getContext(), kinds.roles.tokens);
  };
  auto isPad = [&](Value in) {
    auto constant = in.getDefiningOp<model::ConstantOp>();
    auto values = constant ? dyn_cast<DenseIntElementsAttr>(constant.getValue()) : DenseIntElementsAttr();
    return values && values.isSplat() && values.getSplatValue<APInt>().getSExtValue() == *kinds.roles.pad;
  };
  return (isTokens(compare.getLhs()) && isPad(compare.getRhs())) ||
         (isTokens(compare.getRhs()) && isPad(compare.getLhs()));
}

static bool hidesPadding(Value mask, const StepAnalysis &kinds) {
  using mask::Truth;
  auto hidden = [&](Value t) { return isFromMask(t, kinds) || isFromPad(t, kinds); };
  return mask::truthOf(mask, [&](Value t) { return hidden(t) ? Truth::Never : Truth::Unknown; }) == Truth::Never;
}

static bool isHeavy(Operation *op) {
  return isa<model::LinearOp, model::EmbeddingOp, attn::SdpaOp, model::ConvOp, model::MatmulOp>(op);
}

/// Neither side if anything mixes rows outside of attention, or an attention sees padding; not
/// the right side if masks or biases depend on distances, which rotation changes.
Padding entries::padding(const StepAnalysis &kinds, Value logits) {
  Padding p;
  auto neither = [&](Operation *reader) {
    p.left = p.right = false;
    p.because = p.because ? p.because : reader;
  };
  for (Operation *op : reaching(logits, kinds)) {
    if (isa<mask::MaskOpInterface>(op) || isa<attn::BiasType>(op->getResult(0).getType()))
      continue; // looked at below, with the attention that reads it
    const Facts &f = kinds.of(op->getResult(0));
    if (f.kind == Kind::Fixed)
      continue;
    if (isa<model::RangeOp, model::SizeOp>(op) || f.kind == Kind::Now || f.kind == Kind::Frozen || f.kind == Kind::Grid)
      neither(op);
    if (auto rows = dyn_cast<model::StepInterface>(op))
      for (OpOperand &o : op->getOpOperands())
        for (unsigned a : kinds.stepAxes(o.get()))
          if (rows.relateStep(o.getOperandNumber(), a).kind != model::StepRelation::Same)
            if (!isa<model::CumsumOp>(op) || llvm::any_of(reaching(op->getOperand(0), kinds), isHeavy))
              neither(op);
    auto sdpa = dyn_cast<attn::SdpaOp>(op);
    if (!sdpa || kinds.of(sdpa.getKey()).kind != Kind::Rows)
      continue;
    if (!hidesPadding(sdpa.getMask(), kinds))
      neither(op);
    SmallVector<Value> worklist{sdpa.getMask(), sdpa.getBias()};
    while (!worklist.empty()) {
      Value v = worklist.pop_back_val();
      Operation *leaf = v ? v.getDefiningOp() : nullptr;
      if (!leaf)
        continue;
      auto read =
          isa<mask::MaskOpInterface>(leaf) ? cast<mask::MaskOpInterface>(leaf).positions() : mask::Positions::Order;
      if (read == mask::Positions::Absolute)
        neither(leaf);
      if (read == mask::Positions::Distance || isa<attn::AlibiOp, attn::BucketBiasOp, attn::RelativeDotOp>(leaf))
        p.right = false;
      for (Value o : leaf->getOperands())
        if (isa<mask::MaskType, attn::BiasType>(o.getType()))
          worklist.push_back(o);
    }
  }
  return p;
}

//===-- guards -----------------------------------------------------------------===//

static bool isElementwise(Operation *op) {
  return isa<model::UnaryOp, model::BinaryOp, model::CompareOp, model::SelectOp, model::CastOp, model::BroadcastOp,
             model::SqueezeOp, model::UnsqueezeOp>(op);
}

Value entries::guardFrom(Value v, const StepAnalysis &kinds) {
  if (!v)
    return {};
  auto mayStandStill = [](Operation *op) {
    if (auto binary = dyn_cast<model::BinaryOp>(op))
      return llvm::is_contained({model::BinaryKind::min, model::BinaryKind::max, model::BinaryKind::floordiv},
                                binary.getKind());
    if (auto unary = dyn_cast<model::UnaryOp>(op))
      return llvm::is_contained({model::UnaryKind::floor, model::UnaryKind::ceil}, unary.getKind());
    if (auto size = dyn_cast<model::SizeOp>(op)) // a length whose formula has such an operation
      return size.getSize().contains("max(") || size.getSize().contains("min(") || size.getSize().contains("//");
    return isa<model::CompareOp, model::SelectOp>(op);
  };
  auto suits = [&](Value x) {
    SetVector<Operation *> below = reaching(x, kinds);
    return !llvm::any_of(below, isHeavy) && llvm::any_of(below, mayStandStill);
  };
  // Follow elementwise users to the last value before rows read it.
  DenseSet<Value> seen;
  while (seen.insert(v).second) {
    SmallVector<Value> up;
    for (Operation *user : v.getUsers())
      if (isElementwise(user) && kinds.of(user->getResult(0)).kind == Kind::Now &&
          !llvm::is_contained(up, user->getResult(0)))
        up.push_back(user->getResult(0));
    if (up.size() != 1)
      break;
    v = up.front();
  }
  Operation *op = v.getDefiningOp();
  bool top = op && op->getBlock() == &kinds.run.getBody().front();
  return top && suits(v) ? v : Value();
}

int64_t entries::shortestPrompt(const StepAnalysis &kinds, Value logits) {
  int64_t rows = 0;
  for (Operation *op : reaching(logits, kinds))
    if (auto slice = dyn_cast<model::SliceOp>(op))
      if (kinds.of(slice.getOperand()).kind == Kind::Rows && kinds.stepAxes(op->getResult(0)).empty())
        if (std::optional<int64_t> to = Size::parse(slice.getTo())->constant())
          rows = std::max(rows, *to - kinds.offset(slice.getOperand()));
  return rows;
}
