//===- Optimise.cpp - LLVM's optimisation of a module ---------------------===//

#include "targets/Optimise.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"

void heddle::optimise(llvm::Module &module, llvm::TargetMachine &machine, llvm::OptimizationLevel level, bool unrolls) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopUnrolling = unrolls;
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
