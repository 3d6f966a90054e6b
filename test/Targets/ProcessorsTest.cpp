//===- ProcessorsTest.cpp - what code uses, a binary asks for -------------===//
//
// The bits of every processor that LLVM knows: after the compiler's choice each is asked for at the
// start, belongs to every x86-64, or says only what is fast. And what the runtime finds on this machine
// is what LLVM finds.
//
//===----------------------------------------------------------------------===//
#include "runtime/Core/Cpu.h"
#include "targets/Host/HostMachine.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/TargetParser/Host.h"
#include <gtest/gtest.h>
#include <map>

using namespace heddle;
using llvm::StringRef;

namespace {

/// Of x86.
const StringRef kAsked[] = {
#define HEDDLE_CPU_FEATURE(name, ...) name,
#include "heddle/cpu_features.def"
};

/// Bits that name no instruction that another x86-64 lacks. A bit of a newer LLVM that is not here wants to be looked
/// at.
bool harmlessOnX86(StringRef bit) {
  static const StringRef known[] = {
      "64bit", "64bit-mode", "cmov", "cx8", "fxsr", "mmx", "sse", "sse2", "x87", "nopl", "evex512", "vzeroupper",
      "allow-light-256-bit", "branch-hint", "branchfusion", "macrofusion", "ermsb", "fsrm", "faster-shift-than-shuffle",
      "idivl-to-divb", "idivq-to-divl", "lea-sp", "lea-uses-ag", "pad-short-functions", "sbb-dep-breaking",
      // Unaligned operands in memory, which a bit of MXCSR allows: AMD's alone, since its tenth family.
      "sse-unaligned-mem", "tuning-fast-imm-vector-shift", "use-glm-div-sqrt-costs", "use-slm-arith-costs"};
  static const StringRef families[] = {"fast-", "slow-", "false-deps-", "no-bypass-delay", "prefer-"};
  return llvm::is_contained(known, bit) || llvm::any_of(families, [&](StringRef f) { return bit.starts_with(f); });
}

/// The same of aarch64: system registers, what is fast, and what is done for one processor, under its name.
bool harmlessOnArm(StringRef bit) {
  static const StringRef known[] = {"neon",
                                    "fp-armv8",
                                    "v8a",
                                    "el3",
                                    "el2vmsa",
                                    "CONTEXTIDREL2",
                                    "addr-lsl-slow-14",
                                    "alu-lsl-fast",
                                    "alternate-sextload-cvt-f32-pattern",
                                    "arith-bcc-fusion",
                                    "arith-cbz-fusion",
                                    "avoid-ldapur",
                                    "balance-fp-ops",
                                    "cmp-bcc-fusion",
                                    "disable-latency-sched-heuristic",
                                    "disable-maximize-scalable-bandwidth",
                                    "disable-unpredicated-ld-st-lower",
                                    "enable-select-opt",
                                    "force-32bit-jump-tables",
                                    "ldp-aligned-only",
                                    "max-interleave-factor-4",
                                    "no-sve-fp-ld1r",
                                    "no-zcz-fpr64",
                                    "predictable-select-expensive",
                                    "slow-strqro-store",
                                    "store-pair-suppress",
                                    "stp-aligned-only",
                                    "strict-align",
                                    "use-fixed-over-scalable-if-equal-cost",
                                    "use-postra-scheduler",
                                    "use-wzr-to-vec-move"};
  static const StringRef families[] = {"aggressive-", "fuse-", "zcm-", "zcz-"};
  static const StringRef processors[] = {"a3",   "a5",       "a6",      "a7",      "ampere",  "apple-",
                                         "c1-",  "carmel",   "cortex-", "exynos",  "falkor",  "fujitsu-",
                                         "kryo", "neoverse", "olympus", "saphira", "thunder", "tsv110"};
  auto begins = [&](StringRef f) { return bit.starts_with(f); };
  return llvm::is_contained(known, bit) || llvm::any_of(families, begins) || llvm::any_of(processors, begins);
}

bool x86() { return llvm::Triple(llvm::sys::getDefaultTargetTriple()).isX86(); }

TEST(Processors, WhatCodeUsesIsAskedFor) {
  std::map<StringRef, size_t> seen; // names, by architecture
  for (const std::string &name : host::processorNames()) {
    std::string error;
    std::optional<host::Machine> target = host::Machine::resolve(name, error);
    ASSERT_TRUE(target) << name << ": " << error;
    std::unique_ptr<llvm::TargetMachine> machine = target->machine(error);
    ASSERT_TRUE(machine) << name << ": " << error;
    bool arm = machine->getTargetTriple().isAArch64();
    ++seen[target->processor.architecture->name];
    const llvm::MCSubtargetInfo *bits = machine->getMCSubtargetInfo();
    for (const llvm::SubtargetFeatureKV &f : bits->getAllProcessorFeatures())
      if (bits->getFeatureBits()[f.Value])
        EXPECT_TRUE(llvm::is_contained(target->processor.needs, f.Key) ||
                    (arm ? harmlessOnArm(f.Key) : harmlessOnX86(f.Key)))
            << name << " uses " << std::string(f.Key);
  }
  EXPECT_GT(seen["x86_64"], 50u);
  EXPECT_GT(seen["aarch64"], 50u);
}

TEST(Processors, KnownOnesAskForWhatTheyAre) {
  if (!x86())
    GTEST_SKIP() << "not x86";
  std::string error;
  auto needs = [&](StringRef name) { return host::findProcessor(name, error)->needsText(); };
  EXPECT_EQ(needs("x86-64"), "");
  EXPECT_EQ(needs("x86-64-v2"), "sse3 ssse3 sse4.1 sse4.2 popcnt cx16 sahf");
  EXPECT_EQ(needs("x86-64-v3"), "sse3 ssse3 sse4.1 sse4.2 popcnt cx16 movbe sahf lzcnt bmi bmi2 avx f16c fma avx2");
  EXPECT_EQ(needs("x86-64-v4"), needs("x86-64-v3") + " avx512f avx512cd avx512vl avx512bw avx512dq");
  std::string newest = needs("diamondrapids");
  for (StringRef f : {"avx512fp16", "avx512bf16", "avxifma", "avxneconvert", "avxvnniint16", "gfni"})
    EXPECT_NE(newest.find(f.str()), std::string::npos) << f.str() << " of " << newest;
}

TEST(Processors, PairsOfBf16AreTakenWhereTheyGain) {
  auto pairs = [](StringRef cpu, std::vector<StringRef> features) {
    return host::pairsBesideFma(cpu, [&](StringRef f) { return llvm::is_contained(features, f); });
  };
  // A virtual machine that hides matrix registers leaves an Intel core with vdpbf16ps at half of FMA.
  for (StringRef intel : {"cooperlake", "sapphirerapids", "emeraldrapids", "graniterapids", "graniterapids-d"}) {
    EXPECT_LT(pairs(intel, {"avx512bf16"}), 1) << intel.str();
    EXPECT_GT(pairs(intel, {"avx512bf16", "amx-tile", "amx-bf16"}), 1) << intel.str();
  }
  EXPECT_GT(pairs("znver4", {"avx512bf16"}), 1);
  EXPECT_GT(pairs("znver5", {"avx512bf16"}), 1);
  EXPECT_LE(pairs("generic", {"avx512bf16"}), 1);
  if (!x86())
    return;
  std::string error;
  for (StringRef name : {"znver4", "znver5", "sapphirerapids"})
    EXPECT_GT(host::findProcessor(name, error)->vectors.pairs, 1) << name.str();
  // Without vdpbf16ps, or without vpermi2b, there are none to take.
  for (StringRef name : {"x86-64-v3", "x86-64-v4", "icelake-server", "cooperlake"})
    EXPECT_EQ(host::findProcessor(name, error)->vectors.pairs, 0) << name.str();
}

TEST(Processors, OnesOfAnotherArchitecture) {
  std::string error;
  auto of = [&](StringRef name) { return *host::findProcessor(name, error); };
  EXPECT_EQ(of("generic-aarch64").needsText(), "");
  EXPECT_EQ(of("cortex-a53").needsText(), "");
  EXPECT_EQ(of("neoverse-n1").needsText(), "lse rdm dotprod");
  EXPECT_EQ(of("neoverse-v1").needsText(), "lse rdm dotprod i8mm bf16"); // not SVE
  EXPECT_EQ(of("neoverse-v1").vectors.width, 4);
  EXPECT_EQ(of("apple-m1").vectors.registers, 32);
  std::optional<host::Machine> arm = host::Machine::resolve("cortex-a76", error);
  ASSERT_TRUE(arm) << error;
  EXPECT_TRUE(llvm::Triple(arm->triple).isAArch64());
  EXPECT_FALSE(arm->processor.architecture->isHost() && x86());
}

TEST(Processors, Refused) {
  std::string error;
  EXPECT_FALSE(host::isProcessor("skylakex"));
  EXPECT_FALSE(host::isProcessor(""));
  EXPECT_TRUE(host::isProcessor("native"));
  if (!x86())
    return;
  EXPECT_TRUE(host::isProcessor("pentium4"));
  EXPECT_FALSE(host::findProcessor("pentium", error));
  EXPECT_NE(error.find("64 bits"), std::string::npos) << error;
}

TEST(Processors, TheRuntimeFindsWhatLLVMFinds) {
  if (!x86())
    GTEST_SKIP() << "not x86";
  llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  for (StringRef f : kAsked) {
    ASSERT_TRUE(host.count(f)) << f.str() << " is no name of LLVM's";
    EXPECT_EQ(rt::missingFeatures({f.str()}).empty(), host[f]) << f.str();
  }
  EXPECT_EQ(rt::missingFeatures({"no-such-feature"}), "no-such-feature");
  std::string error;
  EXPECT_EQ(rt::missingFeatures(host::findProcessor("native", error)->needs), "");
}

} // namespace
