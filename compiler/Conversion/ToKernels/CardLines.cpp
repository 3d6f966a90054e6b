//===- CardLines.cpp - what the card says of launches ---------------------===//

#include "compiler/Conversion/ToKernels/CardLines.h"
#include "compiler/Conversion/Lowering/Frame/CardTexts.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using heddle::kernels::CardLines;

CardLines::CardLines(ModuleOp module) : global(module.lookupSymbol<LLVM::GlobalOp>("heddle_card")) {
  if (global)
    text = cast<StringAttr>(cast<LLVM::GlobalOp>(global).getValueAttr()).getValue().str();
}

void CardLines::save() {
  if (!global)
    return;
  OpBuilder b(global);
  auto card = cast<LLVM::GlobalOp>(global);
  card.setGlobalType(LLVM::LLVMArrayType::get(b.getI8Type(), text.size()));
  card.setValueAttr(b.getStringAttr(text));
}

/// The first character of the line after the one in which `at` is; npos stays.
static size_t nextLine(const std::string &text, size_t at) {
  at = at == std::string::npos ? at : text.find('\n', at);
  return at == std::string::npos ? at : at + 1;
}

void CardLines::addBehind(StringRef word, StringRef lines) {
  size_t at = text.find("\n" + word.str() + " ");
  if (at != std::string::npos)
    text.insert(nextLine(text, at + 1), lines.str());
}

void CardLines::addToEntry(StringRef entry, StringRef lines) {
  size_t at = text.find("\nentry " + loops::cardWord(entry) + "\n");
  at = at == std::string::npos ? at : text.find("\narena ", at);
  if (at != std::string::npos)
    text.insert(nextLine(text, at + 1), lines.str());
}

void CardLines::replaceLaunch(StringRef kernel, StringRef line) {
  size_t at = text.find("\nlaunch " + loops::cardWord(kernel) + " ");
  if (at != std::string::npos)
    text.replace(at + 1, nextLine(text, at + 1) - at - 1, line.str());
}
