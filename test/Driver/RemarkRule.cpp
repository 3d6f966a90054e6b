// `heddle_remark_rule` reads lines `MODEL TARGET MCPU DTYPE` from standard input and takes each model to the stage
// `buffers`: every op that makes code there must have a remark at its place, in its entry, and every remark must be of
// the table. What the target does not support is counted. A line for each breach, then totals; exit status 1 if there
// is a breach.
#include "compiler/Driver/Compile.h"
#include "compiler/Driver/Load.h"
#include "compiler/Driver/RemarkCollector.h"
#include "compiler/Import/Json/Diagnostics.h"
#include "dialects/Model/IR/ModelPlanAttrs.h"
#include "dialects/Model/IR/Names.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "targets/Registration.h"

#include "llvm/ADT/StringExtras.h"
#include <iostream>
#include <set>

using namespace mlir;
using namespace heddle;

namespace {
/// Whether the stages after `buffers` make code of it: it has memory to fill, moves rows of a state, or goes in rounds.
bool makesCode(Operation *op) {
  if (model::scratchOf(op) || isa<model::AppendOp, model::StoreOp, model::RepeatOp>(op))
    return true;
  return llvm::any_of(op->getOpResults(), [](OpResult result) {
    model::PlaceAttr place = model::placeOf(result);
    return place && place.getKind() != model::PlaceKind::none;
  });
}

int64_t breachesOf(ModuleOp module, const RemarkCollector &collector, int64_t &ops) {
  std::set<std::pair<const void *, std::string>> places;
  int64_t breaches = 0;
  auto say = [&](const std::string &name, const llvm::Twine &what) {
    ++breaches;
    std::cout << name << ": " << what.str() << "\n";
  };
  for (const RemarkRecord &remark : collector.all()) {
    places.insert({remark.loc.getAsOpaquePointer(), remark.entry});
    const remarks::Row *row = remarks::find(remark.name);
    if (!row || !row->has(remark.kind))
      say(remark.name, "the table has no such " + remark.kindName() + " remark");
    if (remark.message.empty())
      say(remark.name, "it says nothing");
    llvm::SmallVector<llvm::StringRef> numbers;
    (row ? llvm::StringRef(row->numbers) : "").split(numbers, ' ', -1, false);
    for (const auto &[number, value] : remark.args)
      if (!llvm::is_contained(numbers, number))
        say(remark.name, "the table has no number " + number + " for it");
  }
  for (auto function : module.getOps<func::FuncOp>())
    function.walk([&](Operation *op) {
      if (op == function || !makesCode(op))
        return;
      ++ops;
      if (!places.count({op->getLoc().getAsOpaquePointer(), function.getName().str()}))
        say(op->getName().getStringRef().str(),
            "no remark at " + model::pathOf(op->getLoc()) + " in @" + function.getName());
    });
  return breaches;
}

int64_t take(const std::string &line, int64_t &ops, int64_t &remarksMade, int64_t &unsupported) {
  llvm::SmallVector<llvm::StringRef> words;
  llvm::StringRef(line).split(words, ' ');
  CompileOptions options;
  options.import.path = words[0].str();
  options.target = words[1].str();
  options.mcpu = words[2].str();
  options.dtype = words[3].str();
  std::string text;
  llvm::raw_string_ostream err(text);
  Console console{err, err};
  std::unique_ptr<MLIRContext> context = makeContext();
  int code = Ok;
  std::vector<std::unique_ptr<Target>> targets = targetsOf(console, options, code);
  OwningOpRef<ModuleOp> module = targets.empty() ? nullptr : load(console, *context, options.import, code);
  if (module && (code = setArithmetic(console, *module, options, commonFormats(targets))) == Ok) {
    model::setTarget(*module, targets[0]->describe(context.get()));
    RemarkCollector collector(*context);
    options.collector = &collector;
    code = runStages(console, *module, targets[0]->stages(), "buffers", options);
    if (code == Ok) {
      remarksMade += int64_t(collector.all().size());
      return breachesOf(*module, collector, ops);
    }
  }
  if (code == int(Exit::Unsupported)) {
    ++unsupported;
    return 0;
  }
  std::cout << line << ": not compiled: " << text << "\n";
  return 1;
}
} // namespace

int main() {
  registerPasses();
  int64_t models = 0, ops = 0, remarksMade = 0, unsupported = 0, breaches = 0;
  for (std::string line; std::getline(std::cin, line); ++models)
    breaches += take(line, ops, remarksMade, unsupported);
  std::cout << models << " models, " << unsupported << " unsupported, " << ops << " ops that make code, " << remarksMade
            << " remarks, " << breaches << " breaches\n";
  return breaches != 0 || ops == 0;
}
