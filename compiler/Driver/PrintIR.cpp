//===- PrintIR.cpp - the header, and where locations are ----------------===//

#include "compiler/Driver/PrintIR.h"
#include "compiler/Pipelines/Stages.h"
#include "dialects/Model/IR/ModelPlanAttrs.h"
#include "dialects/Model/IR/ReservedDims.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "targets/Target.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace heddle;

//===-- the header -------------------------------------------------------------===//

/// The dims of the functions' arguments, and those that have bounds.
static std::set<std::string> dimsOf(ModuleOp module, DictionaryAttr bounds) {
  std::set<std::string> dims;
  for (NamedAttribute bound : bounds ? bounds.getValue() : ArrayRef<NamedAttribute>())
    dims.insert(bound.getName().str());
  module.walk([&](FunctionOpInterface function) {
    for (Type type : function.getArgumentTypes()) {
      SmallVector<model::Size> sizes;
      if (auto tensor = dyn_cast<model::ModelTensorType>(type))
        sizes = tensor.getSizes();
      else if (auto state = dyn_cast<model::StateType>(type))
        sizes = state.getSizes();
      for (const model::Size &size : sizes)
        dims.merge(size.dims());
    }
  });
  return dims;
}

namespace {
/// The parameters of one name: how many tensors the name stands for, and numbers in each.
struct Parameter {
  int64_t tensors = 1, numbers = 1;
};
} // namespace

/// By name. Until the plan lays them out they are asked of the ops that read them, then of the blob.
static llvm::StringMap<Parameter> parametersOf(ModuleOp module) {
  llvm::StringMap<Parameter> all;
  for (model::BlobEntryAttr entry : model::blobOf(module)) {
    Parameter p;
    for (int64_t n : entry.getShape().asArrayRef())
      p.numbers *= n;
    for (int64_t n : entry.getCounts().asArrayRef())
      p.tensors *= n;
    all.try_emplace(entry.getName(), p);
  }
  if (!all.empty())
    return all;
  module.walk([&](model::ParamOp op) {
    Parameter p;
    p.numbers = op.getType().getCount().constant().value_or(0);
    for (Value index : op.getIndices())
      if (auto repeat = dyn_cast<model::RepeatOp>(index.getParentBlock()->getParentOp()))
        p.tensors *= repeat.getCount();
    all.try_emplace(op.getName(), p);
  });
  return all;
}

/// Model, stage and what it did; dims and their bounds; parameters and functions; of a dump the command.
static void printHeader(ModuleOp module, raw_ostream &os, const PrintOptions &options) {
  const Stage *stage = stageInfoOf(module);
  auto name = module->getAttrOfType<StringAttr>("model.name");
  os << "// " << (name ? name.getValue() : "a model") << ", ";
  if (!options.after.empty())
    os << options.after;
  else if (stage)
    os << "stage " << stage->name << ": " << stage->summary;

  auto bounds = module->getAttrOfType<DictionaryAttr>("model.dims");
  std::vector<std::string> given, reserved;
  for (const std::string &dim : dimsOf(module, bounds)) {
    auto bound = bounds ? bounds.getAs<IntegerAttr>(dim) : IntegerAttr();
    bool isReserved = !model::meaningOfReservedDim(dim).empty();
    (isReserved ? reserved : given).push_back(bound ? dim + " <= " + std::to_string(bound.getInt()) : dim);
  }
  os << "\n// dims: " << (given.empty() ? "none" : llvm::join(given, ", "));
  if (!reserved.empty())
    os << "; of the cached step: " << llvm::join(reserved, ", ");

  llvm::StringMap<Parameter> parameters = parametersOf(module);
  int64_t tensors = 0, numbers = 0;
  for (const auto &entry : parameters) {
    tensors += entry.second.tensors;
    numbers += entry.second.tensors * entry.second.numbers;
  }
  os << llvm::formatv("\n// parameters: {0} names, {1} tensors, {2:N} numbers; functions:", parameters.size(), tensors,
                      numbers);
  SmallVector<FunctionOpInterface> functions;
  module.walk([&](FunctionOpInterface function) {
    if (!function.isExternal())
      functions.push_back(function);
  });
  auto opsOf = [](Operation *op) {
    int64_t ops = -1;
    op->walk([&](Operation *) { ++ops; });
    return ops;
  };
  if (functions.size() > 4)
    os << " " << functions.size() << " of " << opsOf(module) << " ops";
  else
    for (FunctionOpInterface function : functions)
      os << " @" << function.getName() << " of " << opsOf(function) << " ops";
  os << "\n";
  if (!options.command.empty())
    os << "// " << options.command << "\n";
  if (!options.locations)
    os << "// Without locations: compiled on, no message about it can point at the description (no line, no caret).\n";
}

//===-- locations ----------------------------------------------------------------===//

/// The alias and the location of a line `#loc3 = loc(...)`; empty for any other.
static std::pair<StringRef, StringRef> definition(StringRef line) {
  auto [alias, location] = line.split(" = ");
  bool is =
      alias.starts_with("#loc") && llvm::all_of(alias.drop_front(4), llvm::isDigit) && location.starts_with("loc(");
  return is ? std::pair(alias, location) : std::pair(StringRef(), StringRef());
}

/// Where the text that begins at `at` leaves the parenthesis that opens there; strings hide what is in them.
static size_t endOfParenthesis(StringRef text, size_t at) {
  int depth = 0;
  bool quoted = false;
  for (; at < text.size(); ++at) {
    char c = text[at];
    if (quoted && c == '\\')
      ++at;
    else if (c == '"')
      quoted = !quoted;
    else if (!quoted && c == '(')
      ++depth;
    else if (!quoted && c == ')' && --depth == 0)
      return at + 1;
  }
  return at;
}

/// MLIR's text of a module with all definitions of locations at its end: MLIR writes out those of arguments where they
/// are and what they refer to in front. Linear in the length of the text.
static std::string withLocationsLast(StringRef text) {
  llvm::StringMap<std::string> aliases; // of locations that are defined
  std::string body, end;
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  for (StringRef line : lines)
    if (auto [alias, location] = definition(line); !alias.empty()) {
      aliases.try_emplace(location, alias.str());
      end.append(line).append("\n");
    }
  size_t defined = aliases.size();
  for (StringRef line : lines) {
    if (!definition(line).first.empty())
      continue;
    bool quoted = false;
    for (size_t i = 0; i < line.size(); ++i) {
      if (line[i] == '\\' && quoted)
        body += line[i++];
      else if (line[i] == '"')
        quoted = !quoted;
      else if (!quoted && line.substr(i).starts_with(" loc(") && !line.substr(i).starts_with(" loc(#")) {
        size_t last = endOfParenthesis(line, i + 4);
        StringRef location = line.slice(i + 1, last);
        // MLIR counts from #loc on: with the numbers above no name comes twice.
        auto [known, isNew] = aliases.try_emplace(location, "#loc" + std::to_string(defined));
        if (isNew) {
          ++defined;
          end.append(known->second).append(" = ").append(location).append("\n");
        }
        body.append(" loc(").append(known->second).append(")");
        i = last - 1;
        continue;
      }
      body += line[i];
    }
    body += '\n';
  }
  while (StringRef(body).ends_with("\n\n"))
    body.pop_back();
  return body + end;
}

void heddle::printIR(ModuleOp module, raw_ostream &os, const PrintOptions &options) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, OpPrintingFlags().enableDebugInfo(options.locations, false).printNameLocAsPrefix());
  printHeader(module, os, options);
  os << (options.locations ? withLocationsLast(text) : text + "\n");
}
