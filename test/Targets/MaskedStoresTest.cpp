//===- MaskedStoresTest.cpp - what LLVM makes of masked stores ------------===//
//
// Every constant mask of one run or one lane, of every vector and element type that kernels store, compiled as a
// program's kernels are and run between guard bytes; and what one lane becomes on processors that are not here.
// LLVM 22 stores a single lane of truncated integers as wide as it was before (targets/SingleLaneStores.h).
//
//===----------------------------------------------------------------------===//

#include "targets/Host/HostMachine.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include <gtest/gtest.h>
#include <map>

using namespace heddle;

namespace {

/// A vector of `from` in memory, what `op` makes of it, and its elements as they are stored.
struct Kind {
  std::string from, op, to;
  int bytes; ///< of an element that is stored
};
const Kind kinds[] = {
    {"i32", "trunc", "i16", 2},      {"i32", "trunc", "i8", 1},         {"i16", "trunc", "i8", 1},
    {"i64", "trunc", "i32", 4},      {"i64", "trunc", "i16", 2},        {"i64", "trunc", "i8", 1},
    {"float", "fptrunc", "half", 2}, {"double", "fptrunc", "float", 4}, {"i8", "freeze", "i8", 1},
    {"i16", "freeze", "i16", 2},     {"i32", "freeze", "i32", 4},       {"i64", "freeze", "i64", 8},
    {"float", "freeze", "float", 4}, {"half", "freeze", "half", 2},     {"bfloat", "freeze", "bfloat", 2}};

struct Case {
  const Kind *kind;
  int lanes;
  std::vector<bool> mask;
  std::string name;
};

std::vector<Case> allCases() {
  std::vector<Case> out;
  for (const Kind &kind : kinds)
    for (int lanes : {4, 8, 16, 32}) {
      auto add = [&](auto seen) {
        std::vector<bool> mask(lanes);
        for (int i = 0; i < lanes; ++i)
          mask[i] = seen(i);
        out.push_back({&kind, lanes, mask, "f" + std::to_string(out.size())});
      };
      for (int n = 0; n <= lanes; ++n)
        add([&](int i) { return i < n; });
      for (int k = 1; k < lanes; ++k)
        add([&](int i) { return i == k; });
      add([&](int i) { return i % 2 == 0; });
      add([&](int i) { return i == 1 || i == lanes - 1; });
    }
  return out;
}

/// f(from, to): the vector at `from`, converted, stored under the mask at `to`. LLVM renames the intrinsic by its
/// types.
std::string textOf(const Case &c) {
  std::string vector = "<" + std::to_string(c.lanes) + " x ", to = vector + c.kind->to + ">", mask;
  for (bool seen : c.mask)
    mask += (mask.empty() ? "i1 " : ", i1 ") + std::to_string(seen);
  std::string type = llvm::StringSwitch<std::string>(c.kind->to)
                         .Case("float", "f32")
                         .Case("half", "f16")
                         .Case("bfloat", "bf16")
                         .Default(c.kind->to);
  std::string store = "@llvm.masked.store.v" + std::to_string(c.lanes) + type + ".p0";
  return "define void @" + c.name + "(ptr %from, ptr %to) {\n  %x = load " + vector + c.kind->from +
         ">, ptr %from, align 1\n  %y = " + c.kind->op + " " + vector + c.kind->from + "> %x" +
         (c.kind->op == "freeze" ? "" : " to " + to) + "\n  call void " + store + "(" + to + " %y, ptr align " +
         std::to_string(c.kind->bytes) + " %to, " + vector + "i1> <" + mask + ">)\n  ret void\n}\n";
}

/// What `emit` makes of the cases for a processor; empty with a failure.
std::string emitted(llvm::ArrayRef<Case> cases, const std::string &mcpu, host::Output kind) {
  llvm::InitializeAllTargets();
  llvm::InitializeAllTargetMCs();
  llvm::InitializeAllAsmPrinters();
  std::string text, error;
  llvm::StringSet<> declared;
  for (const Case &c : cases) {
    std::string code = textOf(c);
    size_t at = code.find("@llvm.masked.store");
    std::string name = code.substr(at, code.find('(', at) - at);
    std::string vector = "<" + std::to_string(c.lanes) + " x ";
    if (declared.insert(name).second)
      text += "declare void " + name + "(" + vector + c.kind->to + ">, ptr, " + vector + "i1>)\n";
    text += code;
  }
  host::CodeContext context;
  llvm::SMDiagnostic wrong;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, wrong, context.llvm);
  std::optional<host::Machine> target = host::Machine::resolve(mcpu, error);
  std::unique_ptr<llvm::TargetMachine> machine = target ? target->machine(error) : nullptr;
  if (!module || !machine) {
    ADD_FAILURE() << (machine ? wrong.getMessage().str() : error);
    return "";
  }
  module->setTargetTriple(machine->getTargetTriple());
  module->setDataLayout(machine->createDataLayout());
  for (llvm::Function &f : *module) {
    f.addFnAttr("target-cpu", machine->getTargetCPU());
    f.addFnAttr("target-features", machine->getTargetFeatureString());
    f.addFnAttr("prefer-vector-width", "512");
  }
  host::optimise(*module, *machine);
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream os(bytes);
  EXPECT_TRUE(host::emit(*module, *machine, kind, os, error)) << error;
  return bytes.str().str();
}

