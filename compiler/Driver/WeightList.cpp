//===- WeightList.cpp - heddle weights ------------------------------------===//
// What weights a description or a config.json needs: those that an import would read, whether they are there or not.

#include "compiler/Driver/Compile.h"
#include "compiler/Driver/Exit.h"
#include "compiler/Driver/Inspect.h"
#include "compiler/Driver/Load.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace heddle;

/// "[768, ?]": what only the file says is a question mark.
static std::string shapeOf(const NeededWeight &w) {
  std::string out;
  for (int64_t n : w.shape)
    out += (out.empty() ? "" : ", ") + (n < 0 ? std::string("?") : std::to_string(n));
  return "[" + out + "]";
}

static llvm::json::Object objectOf(const NeededWeight &w) {
  llvm::json::Array shape;
  for (int64_t n : w.shape)
    shape.push_back(n < 0 ? llvm::json::Value(nullptr) : llvm::json::Value(n));
  llvm::json::Object o{{"name", escaped(w.name, 4096)}, {"dtype", w.dtype}, {"stored", w.stored}};
  o["shape"] = std::move(shape);
  if (w.optional)
    o["optional"] = true;
  if (w.assumed)
    o["assumed"] = true;
  return o;
}

int heddle::listWeights(const Console &console, const CompileOptions &options, const InspectOptions &look) {
  std::vector<NeededWeight> all;
  ImportOptions import = options.import;
  import.needed = &all;
  import.weightsOptional = import.weightsInvented = import.headersOnly = true;
  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  DiagnosticSink sink;
  if (!canRead(import, sink) || !findModel(import, sink)) {
    sink.print(console.err);
    return failedWith(sink);
  }
  importModel(*context, import, sink);
  sink.print(console.err);
  if (sink.hasErrors())
    return failedWith(sink);

  // A weight that two ops read is one.
  std::vector<NeededWeight> weights;
  llvm::StringSet<> seen;
  size_t widest = 4, shapes = 5;
  double numbers = 0;
  bool stored = false;
  for (NeededWeight &w : all) {
    if (!seen.insert(w.name).second)
      continue;
    widest = std::max(widest, escaped(w.name).size());
    shapes = std::max(shapes, shapeOf(w).size());
    double count = 1;
    for (int64_t n : w.shape)
      count *= n < 0 ? 0 : double(n);
    numbers += count;
    stored |= w.stored;
    weights.push_back(std::move(w));
  }
  if (look.json) {
    llvm::json::Array out;
    for (const NeededWeight &w : weights)
      out.push_back(objectOf(w));
    console.out << llvm::json::Value(std::move(out)) << "\n";
    return Ok;
  }
  for (const NeededWeight &w : weights)
    console.out << llvm::left_justify(escaped(w.name), widest + 2) << llvm::left_justify(shapeOf(w), shapes + 2)
                << w.dtype << (stored && !w.stored ? "  missing" : "") << (w.optional ? "  optional" : "")
                << (w.assumed ? "  shape assumed" : "") << "\n";
  console.out << llvm::formatv("{0} weights, {1:N0} numbers\n", weights.size(), uint64_t(numbers));
  return Ok;
}
