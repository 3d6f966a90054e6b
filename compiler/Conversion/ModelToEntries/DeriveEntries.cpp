//===- DeriveEntries.cpp - the pass model-derive-entries -------------------===//
//
// The pass: classify all values, plan the step backwards from the logits, and build it if
// nothing was refused. A refusal is due to a guard, which the step then compares, or is the
// reason why text is recomputed at every step.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ModelToEntries/Passes.h"
#include "compiler/Conversion/ModelToEntries/Report.h"
#include "dialects/Model/IR/InputDefaults.h"
#include "dialects/Model/IR/Names.h"
#include "dialects/Remarks/Remark.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"

namespace heddle {
#define GEN_PASS_DEF_DERIVEENTRIESPASS
#include "compiler/Conversion/ModelToEntries/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;
using namespace heddle::entries;

namespace {

/// Moves ops that do not depend on the iteration in front of their repeat.
void hoist(func::FuncOp f) {
  f.walk([](model::RepeatOp repeat) {
    for (Operation &op : llvm::make_early_inc_range(repeat.getBody().front())) {
      if (op.hasTrait<OpTrait::IsTerminator>() || !isPure(&op) || op.getNumRegions() > 0)
        continue;
      bool inside =
          llvm::any_of(op.getOperands(), [&](Value v) { return repeat.getBody().isAncestor(v.getParentRegion()); });
      if (!inside)
        op.moveBefore(repeat);
    }
  });
}

void simplify(func::FuncOp f) {
  IRRewriter rewriter(f.getContext());
  DominanceInfo dominance(f);
  eliminateCommonSubExpressions(rewriter, dominance, f);
}

std::string textOf(DictionaryAttr roles, StringRef role) {
  auto s = roles.getAs<StringAttr>(role);
  return s ? s.str() : "";
}

std::optional<Roles> rolesOf(ModuleOp module, func::FuncOp run) {
  auto dict = module->getAttrOfType<DictionaryAttr>("model.generate");
  if (!dict)
    return std::nullopt;
  Roles r{textOf(dict, "tokens"),
          textOf(dict, "logits"),
          textOf(dict, "mask"),
          textOf(dict, "positions"),
          textOf(dict, "source"),
          {},
          {},
          {}};
  auto pad = dict.getAs<IntegerAttr>("pad");
  auto eos = dyn_cast_or_null<ArrayAttr>(dict.get("eos"));
  bool ends = pad && (dict.get("eos") == pad || (eos && llvm::is_contained(eos, Attribute(pad))));
  if (pad && !ends && r.mask.empty())
    r.pad = pad.getInt();
  if (auto extend = dict.getAs<DictionaryAttr>("extend"))
    for (NamedAttribute a : extend)
      r.extend.insert(a.getName().str());
  for (BlockArgument a : run.getArguments()) {
    auto name = run.getArgAttrOfType<StringAttr>(a.getArgNumber(), "model.name");
    auto type = dyn_cast<model::ModelTensorType>(a.getType());
    if (name && type && name.getValue() == r.tokens && type.getRank() > 0)
      if (std::optional<std::string> dim = type.getSize(type.getRank() - 1).bareDim())
        r.axis = *dim;
  }
  return r;
}

struct DeriveEntriesPass : heddle::impl::DeriveEntriesPassBase<DeriveEntriesPass> {
  using DeriveEntriesPassBase::DeriveEntriesPassBase;
  void runOnOperation() override;

private:
  bool derive(StepAnalysis &kinds, Value logits);
  LogicalResult build(StepAnalysis &kinds, Value logits, entries::Builder &step, func::FuncOp function);
  void report(ArrayRef<Refusal> refusals);
  void remarkOnStep(const StepAnalysis &kinds, int64_t prompt);
  void warnOfDefaults(const StepAnalysis &kinds);

