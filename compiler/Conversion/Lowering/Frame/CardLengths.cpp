//===- CardLengths.cpp - what the lengths of a call must be, in the card --===//
//
// Lines "require FORM >= FORM at OP PLACE [without INPUT]" of an entry: what its ops ask of lengths
// (dialects/Model/IR/Conditions.h). Read by runtime/Core/Requirements.cpp.
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/Frame/CardTexts.h"
#include "compiler/Conversion/Lowering/Frame/Lowering.h"
#include "dialects/Model/IR/Conditions.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;

/// A word of the card; "-" where there is no text.
static std::string wordOf(StringRef text) { return cardWord(text.empty() ? "-" : text); }

FailureOr<std::string> heddle::loops::lengthLines(func::FuncOp entry) {
  SmallVector<std::string> dims = entryDims(entry);
  std::string lines;
  for (const model::Condition &c : model::conditionsIn(entry)) {
    for (const model::Size &side : {c.left, c.right})
      for (const std::string &dim : side.dims())
        if (!llvm::is_contained(dims, dim))
          return c.op->emitOpError() << "takes " << c.str() << ", but no input of @" << entry.getName()
                                     << " has the dim " << dim;
    lines += "require " + c.left.str() + (c.differ ? " != " : " >= ") + c.right.str() + " at " +
             wordOf(model::wordOf(c.op)) + " " + wordOf(model::tokenOf(c.op->getLoc())) +
             (c.without.empty() ? "" : " without " + wordOf(c.without)) + "\n";
  }
  return lines;
}
