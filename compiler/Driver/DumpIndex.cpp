//===- DumpIndex.cpp - differences, and the index as JSON -----------------===//

#include "compiler/Driver/DumpIndex.h"
#include "compiler/Driver/PassClock.h"
#include "dialects/Model/IR/ModelPlanAttrs.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace heddle;

void DumpIndex::writeFile(StringRef name, llvm::function_ref<void(llvm::raw_ostream &)> print) {
  if (error)
    return;
  llvm::SmallString<256> path(folder);
  llvm::sys::path::append(path, name);
  llvm::raw_fd_ostream os(path, error);
  if (!error) {
    print(os);
    os.close();
    error = os.error();
    os.clear_error();
  }
  if (error)
    failed = path.str().str();
}

void DumpIndex::begin(ModuleOp module) {
  filter.resolve(module);
  history.step(module);
  DumpRow row;
  row.run.flag = "import";
  row.run.ops = opsIn(module);
  rows.push_back(std::move(row));
}

void DumpIndex::afterPass(const PassRun &run, ModuleOp module) {
  DumpRow row;
  row.run = run;
  std::vector<NamedChange> changes = history.step(module);
  filter.keep(changes);
  for (const NamedChange &change : changes)
    if (change.isCode)
      row.functions.push_back({change.function, change.dropped(), change.added()});
    else
      row.attributes |= change.function == "attributes";
  if (row.changed()) {
    llvm::raw_string_ostream(row.diff) << llvm::format("%02u.diff", run.number);
    writeFile(row.diff, [&](llvm::raw_ostream &os) {
      os << "pass " << run.number << ", " << run.pipeline << ", of the stage " << run.stage << "\n";
      filter.print(os, changes);
    });
  }
  rows.push_back(std::move(row));
}

std::error_code DumpIndex::write(ModuleOp module, std::string &file) {
  writeFile("index.json", [&](llvm::raw_ostream &os) { printIndexJson(os, module, rows); });
  writeFile("index.html", [&](llvm::raw_ostream &os) { printIndexPage(os, module, rows); });
  file = failed;
  return error;
}

void heddle::printIndexJson(llvm::raw_ostream &os, ModuleOp module, ArrayRef<DumpRow> rows) {
  llvm::json::OStream json(os, 2);
  auto text = [&](StringRef name, StringRef value) {
    if (value.empty())
      json.attribute(name, nullptr);
    else
      json.attribute(name, llvm::json::fixUTF8(value));
  };
  json.object([&] {
    json.attribute("schema", "heddle-dump/1");
    auto name = module->getAttrOfType<StringAttr>("model.name");
    text("model", name ? name.getValue() : "");
    model::TargetAttr target = model::targetOf(module);
    text("target", target ? target.getName() : "");
    json.attributeArray("passes", [&] {
      for (const DumpRow &row : rows)
        json.object([&] {
          json.attribute("number", int64_t(row.run.number));
          text("stage", row.run.stage);
          json.attribute("pass", row.run.flag);
          text("pipeline", row.run.pipeline);
          json.attributeBegin("ms");
          json.rawValue(llvm::formatv("{0:f3}", row.run.ms).str());
          json.attributeEnd();
          json.attributeArray("ops", [&] {
            json.value(row.run.opsBefore);
            json.value(row.run.ops);
          });
          json.attribute("changed", row.changed());
          json.attributeArray("functions", [&] {
            for (const DumpRow::Function &function : row.functions)
              json.object([&] {
                text("name", function.name);
                json.attribute("dropped", int64_t(function.dropped));
                json.attribute("added", int64_t(function.added));
              });
          });
          json.attribute("attributes", row.attributes);
          text("file", row.file);
          text("diff", row.diff);
          text("command", row.command);
        });
    });
  });
  os << "\n";
}
