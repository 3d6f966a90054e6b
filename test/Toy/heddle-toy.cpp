//===- heddle-toy.cpp - `heddle-toy MODEL OUTPUT`: compile for the toy ------===//
//
// With a third argument, the stage of that name goes to standard output instead.
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/Compile.h"
#include "compiler/Driver/Load.h"
#include "compiler/Driver/Output.h"
#include "compiler/Driver/PrintIR.h"
#include "targets/Registration.h"
#include "test/Toy/ToyTarget.h"

using namespace heddle;

int main(int argc, char **argv) {
  const Console console{llvm::outs(), llvm::errs()};
  if (argc < 3)
    return console.complain(Error::BadUsage, "heddle-toy MODEL OUTPUT [STAGE]");
  registerPasses();
  std::string error;
  std::optional<host::Machine> host = host::Machine::resolve("native", error);
  if (!host)
    return console.complain(Error::TargetUnsupported, error);
  toy::ToyTarget target(*host);

  CompileOptions options;
  options.import.path = argv[1];
  options.output = argv[2];
  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  toy::registerTiles(*context);
  int code = Ok;
  mlir::OwningOpRef<mlir::ModuleOp> module = load(console, *context, options.import, code);
  if (!module)
    return code;
  model::setTarget(*module, target.describe(context.get()));
  if (int failed = runStages(console, *module, target.stages(), argc > 3 ? argv[3] : "llvm", options))
    return failed;
  if (argc > 3) {
    printIR(*module, console.out, {/*locations=*/false, ""});
    return Ok;
  }
  return writeOutput(console, {{&target, *module}}, options, *host, {});
}
