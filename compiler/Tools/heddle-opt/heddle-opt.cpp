//===- heddle-opt.cpp - one pass, or one stage, at a time -----------------===//

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "targets/Registration.h"
#include <vector>

int main(int argc, char **argv) {
  heddle::registerPasses();
  heddle::registerPipelines();
  mlir::DialectRegistry registry;
  heddle::registerDialects(registry);
  // Values have the names that their locations say, as in what heddle prints.
  static char names[] = "--mlir-use-nameloc-as-prefix";
  std::vector<char *> words(argv, argv + argc);
  words.insert(words.begin() + 1, names);
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(int(words.size()), words.data(), "Heddle's passes and stages\n", registry));
}