  SmallVector<Attribute> lines;
  DenseSet<Value> guards;
};

void annotateKinds(StepAnalysis &kinds) {
  static const char *names[] = {"fixed", "frozen", "now", "row", "grid", "odd", "mask_or_bias"};
  OpBuilder b(kinds.run.getContext());
  kinds.run.getBody().walk([&](Operation *op) {
    if (op->getNumResults() == 0 || op->getParentOfType<model::DefaultOp>())
      return;
    const Facts &f = kinds.of(op->getResult(0));
    StringRef name = f.kind == Kind::Rows && f.unstable ? "moving"
                     : f.kind == Kind::Rows && f.past   ? "past"
                                                        : names[int(f.kind)];
    op->setAttr("model.kind", b.getStringAttr(name));
  });
}

/// Asks `step` for its result: the last row of the logits.
Value ask(entries::Builder &step, StepAnalysis &kinds, Value logits) {
  return step.get(logits, kinds.of(logits).kind == Kind::Rows ? "l" : "");
}

/// Plans, and builds if possible. Each round adds guards for what was refused; it ends when
/// nothing is refused, or when some refusal is due to no guard.
bool DeriveEntriesPass::derive(StepAnalysis &kinds, Value logits) {
  OpBuilder atEnd = OpBuilder::atBlockEnd(getOperation().getBody());
  for (int round = 0; round < 32; ++round) {
    kinds.classify(guards);
    if (annotate && round == 0)
      annotateKinds(kinds);
    auto function = func::FuncOp::create(atEnd, kinds.run.getLoc(), "step", FunctionType::get(&getContext(), {}, {}));
    entries::Builder step(kinds, function, /*once=*/false);
    const Facts &f = kinds.of(logits);
    if (f.kind != Kind::Rows && f.kind != Kind::Now && f.kind != Kind::Frozen)
      step.refuse(kinds.reason(*logits.getDefiningOp(), "the logits are no row a token"));
    else
      ask(step, kinds, logits);
    step.refill(llvm::to_vector(guards));
    if (!step.refused()) {
      if (failed(build(kinds, logits, step, function)))
        signalPassFailure();
      warnOfDefaults(kinds);
      return true;
    }
    function.erase();
    // Go on only if every refusal is due to a small value that may stand still.
    SmallVector<Value> more;
    for (const Refusal &r : step.refusals)
      if (Value g = guardFrom(r.reason->frontier, kinds); g && !guards.contains(g))
        more.push_back(g);
      else {
        report(step.refusals);
        return false;
      }
    guards.insert(more.begin(), more.end());
  }
  return false;
}

/// Builds @step as planned, then @once for what @step loads, and notes what the user should
/// know.
LogicalResult DeriveEntriesPass::build(StepAnalysis &kinds, Value logits, entries::Builder &step,
                                       func::FuncOp function) {
  step.beginBuilding();
  Value last = ask(step, kinds, logits);
  if (step.broken || !last)
    return emitError(logits.getLoc(), "the cached step could not be built (an error of the compiler)");
  OpBuilder end = OpBuilder::atBlockEnd(&function.getBody().front());
  if (SmallVector<unsigned, 2> axes = kinds.stepAxes(logits); !axes.empty())
    last = model::SqueezeOp::create(end, logits.getLoc(), last, axes.front());
  SmallVector<Value> results{last};
  SmallVector<std::string> names{kinds.roles.logits};
  if (!guards.empty()) {
    results.push_back(step.refill(llvm::to_vector(guards)));
    names.push_back("refill");
    for (Value g : guards)
      lines.push_back(StringAttr::get(&getContext(), "cached step holds while the value at " + place(g.getLoc()) +
                                                         " does not change; then the text is recomputed"));
  }
  step.finish(results, names);
  simplify(function);

  if (!step.kept.empty()) {
    OpBuilder before(function);
    auto first = func::FuncOp::create(before, kinds.run.getLoc(), "once", FunctionType::get(&getContext(), {}, {}));
    entries::Builder once(kinds, first, /*once=*/true);
    once.kept = step.kept;
    once.planKept();
    once.beginBuilding();
    once.storeKept();
    if (once.broken || once.refused())
      return emitError(logits.getLoc(), "what is computed once could not be built (an error of the compiler)");
    once.finish({}, {});
    simplify(first);
  }
  int64_t rows = shortestPrompt(kinds, logits);
  remarkOnStep(kinds, rows);
  if (rows > 1) {
    getOperation()->setAttr("model.shortest_prompt", OpBuilder(&getContext()).getI64IntegerAttr(rows));
    lines.push_back(
        StringAttr::get(&getContext(), "cached step needs a prompt of at least " + std::to_string(rows) + " tokens"));
  }
  return success();
}

/// Says which states continue a text, and by which values the step only holds for a while.
void DeriveEntriesPass::remarkOnStep(const StepAnalysis &kinds, int64_t prompt) {
  remarks::InFlight remark = remarks::passed(func::FuncOp(kinds.run), remarks::StepDerived);
  if (!remark)
    return;
  int64_t states = 0;
  if (auto step = getOperation().lookupSymbol<func::FuncOp>("step"))
    states = llvm::count_if(step.getArgumentTypes(), llvm::IsaPred<model::StateType>);
  remark << "@step continues a text from " << remarks::number("states", states) << " states";
  if (prompt > 1)
    remark << ", after a prompt of at least " << prompt << " tokens";
  remark.add("guards", guards.size());
  kinds.run.getBody().walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (guards.contains(result))
        remark.note(result.getLoc(), "the step holds while this does not change; then the text is computed again");
  });
}

