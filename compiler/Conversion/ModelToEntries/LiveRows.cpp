//===- LiveRows.cpp - dims that count live rows ---------------------------===//

#include "compiler/Conversion/ModelToEntries/LiveRows.h"
#include "dialects/Model/IR/ReservedDims.h"

using namespace mlir;
using namespace heddle;

std::string heddle::entries::newLiveDim(func::FuncOp function) {
  std::set<std::string> dims;
  for (Type t : function.getArgumentTypes())
    if (auto tensor = dyn_cast<model::ModelTensorType>(t))
      for (const model::Size &s : tensor.getSizes())
        for (const std::string &dim : s.dims())
          dims.insert(dim);
  function.walk([&](model::LiveRowsOp op) { dims.insert(op.getDim().str()); });
  std::string name = model::kLiveDim.str();
  for (int n = 1; dims.count(name); ++n)
    name = model::kLiveDim.str() + std::to_string(n);
  return name;
}
