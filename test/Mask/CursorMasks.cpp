//===- CursorMasks.cpp - masks as an attention asks them ------------------===//

#include "test/Mask/CursorMasks.h"
#include "compiler/Pipelines/Stages.h"
#include "dialects/Mask/IR/MaskTables.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::test;

SmallVector<Value> AskedMask::tensors() const {
  func::FuncOp f = function;
  SmallVector<Value> all(f.getArguments().drop_back(3)); // without q, k and v
  for (Operation *table : tables)
    all.push_back(table->getResult(0));
  return all;
}

/// The axis of keys is T or P + T where the masks say so.
static std::string withKeys(std::string text, MaskSpec::Grid grid) {
  std::string axis = grid == MaskSpec::Square ? "T" : grid == MaskSpec::Cached ? "\"P+T\"" : "S";
  for (const char *open : {"[", ", "})
    for (size_t at = 0; (at = text.find(open + std::string("S"), at)) != std::string::npos; ++at) {
      size_t name = at + std::string(open).size();
      if (text[name + 1] == ']' || text[name + 1] == ',')
        text.replace(name, 1, axis);
    }
  return text;
}

static std::string textOf(const MaskSpec &spec, size_t n) {
  std::string heads = std::to_string(spec.heads), text = "func.func @mask" + std::to_string(n) + "(";
  for (size_t t = 0; t < spec.tensors.size(); ++t)
    text += "%t" + std::to_string(t) + ": " + spec.typeOf(int(t)) + " {model.name = \"t" + std::to_string(t) + "\"}, ";
  std::string q = "!model.tensor<[B, T, " + heads + "], f32>", k = "!model.tensor<[B, S, 1], f32>";
  text += "%q: " + q + ", %k: " + k + ", %v: " + k + ") -> " + q + " {\n" + spec.ops();
  text += "  %y = attn.sdpa %q, %k, %v mask %m heads " + heads + " kv_heads 1 scale 1.0 ";
  if (spec.grid == MaskSpec::Free)
    text += "key_start \"K\" ";
  if (spec.grid != MaskSpec::Square)
    text += "past \"P\" ";
  text += ": (" + q + ", " + k + ", " + k + ") -> " + q + "\n  return %y : " + q + "\n}\n";
  return withKeys(text, spec.grid);
}

AskedMasks heddle::test::askMasks(const std::vector<CursorCase> &cases, CursorBounds bounds, MLIRContext &context) {
  AskedMasks asked;
  for (bool built : {false, true}) {
    std::string text, most = std::to_string(bounds.most) + " : i64";
    for (size_t n = 0; n < cases.size(); ++n)
      if (cases[n].built == built)
        text += textOf(cases[n].spec, n);
    if (bounds.most)
      text = "module attributes {model.dims = {B = 8 : i64, T = " + most + ", S = " + most + ", P = " + most +
             ", K = 12 : i64}} {\n" + text + "}\n";
    asked.modules.push_back(parseSourceString<ModuleOp>(text, ParserConfig(&context)));
    PassManager passes(&context);
    if (built) {
      addPasses(passes, "fused", {},
                [](StringRef flag) { return flag == "mask-simplify" || flag == "canonicalize" || flag == "cse"; });
      addPasses(passes, "buffers", {}, [](StringRef flag) { return flag == "mask-build-tables"; });
    }
    if (!asked.modules.back() || failed(passes.run(*asked.modules.back())))
      return {};
  }
  for (size_t n = 0; n < cases.size(); ++n) {
    AskedMask mask;
    mask.function = asked.modules[cases[n].built]->lookupSymbol<func::FuncOp>("mask" + std::to_string(n));
    mask.function.walk([&](Operation *op) {
      if (auto sdpa = dyn_cast<attn::SdpaOp>(op)) {
        mask.value = sdpa.getMask();
        mask.everyRowSees = sdpa->hasAttr("every_row_sees");
      } else if (isa<mask::KeyTableOp, mask::RowCountsOp, mask::LabelTableOp, mask::BlockRunsOp, mask::DenseTableOp>(
                     op)) {
        mask.tables.push_back(op);
      }
    });
    if (cases[n].strided)
      mask.stride = mask::stridedOf(mask.value);
    asked.masks.push_back(mask);
  }
  return asked;
}

std::string heddle::test::tablesText(const std::vector<AskedMask> &masks) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (size_t n = 0; n < masks.size(); ++n) {
    func::FuncOp source = masks[n].function;
    if (masks[n].tables.empty())
      continue;
    OpBuilder b(source.getContext());
    SmallVector<Value> given = masks[n].tensors();
    given.truncate(given.size() - masks[n].tables.size());
    SmallVector<Type> results;
    for (Operation *table : masks[n].tables)
      results.push_back(table->getResult(0).getType());
    OwningOpRef<func::FuncOp> f =
        func::FuncOp::create(source.getLoc(), "tables" + std::to_string(n),
                             b.getFunctionType(llvm::to_vector(ValueRange(given).getTypes()), results));
    b.setInsertionPointToStart(f->addEntryBlock());
    IRMapping at;
    for (auto [i, tensor] : llvm::enumerate(given)) {
      f->setArgAttr(i, "model.name", b.getStringAttr("t" + std::to_string(i)));
      at.map(tensor, f->getArgument(i));
    }
    SmallVector<Value> tables;
    for (auto [i, table] : llvm::enumerate(masks[n].tables)) {
      f->setResultAttr(i, "model.name", b.getStringAttr("table" + std::to_string(i)));
      tables.push_back(b.clone(*table, at)->getResult(0));
    }
    func::ReturnOp::create(b, source.getLoc(), tables);
    f->print(os, OpPrintingFlags().useLocalScope()); // without aliases: several such texts are joined
    os << "\n";
  }
  return text;
}
