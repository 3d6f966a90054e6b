//===- Processors.cpp - the processors that code is made for --------------===//

#include "targets/Host/Processors.h"
#include "heddle/tiles.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"

using namespace heddle::host;
using llvm::StringRef;

/// LLVM's feature bits of a processor; the name "" knows all names and features.
static std::unique_ptr<llvm::MCSubtargetInfo> bitsOf(const Architecture &architecture, StringRef cpu,
                                                     StringRef features) {
  architecture.load();
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(architecture.triple(), error);
  return std::unique_ptr<llvm::MCSubtargetInfo>(
      target ? target->createMCSubtargetInfo(architecture.triple(), cpu, features) : nullptr);
}

/// The names of the bits that are set.
static std::vector<StringRef> enabled(const llvm::MCSubtargetInfo &bits) {
  std::vector<StringRef> names;
  for (const llvm::SubtargetFeatureKV &f : bits.getAllProcessorFeatures())
    if (bits.getFeatureBits()[f.Value])
      names.push_back(f.Key);
  return names;
}

/// Whose processor this is: the first architecture that knows the name.
static const Architecture *ownerOf(StringRef mcpu) {
  std::vector<const Architecture *> all = architectures();
  auto it = llvm::find_if(all, [&](const Architecture *a) {
    std::unique_ptr<llvm::MCSubtargetInfo> bits = bitsOf(*a, "", "");
    return mcpu == "native" ? a->isHost() : mcpu == a->least || (bits && bits->isCPUStringValid(mcpu));
  });
  return it == all.end() ? nullptr : *it;
}

/// What vdpbf16ps gives next to an FMA, by the beginning of LLVM's name. Zen 4 and 5 start as many of both in a cycle,
/// and a vdpbf16ps has two products a lane. Intel's cores reach half of the multiply-adds of f32 (Emerald Rapids
/// measured: 87 beside 178 GFLOP/s of one core), which their matrix registers hide unless a virtual machine hides
/// these.
static constexpr std::pair<StringRef, double> kPairs[] = {
    {"znver", 2.0},         {"cooperlake", 0.5},    {"sapphirerapids", 0.5},
    {"emeraldrapids", 0.5}, {"graniterapids", 0.5}, {"diamondrapids", 0.5},
};
/// Of a name that the table lacks: no gain is known.
static constexpr double kPairsUnknown = 1.0;
/// Of matrix registers (tdpbf16ps): 16 x 16 sums of 32 products in 16 cycles, where two FMAs a cycle make 512 products.
static constexpr double kPairsOfMatrix = 16.0;

double heddle::host::pairsBesideFma(StringRef cpu, llvm::function_ref<bool(StringRef)> has) {
  if (has("amx-bf16") && has("amx-tile"))
    return kPairsOfMatrix;
  for (auto &[prefix, pairs] : kPairs)
    if (cpu.starts_with(prefix))
      return pairs;
  return kPairsUnknown;
}

std::string Processor::needsText() const { return llvm::join(needs, " "); }

std::vector<std::string> heddle::host::processorNames() {
  std::vector<std::string> names = {"native"};
  for (const Architecture *architecture : architectures())
    for (StringRef name : architecture->names())
      names.push_back(name.str());
  return names;
}

bool heddle::host::isProcessor(StringRef mcpu) { return mcpu == "native" || ownerOf(mcpu); }

/// Three steps: the feature bits of the processor; those that a binary can ask
/// for; the width of its vectors and what the kernels want to know.
std::optional<Processor> heddle::host::findProcessor(StringRef mcpu, std::string &error) {
  const Architecture *architecture = ownerOf(mcpu);
  if (!architecture) {
    error = "there is no code for " + (mcpu == "native" ? llvm::sys::getDefaultTargetTriple() : mcpu.str());
    return std::nullopt;
  }
  Processor p{architecture, mcpu.str(), "", {}, {}};
  llvm::SubtargetFeatures features;
  if (mcpu == architecture->least)
    p.cpu = architecture->leastOfLLVM.str();
  if (mcpu == "native") {
    p.cpu = llvm::sys::getHostCPUName().str();
    // A virtual machine may hide features of the named processor: use what is really there.
    for (auto &f : llvm::sys::getHostCPUFeatures())
      features.AddFeature(f.first(), f.second && (!f.first().starts_with("amx-") || heddle::mayUseTiles()));
  }
  std::unique_ptr<llvm::MCSubtargetInfo> bits = bitsOf(*architecture, p.cpu, features.getString());
  if (!bits) {
    error = "LLVM has no code generator for " + architecture->name.str();
    return std::nullopt;
  }
  if (!architecture->needed.empty() && !bits->checkFeatures("+" + architecture->needed.str())) {
    error = "'" + mcpu.str() + "' has no 64 bits, and the code needs them; the least that there is, is " +
            architecture->least.str();
    return std::nullopt;
  }
  std::vector<StringRef> has = enabled(*bits);
  auto cannotBeAsked = [&](StringRef f) { return architecture->cannotBeAsked(f); };
  for (StringRef f : llvm::make_filter_range(has, cannotBeAsked))
    features.AddFeature(f, false);
  p.features = features.getString();
  bits = bitsOf(*architecture, p.cpu, p.features);
  std::vector<StringRef> left = enabled(*bits);
  if (auto it = llvm::find_if(left, cannotBeAsked); it != left.end()) {
    error = "code for '" + mcpu.str() + "' uses " + it->str() + ", and a binary cannot ask whether a machine has it";
    return std::nullopt;
  }
  for (StringRef f : architecture->asked)
    if (llvm::is_contained(left, f))
      p.needs.push_back(f.str());
  auto isAsked = [&](StringRef f) { return llvm::is_contained(p.needs, f); };
  p.vectors = architecture->vectors(isAsked);
  p.vectors.pairs = p.vectors.dots ? pairsBesideFma(p.cpu, isAsked) : 0;
  return p;
}

std::string heddle::host::describeProcessors() {
  std::string text, error;
  llvm::raw_string_ostream os(text);
  llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  os << "processor         f32 at once   bf16     this machine\n";
  for (const std::string &name : processorNames()) {
    std::optional<Processor> p = findProcessor(name, error);
    if (!p)
      continue;
    std::string lacks;
    if (!p->architecture->isHost())
      lacks = "is for " + p->architecture->name.str();
    for (const std::string &f : p->needs)
      if (p->architecture->isHost() && !host.lookup(f))
        lacks += (lacks.empty() ? "lacks " : ", ") + f;
    os << llvm::left_justify(name, 18) << llvm::left_justify(std::to_string(p->vectors.width), 14)
       << llvm::left_justify(p->vectors.pairs > 1 ? "dots" : "wide", 9)
       << (name == "native" ? "is " + p->cpu
           : lacks.empty()  ? "runs it"
                            : lacks)
       << "\n";
  }
  return text;
}
