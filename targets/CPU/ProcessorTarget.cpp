//===- ProcessorTarget.cpp - a processor as a target ------------------------===//

#include "targets/CPU/ProcessorTarget.h"
#include "targets/CPU/CodeGen.h"
#include "targets/Card/CardText.h"

using namespace mlir;
using namespace heddle;

namespace {
class ProcessorTarget final : public Target {
public:
  explicit ProcessorTarget(cpu::CPUTarget cpu) : cpu(std::move(cpu)) {}

  llvm::StringRef name() const override { return "cpu"; }

  model::TargetAttr describe(MLIRContext *context) const override {
    const cpu::Processor &p = cpu.processor;
    StringAttr needs = p.needs.empty() ? StringAttr() : StringAttr::get(context, p.needsText());
    return model::TargetAttr::get(context, name(), p.cpu, p.vectors.width, p.vectors.registers, needs);
  }

  Formats formats() const override { return formatsOf(cpu); }
  const cpu::CPUTarget *processor() const override { return &cpu; }

  /// As it is compiled for a binary, function by function, with its card.
  bool print(ModuleOp module, llvm::StringRef what, llvm::raw_pwrite_stream &os, std::string &error) const override {
    std::unique_ptr<llvm::TargetMachine> machine = cpu.machine(error);
    cpu::CodeContext context, joined;
    std::unique_ptr<llvm::Module> all = machine ? codeOf(module, *machine, context.llvm, error) : nullptr;
    std::optional<std::string> card = all ? cardText(module, error) : std::nullopt;
    if (!card)
      return false;
    addCard(*all, *card);
    std::vector<cpu::CodePart> parts = cpu::splitFunctions(*all);
    if (!cpu::compileParts(parts, cpu, true, error) || !(all = cpu::joinParts(parts, joined.llvm, error)))
      return false;
    if (what == "asm")
      return cpu::emit(*all, *machine, cpu::Output::Assembly, os, error);
    all->print(os, nullptr);
    return true;
  }

  std::unique_ptr<llvm::Module> code(ModuleOp module, llvm::TargetMachine &host, llvm::LLVMContext &context,
                                     std::string &error, std::string &) const override {
    return codeOf(module, host, context, error);
  }

private:
  static std::unique_ptr<llvm::Module> codeOf(ModuleOp module, llvm::TargetMachine &host, llvm::LLVMContext &context,
                                              std::string &error) {
    std::unique_ptr<llvm::Module> out = cpu::translate(module, context, host);
    if (!out)
      error = "the functions could not be translated to LLVM IR";
    return out;
  }

  cpu::CPUTarget cpu;
};
} // namespace

Formats heddle::formatsOf(const cpu::CPUTarget &cpu) {
  const cpu::Vectors &v = cpu.processor.vectors;
  return {v.dots, v.pairs > 1, v.f16, /*codes=*/true};
}

std::unique_ptr<Target> heddle::makeProcessorTarget(llvm::StringRef machine, const TargetOptions &, Refusal &why) {
  if (!cpu::isProcessor(machine)) {
    why = {"",  machine.str(), "processor", "\nheddle compile --mcpu=help lists all of them.", cpu::processorNames(),
           true};
    return nullptr;
  }
  std::optional<cpu::CPUTarget> cpu = cpu::CPUTarget::resolve(machine, why.text);
  return cpu ? std::make_unique<ProcessorTarget>(std::move(*cpu)) : nullptr;
}
