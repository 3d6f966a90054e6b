//===- Kernels.cpp - machine code of functions, disassembled --------------===//
//
// Reads the object files that the linker gets, so that the report shows the code that runs, also where it came out of a
// cache. Branches inside of a function get labels, calls the names that their relocations have.
//
//===----------------------------------------------------------------------===//

#include "compiler/Report/Kernels.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrAnalysis.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ObjectFile.h"
#include <set>

using namespace heddle;
using namespace heddle::report;
using llvm::StringRef;

// Of the two architectures that programs are made for (targets/Host/Architectures.cpp).
extern "C" {
void LLVMInitializeX86Disassembler();
void LLVMInitializeAArch64Disassembler();
}

namespace {
/// One instruction.
struct Instruction {
  uint64_t address = 0;
  std::string text;
  StringRef kind;
  std::optional<uint64_t> target; ///< where it branches to in its function
};

/// What is needed to read code of one architecture.
class Disassembler {
public:
  static std::unique_ptr<Disassembler> of(const llvm::Triple &triple);
  std::vector<Instruction> read(llvm::ArrayRef<uint8_t> code, uint64_t address,
                                const std::map<uint64_t, std::string> &names) const;

private:
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCAsmInfo> assembly;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<llvm::MCDisassembler> decoder;
  std::unique_ptr<llvm::MCInstPrinter> printer;
  std::unique_ptr<llvm::MCInstrAnalysis> analysis;
};
} // namespace

std::unique_ptr<Disassembler> Disassembler::of(const llvm::Triple &triple) {
  triple.isAArch64() ? LLVMInitializeAArch64Disassembler() : LLVMInitializeX86Disassembler();
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  auto made = std::make_unique<Disassembler>();
  made->registers.reset(target->createMCRegInfo(triple));
  made->assembly.reset(target->createMCAsmInfo(*made->registers, triple, llvm::MCTargetOptions()));
  made->subtarget.reset(target->createMCSubtargetInfo(triple, "", triple.isAArch64() ? "+all" : ""));
  made->instructions.reset(target->createMCInstrInfo());
  made->context =
      std::make_unique<llvm::MCContext>(triple, made->assembly.get(), made->registers.get(), made->subtarget.get());
  made->decoder.reset(target->createMCDisassembler(*made->subtarget, *made->context));
  if (!made->decoder)
    return nullptr;
  made->printer.reset(target->createMCInstPrinter(triple, made->assembly->getAssemblerDialect(), *made->assembly,
                                                  *made->instructions, *made->registers));
  made->printer->setPrintBranchImmAsAddress(true);
  made->analysis.reset(target->createMCInstrAnalysis(made->instructions.get()));
  return made;
}

/// What an instruction is for, by its word and what LLVM knows of it.
static StringRef kindOf(StringRef word, const llvm::MCInstrDesc &what) {
  StringRef plain = word;
  plain.consume_front("v");
  bool product = plain.starts_with("fmadd") || plain.starts_with("fmsub") || plain.starts_with("fnmadd") ||
                 plain.starts_with("fnmsub") || plain.starts_with("dp") || plain.starts_with("tdp") ||
                 plain.starts_with("pdp") || plain.starts_with("fmla") || plain.starts_with("fmls") ||
                 plain.starts_with("bfdot") || plain.starts_with("sdot") || plain.starts_with("mulps") ||
                 plain.starts_with("pmaddubsw");
  if (product)
    return "product";
  if (what.isCall() || what.isBranch() || what.isReturn() || what.isBarrier())
    return "control";
  if (word.starts_with("prefetch") || word == "prfm")
    return "prefetch";
  if (what.mayStore())
    return "store";
  bool vector = word.starts_with("v") || (word.starts_with("k") && !what.mayLoad());
  bool moves = plain.starts_with("mov") || plain.starts_with("broadcast") || plain.starts_with("pbroadcast") ||
               plain.starts_with("gather") || plain.starts_with("pmov") || plain.starts_with("perm") ||
               plain.starts_with("shuf") || plain.starts_with("unpck") || plain.starts_with("ld");
  if (what.mayLoad() && (moves || !vector))
    return "load";
  if (moves)
    return "move";
  return vector ? "vector" : "scalar";
}

std::vector<Instruction> Disassembler::read(llvm::ArrayRef<uint8_t> code, uint64_t address,
                                            const std::map<uint64_t, std::string> &names) const {
  std::vector<Instruction> all;
  for (uint64_t at = 0, size = 0; at < code.size(); at += std::max<uint64_t>(size, 1)) {
    llvm::MCInst decoded;
    size = 0;
    Instruction one;
    one.address = address + at;
    if (decoder->getInstruction(decoded, size, code.drop_front(at), one.address, llvm::nulls()) ==
        llvm::MCDisassembler::Fail) {
      one.text = ".byte " + llvm::utohexstr(code[at]);
      one.kind = "scalar";
      all.push_back(std::move(one));
      continue;
    }
    const llvm::MCInstrDesc &what = instructions->get(decoded.getOpcode());
    llvm::raw_string_ostream os(one.text);
    printer->printInst(&decoded, one.address, "", *subtarget, os);
    std::string words;
    for (char c : StringRef(one.text).trim())
      words += c == '\t' ? ' ' : c;
    one.text = std::move(words);
    StringRef word = StringRef(one.text).split(' ').first;
    one.kind = kindOf(word, what);
    uint64_t target = 0;
    if (what.isBranch() && analysis && analysis->evaluateBranch(decoded, one.address, size, target) &&
        target >= address && target < address + code.size())
      one.target = target;
    auto name = names.lower_bound(one.address);
    if (name != names.end() && name->first < one.address + size && (what.isCall() || what.isBranch())) {
      one.text = (word + " " + name->second).str();
      one.target.reset();
    }
    all.push_back(std::move(one));
  }
  while (!all.empty() && StringRef(all.back().text).starts_with("nop")) // padding between functions
    all.pop_back();
  return all;
}

