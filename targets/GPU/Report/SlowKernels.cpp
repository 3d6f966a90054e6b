//===- SlowKernels.cpp - products that a device has no tiles for -----------===//

#include "targets/GPU/Report/SlowKernels.h"
#include "compiler/Conversion/ToKernels/Launch.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "targets/GPU/Report/KernelReport.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using namespace mlir;
using namespace heddle;
using heddle::kernels::Launch;

namespace {
struct Reason {
  StringRef word;    ///< Cost::untiled
  StringRef why;     ///< "its numbers are f16"
  StringRef instead; ///< "" where no option helps
};
} // namespace

static constexpr Reason kReasons[] = {
    {"f16", "tiles multiply f32 and bf16, not f16", "use --dtype=bf16"},
    {"wide", "--math=wide multiplies bf16 as f32", "use --math=dots, which a device has by default"},
    {"width", "heads are more than 256 wide", ""},
    {"classes", "the mask is strided or dilated", ""},
    {"mean", "a row that sees nothing has the mean of all values", ""},
    {"counted", "the mask counts keys", ""},
    {"bias", "the bias of a score is a product", ""},
};

/// Ops by name, then the number of them at a place. An op has launches in several entries; ops of one level share one.
using Places = llvm::MapVector<StringRef, std::map<StringRef, int64_t>>;

static int64_t total(const std::map<StringRef, int64_t> &places) {
  int64_t sum = 0;
  for (const auto &[place, count] : places)
    sum += count;
  return sum;
}

/// Of the launches for `chip`: the words of why there are no tiles, and the places of the ops.
static void collect(ModuleOp module, StringRef chip, llvm::SetVector<StringRef> &words, Places &places,
                    std::vector<Launch> &kept) {
  for (auto f : module.getOps<LLVM::LLVMFuncOp>()) {
    if (!tile::isFor(f, chip))
      continue;
    llvm::append_range(kept, Launch::of(f));
  }
  for (const Launch &launch : kept) {
    std::map<StringRef, int64_t> here;
    for (const loops::Cost &cost : launch.costs)
      if (!cost.untiled.empty()) {
        words.insert(cost.untiled);
        ++here[cost.op];
      }
    for (const auto &[op, count] : here)
      places[op][launch.place] = std::max(places[op][launch.place], count);
  }
}

/// "; on H100 entry 'step' takes at least 12.000 ms, 24.0 times as long as with tiles", of the entry that loses most;
/// "" if no bound is known.
static std::string factor(ModuleOp module, StringRef ptx, StringRef chip) {
  std::string error;
  std::optional<llvm::json::Object> report = heddle::gpu::report(module, ptx, chip, {}, "", error);
  if (!report || !ptx.contains(".entry"))
    return "";
  const llvm::json::Object *worst = nullptr;
  auto loses = [](const llvm::json::Object &entry) {
    double tiled = *entry.getNumber("tiled_us");
    return tiled > 0 ? *entry.getNumber("bound_us") / tiled : 1;
  };
  for (const llvm::json::Value &entry : *report->getArray("entries"))
    if (!worst || loses(*entry.getAsObject()) > loses(*worst))
      worst = entry.getAsObject();
  if (!worst)
    return "";
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::format("; on %s entry '%s' takes at least %.3f ms, %.1f times as long as with tiles",
                     report->getString("product")->str().c_str(), worst->getString("entry")->str().c_str(),
                     *worst->getNumber("bound_us") / 1e3, loses(*worst));
  return text;
}

std::string heddle::gpu::noteOnSlowKernels(ModuleOp module, StringRef ptx, StringRef chip) {
  llvm::SetVector<StringRef> words;
  Places places;
  std::vector<Launch> launches;
  collect(module, chip, words, places, launches);
  if (words.empty())
    return "";
  std::string what, why, instead;
  int64_t count = 0;
  for (const auto &[op, where] : places) {
    int64_t ops = total(where);
    count += ops;
    what += (what.empty() ? "" : " and ") + std::to_string(ops) + (op == "sdpa" ? " attention" : " " + op.str()) +
            (ops == 1 ? "" : "s");
  }
  for (StringRef word : words) {
    const Reason *reason = llvm::find_if(kReasons, [&](const Reason &r) { return r.word == word; });
    assert(reason != std::end(kReasons) && "a reason without a sentence");
    why += (why.empty() ? "" : "; ") + reason->why.str();
    if (!reason->instead.empty())
      instead += (instead.empty() ? "" : ", ") + reason->instead.str();
  }
  return what + (count == 1 ? " has" : " have") + " no tiles on a device (" + why + ")" + factor(module, ptx, chip) +
         "; " + (instead.empty() ? "no option changes that" : instead) + " (--report shows each kernel)";
}
