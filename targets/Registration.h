//===- Registration.h - dialects, passes and pipelines, named once -*- C++ -*-===//
#ifndef HEDDLE_TARGETS_REGISTRATION_H
#define HEDDLE_TARGETS_REGISTRATION_H

#include "compiler/Pipelines/Stages.h"
#include "llvm/Support/JSON.h"

namespace heddle {

/// Every dialect that a stage may hold, and what plans ask of each target.
void registerDialects(mlir::DialectRegistry &registry);
/// The passes that the stages name, and --heddle-check-stage.
void registerPasses();
/// One pipeline a stage: --heddle-fused, .. of the first target, --heddle-TARGET-STAGE of what others have of their
/// own.
void registerPipelines();

/// The stages of all targets as a page of markdown.
std::string describeStages();
/// The same: objects {stage, target, holds, passes}. `target` is null in the shared stages, `holds` is what the
/// contract of the stage promises, and `passes` are objects {name, does}, none in stages that are no IR.
llvm::json::Array listStages();

} // namespace heddle

#endif
