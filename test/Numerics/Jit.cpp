//===- Jit.cpp - functions of stage `buffers`, compiled in this process ---===//

#include "test/Numerics/Jit.h"
#include "compiler/Conversion/Lowering/CPU/CPUTiles.h"
#include "compiler/Conversion/Lowering/Frame/Lowering.h"
#include "compiler/Pipelines/Stages.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "targets/CPU/ProcessorStages.h"
#include "targets/CPU/ProcessorTarget.h"
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

using namespace mlir;
using namespace heddle;
using heddle::model::Size;

//===-- what generated code calls ------------------------------------------------===//

namespace {
struct Team {
  std::mutex lock;
  std::condition_variable met;
  int threads = 1, waiting = 0;
  int64_t round = 0, failure = 0;
  int64_t dealt = 0; ///< parts of this phase's work
};
} // namespace

extern "C" void heddle_test_barrier(Team *team, int64_t) {
  std::unique_lock<std::mutex> hold(team->lock);
  int64_t mine = team->round;
  if (++team->waiting == team->threads) {
    team->waiting = team->dealt = 0;
    ++team->round;
    team->met.notify_all();
  } else {
    team->met.wait(hold, [&] { return team->round != mine; });
  }
}
/// From the last part to the first, to whichever thread comes: nothing may depend on it.
extern "C" int64_t heddle_test_take(Team *team, int64_t, int64_t parts) {
  std::unique_lock<std::mutex> hold(team->lock);
  return team->dealt < parts ? parts - 1 - team->dealt++ : -1;
}
extern "C" void heddle_test_fail(Team *team, int64_t code, int64_t, int64_t) {
  std::unique_lock<std::mutex> hold(team->lock);
  if (!team->failure)
    team->failure = code;
}

namespace heddle::test {

struct Program::Impl {
  struct Entry {
    std::vector<std::string> dims;
    Size arena;
    std::vector<Size> states;
    void (*function)(Team *, int64_t, int64_t, const int64_t *, void *const *, char *, const char *);
  };
  std::map<std::string, Entry> entries;
  std::unique_ptr<JitModule> jit;
  /// Kept from run to run, so that a bench does not measure fresh pages.
  std::unique_ptr<char, decltype(&std::free)> arena{nullptr, &std::free};
  int64_t arenaRoom = 0;
};

Program::Program() : impl(std::make_unique<Impl>()) {}
Program::~Program() = default;

std::unique_ptr<Program> Program::compile(const std::string &text, int vectorWidth, bool planCache, JitLevel level,
                                          int64_t longestPiece) {
  DialectRegistry registry;
  registry.insert<model::ModelDialect, mask::MaskDialect, attn::AttnDialect, func::FuncDialect, arith::ArithDialect,
                  math::MathDialect>();
  registerProcessorTiles(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
  if (!module)
    return nullptr;
  PipelineOptions options;
  options.longestPiece = longestPiece;
  options.vectorWidth = vectorWidth;
  options.registers = vectorWidth == 16 ? 32 : 16;
  PassManager plan(&context), lower(&context);
  addPasses(plan, "fused", options, [](StringRef flag) { return flag == "mask-simplify"; });
  addPasses(plan, "tiled", options,
            [=](StringRef flag) { return flag == "model-plan-schedules" || (planCache && flag == "attn-plan-cache"); });
  addStage(plan, sharedStages().back(), options);
  if (failed(plan.run(*module)))
    return nullptr;
  std::unique_ptr<Program> program(new Program);
  std::vector<std::string> names;
  for (auto f : module->getOps<func::FuncOp>()) {
    Impl::Entry entry = {};
    for (std::string &d : loops::entryDims(f))
      entry.dims.push_back(d);
    entry.arena = model::arenaOf(f).value_or(Size(0));
    for (unsigned i = 0; i < f.getNumArguments(); ++i)
      entry.states.push_back(isa<model::StateType>(f.getArgument(i).getType()) ? loops::stateBytes(f, i) : Size(0));
    program->impl->entries[f.getName().str()] = entry;
    names.push_back(f.getName().str());
  }
  addStage(lower, processorStages().back(), options);
  lower.enableVerifier(false);
  if (failed(lower.run(*module)) || failed(verify(*module)))
    return nullptr;
  // The runtime's names are bound to the helpers above; entries become visible.
  for (auto f : module->getOps<LLVM::LLVMFuncOp>())
    if (f.getName().starts_with("heddle_entry_"))
      f.setLinkage(LLVM::Linkage::External);
  if (std::getenv("HEDDLE_TEST_DUMP_MLIR"))
    module->dump();

  auto address = [](auto *function) { return reinterpret_cast<void *>(function); };
  program->impl->jit = JitModule::compile(*module, level,
                                          {{"heddle_barrier", address(&heddle_test_barrier)},
                                           {"heddle_take", address(&heddle_test_take)},
                                           {"heddle_fail", address(&heddle_test_fail)}});
  if (!program->impl->jit)
    return nullptr;
  for (const std::string &name : names) {
    void *function = program->impl->jit->find("heddle_entry_" + name);
    if (!function)
      return nullptr;
    program->impl->entries[name].function = reinterpret_cast<decltype(Impl::Entry::function)>(function);
  }
  return program;
}

static int64_t evaluate(const Size &form, Program::Dims dims, int threads) {
  dims["threads"] = threads;
  std::optional<int64_t> n = form.evaluate(dims);
  if (!n)
    llvm::report_fatal_error("a dim has no value");
  return *n;
}

int64_t Program::arenaBytes(const std::string &name, const Dims &dims, int threads) const {
  return evaluate(impl->entries.at(name).arena, dims, threads);
}
int64_t Program::stateBytes(const std::string &name, unsigned argument, const Dims &dims) const {
  return evaluate(impl->entries.at(name).states.at(argument), dims, 1);
}

int64_t Program::run(const std::string &name, const Dims &dims, std::vector<void *> tensors, int threads) {
  Impl::Entry &entry = impl->entries.at(name);
  std::vector<int64_t> values;
  for (const std::string &d : entry.dims)
    values.push_back(dims.at(d));
  int64_t bytes = arenaBytes(name, dims, threads);
  // Room behind the arena is checked: nothing may be written there.
  const int64_t fence = 4096;
  if (impl->arenaRoom < bytes + fence) {
    impl->arenaRoom = (bytes + 2 * fence + 4095) / 4096 * 4096;
    impl->arena.reset(static_cast<char *>(std::aligned_alloc(4096, impl->arenaRoom)));
  }
  char *arena = impl->arena.get();
  if (arenaFill >= 0)
    std::memset(arena, arenaFill, bytes);
  std::memset(arena + bytes, 0x5a, fence);
  Team team;
  team.threads = threads;
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t)
    others.emplace_back([&, t] {
      entry.function(&team, t, threads, values.data(), tensors.data(), arena, static_cast<const char *>(weights));
    });
  entry.function(&team, 0, threads, values.data(), tensors.data(), arena, static_cast<const char *>(weights));
  for (std::thread &t : others)
    t.join();
  for (int64_t i = 0; i < fence; ++i)
    if (arena[bytes + i] != 0x5a) {
      team.failure = -1;
      break;
    }
  return team.failure;
}

} // namespace heddle::test
