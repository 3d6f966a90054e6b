//===- Collector.cpp - a report, filled while a model is compiled ---------===//

#include "compiler/Report/Collector.h"
#include "compiler/Driver/RemarkOutput.h"
#include "dialects/Card/IR/Card.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::report;

void Collector::imported(ModuleOp module, const Target &of) {
  target = &of;
  if (auto name = module->getAttrOfType<StringAttr>("model.name"))
    report.modelName = name.str();
  if (auto bounds = module->getAttrOfType<DictionaryAttr>("model.dims"))
    for (NamedAttribute bound : bounds)
      if (auto most = dyn_cast<IntegerAttr>(bound.getValue()))
        report.bounds[bound.getName().str()] = most.getInt();
  if (model::TargetAttr what = model::targetOf(module)) {
    report.targetName = what.getName().str();
    report.targetChip = what.getChip().str();
    report.lanes = what.getLanes();
    report.registers = what.getRegisters();
  }
  report.recorder.imported(module);
}

void Collector::ended(const Stage &stage, ModuleOp module) {
  report.stages.push_back({stage.name.str(), stage.summary.str(), /*held=*/true});
  report.recorder.ended(stage);
  auto run = module.lookupSymbol<func::FuncOp>("run");
  if (stage.name == "model" && run)
    report.graph = graphOf(run, report.places, sources);
  if (stage.name == "buffers")
    planned(module);
  if (stage.name == "llvm")
    finished(module);
}

void Collector::planned(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal())
      memory[function.getName().str()] = memoryOf(function, report.given, report.places);
  report.parameters = parametersOf(module);
  report.blobBytes = uint64_t(model::blobBytesOf(module));
  for (const Parameter &parameter : report.parameters)
    report.parameterCount += parameter.numbers;
}

/// What a report shows of a device: the first chip that its own report has.
static std::optional<llvm::json::Object> deviceReport(const Target &target, ModuleOp module,
                                                      const std::map<std::string, int64_t> &dims) {
  std::string text, error;
  llvm::raw_string_ostream os(text);
  if (target.processor() || !target.report(module, {dims, /*json=*/true}, os, error))
    return std::nullopt;
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text);
  if (!value) {
    llvm::consumeError(value.takeError());
    return std::nullopt;
  }
  const llvm::json::Array *chips = value->getAsArray();
  const llvm::json::Object *chip = chips && !chips->empty() ? chips->front().getAsObject() : value->getAsObject();
  return chip ? std::optional(*chip) : std::nullopt;
}

void Collector::finished(ModuleOp module) {
  report.entries = entriesOf(module, report.graph, report.places);
  for (Entry &entry : report.entries)
    if (auto known = memory.find(entry.name); known != memory.end())
      entry.memory = std::move(known->second);
  if (std::optional<llvm::json::Object> chip = deviceReport(*target, module, report.given)) {
    addDevice(report.entries, *chip, report.graph, report.places);
    chip->erase("entries");
    report.device = std::move(chip);
  }
  addBlocks();
  addSources();
}

void Collector::remarked(llvm::ArrayRef<RemarkRecord> remarks) {
  for (const RemarkRecord &remark : remarks) {
    llvm::json::Object one = remarkJson(remark);
    for (StringRef key : {"file", "line", "column", "path"}) // which `loc` says
      one.erase(key);
    one["loc"] = report.places.loc(remark.loc);
    if (llvm::json::Array *notes = one.getArray("notes"))
      for (llvm::json::Value &note : *notes)
        if (llvm::json::Object *object = note.getAsObject())
          if (std::optional<StringRef> file = object->getString("file"))
            (*object)["file"] = report.places.shown(*file);
    report.remarks.push_back(std::move(one));
  }
}

void Collector::generated(llvm::ArrayRef<host::CodePart> parts) { report.kernels = kernelsOf(parts); }

/// The texts of the library's blocks that the model calls.
void Collector::addBlocks() {
  const Source *library = sources.find("stdlib.json");
  const JsonValue *blocks = library && library->json ? library->json->find("blocks") : nullptr;
  for (const Node &node : report.graph.nodes)
    if (const JsonValue *block = blocks && node.kind == "block" ? blocks->find(node.label) : nullptr) {
      Span span = Sources::spanOf("stdlib.json", *library, *block);
      SmallVector<StringRef> lines;
      StringRef(library->text).split(lines, '\n');
      std::string text;
      for (unsigned line = span.first; line <= span.last && line <= lines.size(); ++line)
        text += (lines[line - 1] + "\n").str();
      report.blocks[node.label] = std::move(text);
      report.blockLines[node.label] = span.first;
    }
}

/// The texts of all files that places name.
void Collector::addSources() {
  for (const Place &place : report.places.places)
    if (!place.file.empty() && place.file != "stdlib.json" && !report.sources.count(place.file))
      if (const Source *source = sources.find(report.places.original(place.file)))
        report.sources[place.file] = source->text;
}
