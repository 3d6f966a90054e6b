//===- Arithmetic.cpp - how reals are stored and multiplied ---------------===//

#include "dialects/Model/IR/Arithmetic.h"
#include "dialects/Model/IR/Model.h"

using namespace mlir;
using namespace heddle::model;

static StringRef attributeOf(ModuleOp module, StringRef attribute, StringRef otherwise) {
  auto word = module->getAttrOfType<StringAttr>(attribute);
  return word ? word.getValue() : otherwise;
}

StringRef heddle::model::wordOf(Stored stored) {
  return stored == Stored::bf16 ? "bf16" : stored == Stored::f16 ? "f16" : "f32";
}

std::optional<Stored> heddle::model::storedOf(StringRef word) {
  for (Stored stored : {Stored::f32, Stored::bf16, Stored::f16})
    if (word == wordOf(stored))
      return stored;
  return std::nullopt;
}

heddle::PackedType heddle::model::packedTypeOf(Stored stored) {
  return stored == Stored::bf16 ? PackedType::BF16 : stored == Stored::f16 ? PackedType::F16 : PackedType::F32;
}

Stored heddle::model::storedOf(PackedType type) {
  return type == PackedType::BF16 ? Stored::bf16 : type == PackedType::F16 ? Stored::f16 : Stored::f32;
}

/// The coding of the weight or the table that `op` reads, if it has one.
static heddle::Coding codingOf(Operation *op) {
  Value weight;
  if (auto linear = dyn_cast<LinearOp>(op))
    weight = linear.getWeight();
  else if (auto embedding = dyn_cast<EmbeddingOp>(op))
    weight = embedding.getTable();
  auto param = weight ? weight.getDefiningOp<ParamOp>() : ParamOp();
  return param && param.getCoded() ? param.getCoded()->getCoding() : heddle::Coding();
}

static ModuleOp moduleOf(Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  return module ? module : op->getParentOfType<ModuleOp>();
}

/// Features of a row that share a scale.
static int64_t rowsOf(ModuleOp module) {
  auto rows = module->getAttrOfType<IntegerAttr>("model.rows");
  return rows ? rows.getInt() : heddle::Coding::rowFeatures;
}

Arithmetic heddle::model::arithmeticOf(Operation *op) {
  ModuleOp module = moduleOf(op);
  if (!module)
    return {};
  if (heddle::Coding coding = codingOf(op))
    return {Stored::f32, isa<LinearOp>(op) && attributeOf(module, "model.codes", "dots") == "dots", coding,
            coding.super ? heddle::Coding::rowFeatures : rowsOf(module)};
  Stored stored = storedOf(attributeOf(module, "model.dtype", "f32")).value_or(Stored::f32);
  return {stored, stored == Stored::bf16 && attributeOf(module, "model.math", "wide") == "dots", {}};
}

Arithmetic heddle::model::attentionArithmeticOf(Operation *op) {
  ModuleOp module = moduleOf(op);
  if (!module)
    return {};
  Arithmetic whole = arithmeticOf(module);
  StringRef math = attributeOf(module, "model.attention_math", whole.dots ? "dots" : "wide");
  return {whole.stored, whole.stored == Stored::bf16 && math == "dots", {}};
}

LogicalResult heddle::model::verifyArithmetic(ModuleOp module) {
  StringRef dtype = attributeOf(module, "model.dtype", "f32");
  if (!storedOf(dtype))
    return module.emitError("expected 'model.dtype' to be \"f32\", \"bf16\" or \"f16\", got \"") << dtype << "\"";
  for (StringRef name : {"model.math", "model.attention_math"}) {
    StringRef word = attributeOf(module, name, "wide");
    if (word != "wide" && word != "dots")
      return module.emitError("expected '") << name << "' to be \"wide\" or \"dots\", got \"" << word << "\"";
    if (word == "dots" && dtype != "bf16")
      return module.emitError("'") << name << "' is \"dots\", which needs 'model.dtype' = \"bf16\"";
  }
  if (StringRef codes = attributeOf(module, "model.codes", "dots"); codes != "wide" && codes != "dots")
    return module.emitError("expected 'model.codes' to be \"wide\" or \"dots\", got \"") << codes << "\"";
  if (Attribute rows = module->getAttr("model.rows")) {
    auto number = dyn_cast<IntegerAttr>(rows);
    if (!number || (number.getInt() != Coding::rowFeatures && number.getInt() != Coding::fewestRowFeatures))
      return module.emitError("expected 'model.rows' to be ")
             << Coding::fewestRowFeatures << " or " << Coding::rowFeatures << ", got " << rows;
  }
  return success();
}