TEST(MaskedStores, LeaveTheirNeighboursAlone) {
  std::vector<Case> cases = allCases();
  std::string object = emitted(cases, "native", host::Output::Object);
  auto jit = llvm::orc::LLJITBuilder().create();
  ASSERT_TRUE(bool(jit)) << llvm::toString(jit.takeError());
  ASSERT_FALSE(bool((*jit)->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(object))));
  alignas(64) uint8_t from[256], whole[384], got[384], want[384];
  for (size_t i = 0; i < sizeof from; ++i) // as reals: between 0.5 and 2 in magnitude
    from[i] = i % 8 == 7 || i % 4 == 3 ? 0x3f : i % 2 ? 0x38 + i % 3 : uint8_t(i * 37 + 11);
  int wrong = 0;
  std::map<std::pair<const Kind *, int>, void (*)(const void *, void *)> full;
  for (const Case &c : cases)
    if (llvm::all_of(c.mask, [](bool seen) { return seen; }))
      full[{c.kind, c.lanes}] = llvm::cantFail((*jit)->lookup(c.name)).toPtr<void (*)(const void *, void *)>();
  for (const Case &c : cases) {
    auto run = llvm::cantFail((*jit)->lookup(c.name)).toPtr<void (*)(const void *, void *)>();
    for (uint8_t *memory : {whole, got, want})
      memset(memory, 0xa5, sizeof got);
    full[{c.kind, c.lanes}](from, whole + 64);
    run(from, got + 64);
    for (int i = 0; i < c.lanes; ++i)
      if (c.mask[i])
        memcpy(want + 64 + i * c.kind->bytes, whole + 64 + i * c.kind->bytes, c.kind->bytes);
    if (memcmp(got, want, sizeof got) != 0 && ++wrong < 10)
      ADD_FAILURE() << c.lanes << " x " << c.kind->from << " to " << c.kind->to << ", " << llvm::count(c.mask, true)
                    << " lanes from " << llvm::find(c.mask, true) - c.mask.begin();
  }
  EXPECT_EQ(wrong, 0) << "of " << cases.size();
}

/// On processors that are not here: one lane is stored by an instruction of its width.
TEST(MaskedStores, OneLaneIsAsWideAsItsElement) {
  std::vector<Case> cases;
  for (const Case &c : allCases())
    if (c.kind->op == "trunc" && llvm::count(c.mask, true) == 1)
      cases.push_back(c);
  for (const char *mcpu : {"x86-64-v4", "znver4", "sapphirerapids", "skylake-avx512"}) {
    llvm::SmallVector<llvm::StringRef> lines;
    std::string assembly = emitted(cases, mcpu, host::Output::Assembly);
    llvm::StringRef(assembly).split(lines, '\n');
    std::map<std::string, const Case *> named;
    for (const Case &c : cases)
      named[c.name] = &c;
    const Case *now = nullptr;
    size_t stores = 0;
    for (llvm::StringRef line : lines) {
      line = line.split('#').first.trim();
      if (line.ends_with(":"))
        if (auto it = named.find(line.drop_back().str()); it != named.end())
          now = it->second;
      if (!now || !line.ends_with("(%rsi)") || line.starts_with("."))
        continue;
      llvm::StringRef word = line.split('\t').first;
      bool fits = llvm::is_contained(
          now->kind->bytes == 1   ? std::vector<llvm::StringRef>{"movb", "vpextrb"}
          : now->kind->bytes == 2 ? std::vector<llvm::StringRef>{"movw", "vpextrw"}
                                  : std::vector<llvm::StringRef>{"movl", "vmovd", "vmovss", "vpextrd", "vextractps"},
          word);
      EXPECT_TRUE(fits) << mcpu << ": " << now->lanes << " x " << now->kind->from << " to " << now->kind->to << ": "
                        << line.str();
      ++stores;
    }
    EXPECT_EQ(stores, cases.size()) << mcpu;
  }
}

} // namespace
