//===- PassText.cpp - a pass as --pass-pipeline takes it ------------------===//

#include "compiler/Pipelines/PassText.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace heddle;

/// All options that MLIR prints of a pass: `flag{a=1 b={x y}}` has `a=1` and `b={x y}`.
static std::vector<std::string> optionsOf(Pass &pass) {
  std::string printed;
  llvm::raw_string_ostream os(printed);
  pass.printAsTextualPipeline(os);
  StringRef text = printed;
  if (!text.consume_front(pass.getArgument()) || !text.consume_front("{") || !text.consume_back("}"))
    return {};
  std::vector<std::string> options(1);
  int depth = 0;
  for (char c : text) {
    depth += c == '{' ? 1 : c == '}' ? -1 : 0;
    if (c == ' ' && depth == 0)
      options.emplace_back();
    else
      options.back() += c;
  }
  llvm::erase_if(options, [](const std::string &option) { return option.empty(); });
  return options;
}

/// What the flag alone means.
static std::vector<std::string> defaultsOf(StringRef flag) {
  const PassInfo *known = PassInfo::lookup(flag);
  OpPassManager alone(ModuleOp::getOperationName(), OpPassManager::Nesting::Implicit);
  auto quiet = [](const Twine &) { return failure(); };
  if (!known || failed(known->addToPipeline(alone, "", quiet)) || alone.size() != 1)
    return {};
  return optionsOf(*alone.begin());
}

PassText heddle::textOf(Pass &pass) {
  PassText text{pass.getArgument().str(), optionsOf(pass)};
  std::vector<std::string> defaults = defaultsOf(text.flag);
  llvm::erase_if(text.options, [&](const std::string &option) { return llvm::is_contained(defaults, option); });
  return text;
}

std::string PassText::pipeline() const { return options.empty() ? flag : flag + "{" + llvm::join(options, " ") + "}"; }

std::string PassText::fileName() const {
  constexpr size_t kMost = 120;
  std::string name = flag;
  for (const std::string &option : options)
    name += "-" + option;
  for (char &c : name)
    if (!llvm::isAlnum(c) && !StringRef("-_=.+,").contains(c))
      c = '_';
  return name.substr(0, kMost);
}
