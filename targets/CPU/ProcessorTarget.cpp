//===- ProcessorTarget.cpp - a processor as a target ------------------------===//

#include "targets/CPU/ProcessorTarget.h"
#include "compiler/Conversion/Lowering/CPU/CPUTiles.h"
#include "targets/CPU/ProcessorStages.h"
#include "targets/Card/CardText.h"
#include "targets/Host/CodeGen.h"

using namespace mlir;
using namespace heddle;

namespace {
class ProcessorTarget final : public Target {
public:
  explicit ProcessorTarget(host::Machine cpu) : cpu(std::move(cpu)) {}

  llvm::StringRef name() const override { return kProcessor; }
  llvm::ArrayRef<Stage> stages() const override { return processorStages(); }
  llvm::ArrayRef<OutputStage> outputs() const override { return processorOutputs(); }

  model::TargetAttr describe(MLIRContext *context) const override {
    const host::Processor &p = cpu.processor;
    StringAttr needs = p.needs.empty() ? StringAttr() : StringAttr::get(context, p.needsText());
    return model::TargetAttr::get(context, name(), p.cpu, p.vectors.width, p.vectors.registers, needs);
  }

  Formats formats() const override {
    const host::Vectors &v = cpu.processor.vectors;
    return {v.dots, v.pairs > 1, v.f16, /*codes=*/true};
  }
  const host::Machine *processor() const override { return &cpu; }

  /// As it is compiled for a binary, function by function, with its card.
  bool print(ModuleOp module, llvm::StringRef what, llvm::raw_pwrite_stream &os, std::string &error) const override {
    std::unique_ptr<llvm::TargetMachine> machine = cpu.machine(error);
    host::CodeContext context, joined;
    std::unique_ptr<llvm::Module> all = machine ? codeOf(module, *machine, context.llvm, error) : nullptr;
    if (!all)
      return false;
    addCard(*all, cardText(module));
    std::vector<host::CodePart> parts = host::splitFunctions(*all);
    if (!host::compileParts(parts, cpu, {/*stayBitcode=*/true}, error) ||
        !(all = host::joinParts(parts, joined.llvm, error)))
      return false;
    if (what == "asm")
      return host::emit(*all, *machine, host::Output::Assembly, os, error);
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
    std::unique_ptr<llvm::Module> out = host::translate(module, context, host);
    if (!out)
      error = "the functions could not be translated to LLVM IR";
    return out;
  }

  host::Machine cpu;
};
} // namespace

void heddle::registerProcessorTiles(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *, model::ModelDialect *dialect) {
    plan::Targets::of(dialect).add(kProcessor, std::make_unique<loops::CPUTiles>());
  });
}

std::unique_ptr<Target> heddle::makeProcessorTarget(llvm::StringRef machine, const TargetOptions &, Refusal &why) {
  if (!host::isProcessor(machine)) {
    why = {"",  machine.str(), "processor", "\nheddle compile --mcpu=help lists all of them.", host::processorNames(),
           true};
    return nullptr;
  }
  std::optional<host::Machine> cpu = host::Machine::resolve(machine, why.text);
  return cpu ? std::make_unique<ProcessorTarget>(std::move(*cpu)) : nullptr;
}
