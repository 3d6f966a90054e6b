//===- Optimise.cpp - LLVM's optimisation of a module ---------------------===//

#include "targets/Optimise.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"

void heddle::optimise(llvm::Module &module, llvm::TargetMachine &machine, llvm::OptimizationLevel level, bool unrolls) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopUnrolling = unrolls;
  // Sums live in registers as they come: there is no memory to promote out of loops, and looking for some compares
  // every two accesses of a loop (a tenth of compiling dates for a device).
  tuning.LicmMssaNoAccForPromotionCap = 0;
  llvm::PassBuilder builder(&machine, tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager calls;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(calls);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, calls, modules);
  builder.buildPerModuleDefaultPipeline(level).run(module, modules);
}
