//===- PlanCache.cpp - states laid out for the attention kernel -----------===//
//
// A state that only attention reads, as keys or as values, need not look like a tensor: it is
// laid out as the kernel reads it, and its writers write it so. That holds for rows
// that every step appends and for what @once keeps of an encoder alike.
//
// Where every reader's mask says how far back it looks (`reach`), appended rows are in a ring:
// it holds what the first of the longest piece of new rows may still see, and the piece. Longer
// texts then come in pieces, which the card says.
//
//===----------------------------------------------------------------------===//

#include "compiler/Plan/CacheUse.h"
#include "compiler/Plan/Passes.h"
#include "compiler/Plan/Target.h"
#include "dialects/Attn/IR/AttnPlanAttrs.h"
#include "dialects/Model/IR/Arithmetic.h"
#include "dialects/Model/IR/ModelPlanAttrs.h"
#include "dialects/Remarks/Remark.h"

namespace heddle::plan {
#define GEN_PASS_DEF_PLANCACHEPASS
#include "compiler/Plan/Passes.h.inc"
} // namespace heddle::plan

using namespace mlir;
using namespace heddle;
using namespace heddle::model;

/// The longest text that the model takes; none: any.
static std::optional<int64_t> longestText(ModuleOp module) {
  auto roles = module->getAttrOfType<DictionaryAttr>("model.generate");
  auto bounds = module->getAttrOfType<DictionaryAttr>("model.dims");
  auto tokens = roles ? roles.getAs<StringAttr>("tokens") : StringAttr();
  auto run = module.lookupSymbol<func::FuncOp>("run");
  if (!tokens || !bounds || !run)
    return std::nullopt;
  for (BlockArgument arg : run.getArguments()) {
    auto type = dyn_cast<ModelTensorType>(arg.getType());
    if (!type || !type.getRank() || run.getArgAttr(arg.getArgNumber(), "model.name") != tokens)
      continue;
    std::optional<std::string> dim = type.getSize(type.getRank() - 1).bareDim();
    auto bound = dim ? bounds.getAs<IntegerAttr>(*dim) : IntegerAttr();
    return bound ? std::optional(bound.getInt()) : std::nullopt;
  }
  return std::nullopt;
}

/// Rows of a ring buffer before it wraps; none, and `why`, where rows look back too far, or where no text is longer
/// than the ring and its twin block, since a plain cache is then no larger.
static std::optional<int64_t> ringFor(int64_t behind, int64_t piece, std::optional<int64_t> longest, int64_t block,
                                      StringRef &why) {
  std::optional<int64_t> ring = plan::leastRing(behind, piece, block);
  if (!ring)
    why = "rows look back farther than any ring goes";
  else if (longest && *longest <= *ring + block)
    why = "no text is longer than the ring would be";
  return why.empty() ? ring : std::nullopt;
}

/// Why a long text may not be fed in pieces; "" if it may. Not where a step has a guard, which may order all of the
/// text to be computed again, nor where the first piece would be shorter than the prompt that the model needs at once.
static StringRef whyAtOnce(ModuleOp module, int64_t piece) {
  for (auto f : module.getOps<func::FuncOp>())
    for (unsigned i = 0; i < f.getNumResults(); ++i)
      if (auto name = f.getResultAttrOfType<StringAttr>(i, "model.name"); name && name.getValue() == "refill")
        return "a step may order all of the text to be computed again";
  auto prompt = module->getAttrOfType<IntegerAttr>("model.shortest_prompt");
  return !prompt || prompt.getInt() <= piece ? ""
                                             : "the first piece would be shorter than the prompt that the model needs";
}

static func::FuncOp functionOf(BlockArgument state) { return cast<func::FuncOp>(state.getOwner()->getParentOp()); }

/// Whether rows are appended to the state.
static bool grows(BlockArgument state) { return llvm::any_of(state.getUsers(), llvm::IsaPred<AppendOp>); }

