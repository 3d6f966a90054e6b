//===- InventedValues.cpp - numbers where no file has any -----------------===//

#include "compiler/Reduce/InventedValues.h"
#include "dialects/Model/IR/Model.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace heddle;

static Tensor invented(StringRef name, ArrayRef<int64_t> shape, Type element) {
  Tensor t = Tensor::zeros(element.isF32()        ? Tensor::Kind::Real
                           : element.isInteger(1) ? Tensor::Kind::Bool
                                                  : Tensor::Kind::Int,
                           shape);
  uint64_t state = llvm::xxh3_64bits(name);
  auto next = [&] { // the top bits of Knuth's MMIX generator
    state = state * 6364136223846793005u + 1442695040888963407u;
    return int64_t(state >> 40);
  };
  for (double &x : t.reals)
    x = double(next()) / double(1 << 23) - 1;
  for (int64_t &x : t.ints)
    x = next() % 2;
  return t;
}

/// A length for each dim of the inputs.
static Dims inventedDims(func::FuncOp run) {
  auto bounds = run->getParentOfType<ModuleOp>()->getAttrOfType<DictionaryAttr>("model.dims");
  Dims dims;
  for (Type type : run.getArgumentTypes())
    if (auto tensor = dyn_cast<model::ModelTensorType>(type))
      for (const model::Size &size : tensor.getSizes())
        for (const std::string &dim : size.dims()) {
          auto bound = bounds ? bounds.getAs<IntegerAttr>(dim) : IntegerAttr();
          dims.try_emplace(dim, std::min<int64_t>(2 + int64_t(dims.size()), bound ? bound.getInt() : INT64_MAX));
        }
  return dims;
}

static std::optional<std::vector<int64_t>> shapeOf(model::ModelTensorType type, const Dims &dims) {
  std::vector<int64_t> shape;
  for (const model::Size &size : type.getSizes()) {
    std::optional<int64_t> n = size.evaluate(dims);
    if (!n || *n < 0)
      return std::nullopt;
    shape.push_back(*n);
  }
  return shape;
}

/// Whether `pattern` is `name` but for numbers in the place of {0}, {1}, ..
static bool isNameOf(StringRef pattern, StringRef name) {
  while (!pattern.empty()) {
    if (pattern.front() == '{' && pattern.contains('}')) {
      size_t digits = name.find_first_not_of("0123456789");
      name = name.drop_front(std::min(digits, name.size()));
      pattern = pattern.drop_front(pattern.find('}') + 1);
    } else if (name.consume_front(pattern.take_front())) {
      pattern = pattern.drop_front();
    } else {
      return false;
    }
  }
  return name.empty();
}

GivenValues heddle::inventedValues(ModuleOp module) {
  GivenValues values;
  if (auto run = module.lookupSymbol<func::FuncOp>("run")) {
    Dims dims = inventedDims(run);
    for (unsigned i = 0; i < run.getNumArguments(); ++i) {
      auto type = dyn_cast<model::ModelTensorType>(run.getArgumentTypes()[i]);
      auto name = run.getArgAttrOfType<StringAttr>(i, "model.name");
      std::optional<std::vector<int64_t>> shape = type ? shapeOf(type, dims) : std::nullopt;
      if (name && shape && !run.getArgAttr(i, "model.default"))
        values.inputs[name.str()] = invented(name, *shape, type.getElementType());
    }
  }
  values.parameter = [module](StringRef name) -> FailureOr<Tensor> {
    FailureOr<Tensor> found = failure();
    ModuleOp(module)->walk([&](model::ParamOp op) {
      auto type = dyn_cast<model::ModelTensorType>(op.getType());
      std::optional<std::vector<int64_t>> shape = type ? shapeOf(type, {}) : std::nullopt;
      if (!shape || !isNameOf(op.getName(), name))
        return WalkResult::advance();
      found = invented(name, *shape, type.getElementType());
      return WalkResult::interrupt();
    });
    return found;
  };
  return values;
}
