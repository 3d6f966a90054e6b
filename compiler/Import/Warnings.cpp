// Two warnings: ALiBi slopes that favour keys after the query under a mask that shows them, and a table of positions
// with fewer rows than the input may be long.
#include "compiler/Import/Warnings.h"

#include "dialects/Attn/IR/Attn.h"
#include "dialects/Model/IR/Model.h"
#include "dialects/Model/IR/Names.h"

using namespace heddle;
using heddle::model::ModelTensorType;
using heddle::model::Size;
using llvm::Twine;

namespace {
class Warnings {
public:
  Warnings(mlir::ModuleOp module, const std::set<mlir::Operation *> &meant, const Places &places, DiagnosticSink &sink)
      : module(module), meant(meant), places(places), sink(sink) {}

  void check(attn::SdpaOp op);
  void check(model::EmbeddingOp op);

private:
  Diagnostic &say(mlir::Operation *op, const Twine &message) {
    return sink.say(Diagnostic::Kind::Warning, places.of(op->getLoc()), model::pathOf(op->getLoc()), message);
  }

  mlir::ModuleOp module;
  const std::set<mlir::Operation *> &meant;
  const Places &places;
  DiagnosticSink &sink;
};
} // namespace

/// The parts of a sum of biases.
static llvm::SmallVector<mlir::Operation *> partsOf(mlir::Value bias) {
  llvm::SmallVector<mlir::Value> todo = {bias};
  llvm::SmallVector<mlir::Operation *> parts;
  while (!todo.empty()) {
    mlir::Operation *part = todo.pop_back_val().getDefiningOp();
    if (!part)
      continue;
    parts.push_back(part);
    if (llvm::isa<attn::BiasAddOp, attn::BiasScaleOp>(part))
      todo.append(part->operand_begin(), part->operand_end());
  }
  return parts;
}

/// Whether some query sees a key that comes after it.
static bool seesAhead(mlir::Value mask) {
  auto op = mask ? mask.getDefiningOp<mask::MaskOpInterface>() : mask::MaskOpInterface();
  std::optional<int64_t> ahead = op ? op.reach().ahead : std::nullopt;
  return !ahead || *ahead > 0;
}

/// An unsymmetric ALiBi in an attention whose mask does not end at the query.
void Warnings::check(attn::SdpaOp op) {
  if (!op.getBias() || !seesAhead(op.getMask()))
    return;
  for (mlir::Operation *part : partsOf(op.getBias()))
    if (auto alibi = llvm::dyn_cast<attn::AlibiOp>(part); alibi && !alibi.getSymmetric() && !meant.count(part))
      say(part,
          "alibi: m·(j - i) raises the scores of keys after the query, the farther the more, and an attention's mask lets them be seen; "
          "\"symmetric\": true makes it -m·|j - i|, false says that it is meant")
          .note(places.of(op->getLoc()), "the attention");
}

/// An embedding of range(T) whose table has fewer rows than T's bound, or T has no bound.
void Warnings::check(model::EmbeddingOp op) {
  auto range = op.getIds().getDefiningOp<model::RangeOp>();
  std::optional<int64_t> rows = llvm::cast<ModelTensorType>(op.getTable().getType()).getSize(0).constant();
  std::optional<Size> end = range ? Size::parse(range.getTo()) : std::nullopt;
  std::optional<std::string> dim = end ? end->bareDim() : std::nullopt;
  if (!rows || !dim)
    return;
  auto bounds = module->getAttrOfType<mlir::DictionaryAttr>("model.dims");
  auto bound = bounds ? bounds.getAs<mlir::IntegerAttr>(*dim) : mlir::IntegerAttr();
  if (bound && bound.getInt() <= *rows)
    return;
  say(op, "embedding: the positions below " + Twine(*dim) + " are looked up in a table of " + Twine(*rows) +
              " rows, and " + *dim + (bound ? " may be " + Twine(bound.getInt()) : Twine(" has no bound")) +
              "; \"dims\": {\"" + *dim + "\": " + Twine(*rows) + "} refuses longer inputs by their length");
}

void heddle::warn(mlir::ModuleOp module, const std::set<mlir::Operation *> &meant, const Places &places,
                  DiagnosticSink &sink) {
  Warnings warnings(module, meant, places, sink);
  module->walk([&](attn::SdpaOp op) { warnings.check(op); });
  module->walk([&](model::EmbeddingOp op) { warnings.check(op); });
}