void DeriveEntriesPass::report(ArrayRef<Refusal> refusals) {
  bool error = cache == "require";
  const char *head = "no cached step: every step recomputes the whole text (work grows with T^2)";
  lines.assign(1, StringAttr::get(&getContext(), head));
  InFlightDiagnostic d =
      error ? emitError(refusals.front().reason->where, head) : emitRemark(refusals.front().reason->where, head);
  for (const Refusal &r : refusals) {
    Diagnostic &note = d.attachNote(r.reason->where) << r.reason->why;
    if (r.held && model::withName("", r.held.getLoc()) != r.reason->where)
      note << "; needed unchanged at " << place(r.held.getLoc());
    lines.push_back(StringAttr::get(&getContext(), line(r)));
    remarks::InFlight remark = remarks::missed(remarks::Where(r.reason->where, StringAttr::get(&getContext(), "run")),
                                               remarks::StepDerived, r.reason->why);
    if (r.held)
      remark.note(r.held.getLoc(), "this is needed unchanged");
  }
  if (error)
    signalPassFailure();
}

/// Warns of an input along the step axis that has a default and no role: while text is
/// generated the default is used, even if the prompt was given another value. (With a source
/// the text begins with the start token, so no value can have been given for a prompt.)
void DeriveEntriesPass::warnOfDefaults(const StepAnalysis &kinds) {
  if (!kinds.roles.source.empty())
    return;
  kinds.run.getBody().walk([&](model::DefaultOp op) {
    auto input = dyn_cast<BlockArgument>(op.getInput());
    auto name =
        input ? func::FuncOp(kinds.run).getArgAttrOfType<StringAttr>(input.getArgNumber(), "model.name") : StringAttr();
    if (!name || op.getResult().use_empty() || kinds.of(input).kind != Kind::Rows || kinds.roles.grows(name.getValue()))
      return;
    emitWarning(input.getLoc(), "the input '")
        << name.getValue() << "' has the axis " << kinds.roles.axis
        << " and `generate` gives it no role: while text is generated its default stands for it, whatever was given for the prompt; "
           "`extend` says what a new token takes";
  });
}

/// Checks options and roles, derives the entries unless told not to, and writes the
/// attributes that tell what was derived and how batches may be padded.
void DeriveEntriesPass::runOnOperation() {
  ModuleOp module = getOperation();
  auto run = module.lookupSymbol<func::FuncOp>("run");
  if (!run || run.isExternal()) {
    module.emitError("has no function @run");
    return signalPassFailure();
  }
  if (cache != "auto" && cache != "require" && cache != "none") {
    module.emitError("cache must be auto, require or none, found '") << cache.getValue() << "'";
    return signalPassFailure();
  }
  lines.clear();
  guards.clear();
  hoist(run);
  simplify(run);
  std::optional<Roles> roles = rolesOf(module, run);
  if (!roles || module.lookupSymbol("step"))
    return;
  Value logits;
  auto ret = cast<func::ReturnOp>(run.getBody().front().getTerminator());
  for (unsigned i = 0; i < run.getNumResults(); ++i)
    if (auto name = run.getResultAttrOfType<StringAttr>(i, "model.name"); name && name.getValue() == roles->logits)
      logits = ret.getOperand(i);
  if (!logits || roles->axis.empty()) {
    run.emitError("model.generate names tokens '")
        << roles->tokens << "' and logits '" << roles->logits
        << "', but @run has no such input with a step axis, or no such result";
    return signalPassFailure();
  }
  StepAnalysis kinds(run, *roles);
  if (cache == "none") {
    kinds.classify(DenseSet<Value>());
    remarks::missed(run, remarks::StepDerived, "--cache=none asks for none");
    lines.push_back(StringAttr::get(&getContext(), "no cached step: --cache=none"));
  } else {
    derive(kinds, logits);
  }
  guards.clear();
  kinds.classify(DenseSet<Value>());
  Padding p = padding(kinds, logits);
  if (p.because && !roles->mask.empty())
    emitRemark(
        p.because->getLoc(),
        "a padded row of a batch is not what it is alone: this reads the position of a row, or rows that may be padding")
            .attachNote()
        << "to make it what it is alone, count real tokens instead: an input with the role `positions` of `generate`, "
           "or `cumsum` of the mask minus 1; or give prompts of one length, or one at a time";
  OpBuilder b(&getContext());
  module->setAttr("model.padding", b.getDictionaryAttr({b.getNamedAttr("left", b.getBoolAttr(p.left)),
                                                        b.getNamedAttr("right", b.getBoolAttr(p.right))}));
  if (!lines.empty())
    module->setAttr("model.step_report", b.getArrayAttr(lines));
  if (SmallVector<std::string> names = model::extendedDefaults(run); !names.empty())
    module.push_back(model::defaultsOf(run, names).release());
}

} // namespace