namespace {
struct PlanCache final : heddle::plan::impl::PlanCachePassBase<PlanCache> {
  using PlanCachePassBase::PlanCachePassBase;
  void runOnOperation() override {
    // The choice belongs to a state's name: every function that has the state must agree.
    llvm::StringMap<SmallVector<BlockArgument>> states = plan::statesOf(getOperation());
    Builder b(&getContext());
    ModuleOp module = getOperation();
    const plan::Target *target = plan::targetOf(module);
    if (!target)
      return signalPassFailure();
    auto [block, panel] = target->cacheBlock();
    std::optional<int64_t> longest = longestText(module);
    StringRef whole = whyAtOnce(module, longestPiece); // why a text comes at once; "": in pieces
    bool looksBack = false;                            // some cache could be a ring, if texts came in pieces
    int64_t shortest = 0;                              // rows of the shortest ring: longer texts come in pieces
    for (auto &[name, args] : states) {
      plan::CacheUse use = plan::useOf(args);
      remarks::Where where(args.front().getLoc(), functionOf(args.front()).getNameAttr());
      if (!use.good() || !use.role) {
        remarks::InFlight remark = remarks::missed(where, remarks::CacheLayout,
                                                   use.good() ? StringRef("nothing reads its rows") : use.objection);
        if (use.because)
          remark.note(use.because->getLoc(), "this reads or writes it");
        continue;
      }
      Stored stored = arithmeticOf(module).stored;
      Type element = stored == Stored::bf16  ? Type(b.getBF16Type())
                     : stored == Stored::f16 ? Type(b.getF16Type())
                                             : Type(b.getF32Type());
      // Keys of different residues never meet under a dilated mask, so each class has a ring of its own.
      int64_t turn = 0;
      auto ofClass = [&](int64_t rows) { return plan::rowsOfClass(rows, use.classes); };
      StringRef noRing = !use.behind ? "how far back a row looks is not known, or all rows are seen" : whole;
      looksBack |= use.behind.has_value();
      if (std::optional<int64_t> ring =
              noRing.empty() ? ringFor(ofClass(*use.behind), ofClass(longestPiece),
                                       longest ? std::optional(ofClass(*longest)) : longest, block, noRing)
                             : std::nullopt) {
        turn = *ring;
        int64_t rows = *ring * use.classes;
        shortest = shortest ? std::min(shortest, rows) : rows;
      }
      remarks::passed(where, remarks::CacheLayout)
          << (*use.role == attn::CacheKind::keys ? "keys" : "values") << " of " << remarks::number("heads", use.heads)
          << " heads are stored as attention reads them: blocks of " << remarks::number("block", block)
          << " rows, panels of " << remarks::number("panel", panel) << ", classes "
          << remarks::number("classes", use.classes);
      if (turn)
        remarks::passed(where, remarks::CacheRing)
            << "a ring of " << remarks::number("rows", turn * use.classes) << " rows, since a row looks back "
            << remarks::number("reach", *use.behind);
      else if (llvm::any_of(args, grows))
        remarks::missed(where, remarks::CacheRing, noRing);
      auto cache = attn::CacheAttr::get(&getContext(), *use.role, use.heads, element, block, panel, use.classes, turn);
      for (BlockArgument arg : args) {
        attn::setCache(arg.getOwner()->getParentOp(), arg.getArgNumber(), cache);
        for (Operation *user : arg.getUsers())
          attn::setCache(user, cache);
      }
    }
    for (const char *name : {"step", "batch"})
      if (auto step = module.lookupSymbol<func::FuncOp>(name); step && shortest) {
        setPieces(step, PiecesAttr::get(&getContext(), longestPiece, shortest));
        remarks::passed(step, remarks::CachePieces)
            << "a text longer than " << remarks::number("rows", shortest) << " tokens comes in pieces of up to "
            << remarks::number("longest", longestPiece.getValue());
      }
    if (!shortest && looksBack && !whole.empty())
      if (auto step = module.lookupSymbol<func::FuncOp>("step"))
        remarks::missed(step, remarks::CachePieces, whole);
  }
};
} // namespace
