//===- Target.h - what the driver asks of a target --------------*- C++ -*-===//
//
// A target takes a module of stage `llvm` that was made for it and gives text, or what a program holds of it beside
// weights and card. What plans ask is in compiler/Plan/Target.h, what lowerings ask in Lowering: this is the rest,
// for the driver.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TARGETS_TARGET_H
#define HEDDLE_TARGETS_TARGET_H

#include "compiler/Pipelines/Stages.h"
#include "dialects/Model/IR/ModelPlanAttrs.h"
#include "targets/Host/HostMachine.h"
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace heddle {

/// How 16 bits can be multiplied and read.
struct Formats {
  bool dots = false;  ///< products of pairs of bf16
  bool fast = false;  ///< these take less time than products of f32, so that --math=auto takes them
  bool f16 = false;   ///< conversions between f16 and f32
  bool codes = false; ///< matrices of codes of 8 and 4 bits
};

/// Of --report.
struct ReportOptions {
  std::map<std::string, int64_t> dims; ///< lengths by name
  bool json = false;                   ///< else tables for people
};

class Target {
public:
  virtual ~Target() = default;
  /// The name in #model.target.
  virtual llvm::StringRef name() const = 0;
  /// Its stages from `model` to `llvm`, and those after it.
  virtual llvm::ArrayRef<Stage> stages() const = 0;
  virtual llvm::ArrayRef<OutputStage> outputs() const = 0;
  /// What passes are told of it.
  virtual model::TargetAttr describe(mlir::MLIRContext *context) const = 0;
  virtual Formats formats() const = 0;
  /// The processor that its part of the program runs on; null: any will do.
  virtual const host::Machine *processor() const { return nullptr; }
  /// Writes the output stage `what` that is text (`outputs`).
  virtual bool print(mlir::ModuleOp module, llvm::StringRef what, llvm::raw_pwrite_stream &os,
                     std::string &error) const = 0;
  /// What a program has of the module, but for its card, as code and data of `host`; null with `error`. `note`: what
  /// the user should know of the code, "" if nothing.
  virtual std::unique_ptr<llvm::Module> code(mlir::ModuleOp module, llvm::TargetMachine &host,
                                             llvm::LLVMContext &context, std::string &error,
                                             std::string &note) const = 0;
  /// Writes what its kernels take and the time they need at least; false with `error`, also where it has no report.
  virtual bool report(mlir::ModuleOp, const ReportOptions &, llvm::raw_ostream &, std::string &error) const {
    error = "--report is of --target=cuda; what a processor does, `BINARY bench` measures";
    return false;
  }
};

/// What the command line says beside names.
struct TargetOptions {
  bool emulate = false;  ///< kernels as host code next to the PTX (test/Emulator)
  bool alone = false;    ///< with `emulate`: no PTX next to it
  bool races = false;    ///< with `emulate`: every access is reported
  bool cubin = false;    ///< kernels assembled, too
  bool quick = false;    ///< code that is quickly made and slow; kernels that become PTX are optimised as ever
  std::string codeCache; ///< the folder that machine code and PTX are taken from and kept in; empty: there is none
};

/// Why there are no targets: a text, or the name of a machine (of `kind`) that nothing knows, and those that there are.
struct Refusal {
  std::string text, unknown, kind, help;
  std::vector<std::string> known;
  bool misuse = false; ///< of `text`: the command line is wrong
};

/// What there is of a target before a machine is chosen.
struct TargetKind {
  llvm::StringRef name;
  llvm::ArrayRef<Stage> (*stages)();
  llvm::ArrayRef<OutputStage> (*outputs)();
  /// Adds what plans ask of it (compiler/Plan/Target.h), under its name.
  void (*registerTiles)(mlir::DialectRegistry &registry);
  std::unique_ptr<Target> (*make)(llvm::StringRef machine, const TargetOptions &options, Refusal &why);
};
/// All of them, in the order in which a program has them. The first one is meant where none is named.
llvm::ArrayRef<TargetKind> targetKinds();
/// The target that `module` names, or the first one; null after an error at the module: there is none of that name.
const TargetKind *targetKindOf(mlir::ModuleOp module);
/// The stage of `module`, if a target that we have gave it; null: none did.
const Stage *stageInfoOf(mlir::ModuleOp module);

/// The target for the processor that this runs on; null with `error`.
std::unique_ptr<Target> makeHostTarget(std::string &error);

/// The targets of --target=cpu, cuda or cpu,cuda. `machines` is --mcpu: "native" for all, or a word a target between
/// commas. Empty with `why`.
std::vector<std::unique_ptr<Target>> makeTargets(llvm::StringRef names, llvm::StringRef machines,
                                                 const TargetOptions &options, Refusal &why);
/// The table of --mcpu=help.
std::string describeMachines();

} // namespace heddle

#endif