/// The innermost loop with the most products that stores nothing: [first, end) of the instructions.
static std::pair<size_t, size_t> innerLoop(llvm::ArrayRef<Instruction> code,
                                           const llvm::DenseMap<uint64_t, size_t> &indexOf) {
  std::pair<size_t, size_t> best;
  int64_t most = 0;
  for (auto [i, end] : llvm::enumerate(code)) {
    auto begin = end.target ? indexOf.find(*end.target) : indexOf.end();
    if (begin == indexOf.end() || begin->second > i)
      continue;
    int64_t products = 0;
    bool plain = true;
    for (const Instruction &inside : code.slice(begin->second, i - begin->second)) {
      products += inside.kind == "product";
      bool back = inside.target && *inside.target <= inside.address; // a loop inside of this one
      plain &= !back && inside.kind != "store";
    }
    if (plain && products > most) {
      most = products;
      best = {begin->second, i + 1};
    }
  }
  return best;
}

static Kernel kernelOf(llvm::ArrayRef<Instruction> code) {
  Kernel kernel;
  std::set<uint64_t> targets;
  llvm::DenseMap<uint64_t, size_t> indexOf;
  for (auto [i, one] : llvm::enumerate(code)) {
    indexOf[one.address] = i;
    if (one.target)
      targets.insert(*one.target);
    ++kernel.all[one.kind.str()];
  }
  kernel.instructions = int64_t(code.size());
  auto labelOf = [&](uint64_t target) {
    return ".L" + std::to_string(std::distance(targets.begin(), targets.find(target)));
  };
  std::pair<size_t, size_t> inner = innerLoop(code, indexOf);
  for (auto [i, one] : llvm::enumerate(code)) {
    if (i == inner.first && inner.second)
      kernel.innerLines.first = kernel.text.size();
    if (targets.count(one.address))
      kernel.text.push_back(labelOf(one.address) + ":");
    StringRef word = StringRef(one.text).split(' ').first;
    kernel.text.push_back("\t" + (one.target ? (word + " " + labelOf(*one.target)).str() : one.text));
    if (i < inner.second && i >= inner.first)
      ++kernel.inner[one.kind.str()];
    if (i + 1 == inner.second)
      kernel.innerLines.second = kernel.text.size();
  }
  return kernel;
}

/// The names that relocations of `section` refer to, by their places in it.
static std::map<uint64_t, std::string> relocatedNames(const llvm::object::ObjectFile &object,
                                                      const llvm::object::SectionRef &section) {
  std::map<uint64_t, std::string> names;
  for (const llvm::object::SectionRef &other : object.sections()) {
    llvm::Expected<llvm::object::section_iterator> relocated = other.getRelocatedSection();
    if (!relocated) {
      llvm::consumeError(relocated.takeError());
      continue;
    }
    if (*relocated == object.section_end() || **relocated != section)
      continue;
    for (const llvm::object::RelocationRef &relocation : other.relocations()) {
      llvm::object::symbol_iterator symbol = relocation.getSymbol();
      if (symbol == object.symbol_end())
        continue;
      if (llvm::Expected<StringRef> name = symbol->getName())
        names[relocation.getOffset()] = name->str();
      else
        llvm::consumeError(name.takeError());
    }
  }
  return names;
}

/// Reads the function of an object file.
static void readObject(const host::CodePart &part, std::unique_ptr<Disassembler> &disassembler,
                       std::map<std::string, Kernel> &kernels) {
  llvm::MemoryBufferRef bytes(StringRef(part.bytes.data(), part.bytes.size()), part.name);
  auto object = llvm::object::ObjectFile::createObjectFile(bytes);
  if (!object)
    return llvm::consumeError(object.takeError());
  if (!disassembler)
    disassembler = Disassembler::of((*object)->makeTriple());
  for (const llvm::object::SectionRef &section : (*object)->sections()) {
    if (!disassembler || !section.isText() || section.getSize() == 0)
      continue;
    llvm::Expected<StringRef> contents = section.getContents();
    if (!contents) {
      llvm::consumeError(contents.takeError());
      continue;
    }
    llvm::ArrayRef<uint8_t> code(reinterpret_cast<const uint8_t *>(contents->data()), contents->size());
    Kernel kernel = kernelOf(disassembler->read(code, section.getAddress(), relocatedNames(**object, section)));
    kernel.bytes = int64_t(code.size());
    kernel.cpuMs = part.seconds * 1e3;
    if (kernel.instructions > kernels[part.name].instructions) // of several sections the largest
      kernels[part.name] = std::move(kernel);
  }
}

std::map<std::string, Kernel> report::kernelsOf(llvm::ArrayRef<host::CodePart> parts) {
  std::map<std::string, Kernel> kernels;
  std::unique_ptr<Disassembler> disassembler;
  for (const host::CodePart &part : parts)
    if (!part.name.empty())
      readObject(part, disassembler, kernels);
  return kernels;
}
