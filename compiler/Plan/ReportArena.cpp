//===- ReportArena.cpp - how well arenas are used, as remarks -------------===//

#include "compiler/Plan/ArenaUse.h"
#include "compiler/Plan/Passes.h"
#include "dialects/Model/IR/ReservedDims.h"

namespace heddle::plan {
#define GEN_PASS_DEF_REPORTARENAPASS
#include "compiler/Plan/Passes.h.inc"
} // namespace heddle::plan

using namespace mlir;
using namespace heddle;
using namespace heddle::plan;

namespace {
struct ReportArena final : heddle::plan::impl::ReportArenaPassBase<ReportArena> {
  using ReportArenaPassBase::ReportArenaPassBase;

  void runOnOperation() override {
    Lengths lengths{{model::kThreadsDim.str(), 1}};
    for (const std::string &given : dims) {
      auto [name, number] = StringRef(given).split('=');
      if (number.getAsInteger(10, lengths[name.str()])) {
        getOperation().emitError("dims: expected NAME=NUMBER, found '") << given << "'";
        return signalPassFailure();
      }
    }
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (std::optional<ArenaUse> use = arenaUse(function, lengths)) {
        InFlightDiagnostic said = function.emitRemark()
                                  << "'" << function.getName() << "' needs " << use->reserved << " bytes where "
                                  << use->alive << " live at once, at op " << use->at;
        if (use->blocked)
          said << "; '" << use->parts[use->blocked->first].name() << "' stays above '"
               << use->parts[use->blocked->second].name() << "'";
      }
  }
};
} // namespace
