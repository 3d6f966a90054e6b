//===- ReportJson.cpp - report.json ---------------------------------------===//
//
// Writes what report.schema.json describes, member by member.
//
//===----------------------------------------------------------------------===//

#include "compiler/Report/ReportData.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

using namespace heddle;
using namespace heddle::report;
using llvm::StringRef;
using llvm::json::OStream;

/// Texts of files may be anything.
static std::string text(StringRef raw) { return llvm::json::isUTF8(raw) ? raw.str() : llvm::json::fixUTF8(raw); }

static void numberOrNull(OStream &j, StringRef name, std::optional<size_t> number) {
  number ? j.attribute(name, int64_t(*number)) : j.attribute(name, nullptr);
}

template <typename List> static void list(OStream &j, StringRef name, const List &values) {
  j.attributeArray(name, [&] {
    for (const auto &value : values)
      j.value(value);
  });
}

template <typename Map> static void object(OStream &j, StringRef name, const Map &values) {
  j.attributeObject(name, [&] {
    for (const auto &[key, value] : values)
      j.attribute(key, value);
  });
}

//===-- the model -------------------------------------------------------------------===//

static void writeModel(OStream &j, const Report &r) {
  j.attributeObject("model", [&] {
    j.attribute("name", text(r.modelName));
    j.attribute("path", text(r.modelPath));
    j.attribute("parameters", r.parameterCount);
    j.attribute("blob_bytes", int64_t(r.blobBytes));
  });
  j.attributeObject("target", [&] {
    j.attribute("name", r.targetName);
    j.attribute("chip", r.targetChip);
    j.attribute("lanes", r.lanes);
    j.attribute("registers", r.registers);
  });
  object(j, "bounds", r.bounds);
  object(j, "given", r.given);
  for (auto [name, texts] : {std::pair("sources", &r.sources), {"blocks", &r.blocks}})
    j.attributeObject(name, [&, texts = texts] {
      for (const auto &[file, words] : *texts)
        j.attribute(text(file), text(words));
    });
  object(j, "block_lines", r.blockLines);
  j.attributeArray("parameters", [&] {
    for (const Parameter &p : r.parameters)
      j.object([&] {
        j.attribute("name", text(p.name));
        list(j, "shape", p.shape);
        list(j, "counts", p.counts);
        j.attribute("layout", p.layout);
        j.attribute("offset", int64_t(p.offset));
        j.attribute("bytes", int64_t(p.bytes));
        j.attribute("numbers", p.numbers);
        if (p.codedBits)
          j.attributeObject("coded", [&] {
            j.attribute("bits", p.codedBits);
            j.attribute("group", p.codedGroup);
          });
      });
  });
}

static void writePlaces(OStream &j, const Places &places) {
  j.attributeArray("places", [&] {
    for (const Place &p : places.places)
      j.array([&] {
        for (const std::string *word : {&p.path, &p.file})
          word->empty() ? j.value(nullptr) : j.value(text(*word));
        j.value(int64_t(p.line));
        j.value(int64_t(p.column));
        if (!p.statement.empty())
          j.value(text(p.statement));
      });
  });
  j.attributeArray("locs", [&] {
    for (const NamedPlace &l : places.locs)
      j.array([&] {
        j.value(text(l.name));
        j.value(int64_t(l.place));
      });
  });
}

static void writeNode(OStream &j, size_t id, const Node &n, const Places &places) {
  j.attribute("id", int64_t(id));
  numberOrNull(j, "parent", n.parent);
  j.attribute("kind", n.kind);
  j.attribute("label", text(n.label));
  j.attribute("what", text(n.what));
  j.attribute("path", text(n.path));
  if (n.source.file.empty())
    j.attribute("source", nullptr);
  else
    j.attribute("source", llvm::json::Array{text(n.source.file), int64_t(n.source.first), int64_t(n.source.last)});
  j.attribute("count", n.count ? llvm::json::Value(n.count) : nullptr);
  j.attribute("loc", n.loc);
  j.attribute("place", places.placeOf(n.loc));
  if (n.op.empty())
    return;
  j.attribute("op", n.op);
  list(j, "shape", n.shape);
  j.attribute("element", n.element);
  list(j, "params", n.params);
}

static void writeGraph(OStream &j, const Report &r) {
  j.attributeArray("nodes", [&] {
    for (auto [id, node] : llvm::enumerate(r.graph.nodes))
      j.object([&, id = id, &node = node] { writeNode(j, id, node, r.places); });
  });
  j.attributeArray("edges", [&] {
    for (auto [from, to] : r.graph.edges)
      j.array([&, from = from, to = to] {
        j.value(int64_t(from));
        j.value(int64_t(to));
      });
  });
}

//===-- passes ----------------------------------------------------------------------===//

/// A time with three digits behind the point.
static double rounded(double ms) { return double(int64_t(ms * 1e3 + 0.5)) / 1e3; }

static void writePass(OStream &j, const PassRecord &p) {
  j.attribute("flag", p.run.flag);
  j.attribute("pipeline", p.run.pipeline);
  j.attribute("stage", p.run.stage);
  j.attribute("ms", rounded(p.run.ms));
  j.attribute("ops", llvm::json::Array{p.run.opsBefore, p.run.ops});
  j.attributeObject("kinds", [&] {
    for (const auto &[kind, counts] : p.kinds)
      j.attribute(kind, llvm::json::Array{counts.first, counts.second});
  });
  j.attributeArray("functions", [&] {
    for (const PassRecord::Function &f : p.functions)
      j.value(llvm::json::Array{text(f.name), f.dropped, f.added});
  });
  j.attribute("module", p.module);
  j.attribute("reproduce", p.reproduce.empty() ? llvm::json::Value(nullptr) : llvm::json::Value(p.reproduce));
}

static void writePasses(OStream &j, const Report &r) {
  j.attributeArray("stages", [&] {
    for (const StageRecord &stage : r.stages)
      j.object([&] {
        j.attribute("name", stage.name);
        j.attribute("says", stage.says);
        j.attribute("contract", stage.held ? "held" : "not checked");
      });
  });
  j.attributeArray("passes", [&] {
    for (const PassRecord &pass : r.recorder.passes)
      j.object([&] { writePass(j, pass); });
  });
  object(j, "aliases", r.recorder.aliases.all());
  list(j, "thinned", r.thinned);
}

static void writeLine(OStream &j, const Line &line) {
  j.array([&] {
    j.value(line.loc);
    j.value(text(line.text));
  });
}

static void writeFunctions(OStream &j, const Report &r) {
  j.attributeObject("functions", [&] {
    for (const auto &[name, chain] : r.recorder.functions)
      j.attributeArray(text(name), [&, &chain = chain] {
        for (const LineChange &change : chain.changes)
          j.array([&] {
            j.value(change.pass);
            j.array([&] {
              for (const LineEdit &edit : change.edits)
                j.array([&] {
                  j.value(edit.kept);
                  j.value(edit.dropped);
                  j.array([&] {
                    for (const Line &line : edit.added)
                      writeLine(j, line);
                  });
                });
            });
          });
      });
  });
}

//===-- entries ---------------------------------------------------------------------===//

static void writePhase(OStream &j, const Phase &p) {
  j.attribute("ops", p.ops);
  j.attribute("unit", p.unit);
  j.attribute("turns", p.turns);
  j.attribute("operations", p.operations);
  j.attribute("bytes", p.bytes);
  j.attribute("weight", text(p.weight));
  j.attribute("loc", p.loc);
  numberOrNull(j, "node", p.node);
  list(j, "kernels", p.kernels);
  if (p.device)
    j.attribute("device", llvm::json::Object(*p.device));
}

static void writeUse(OStream &j, const MemoryUse &use) {
  j.attributeObject("use", [&] {
    object(j, "dims", use.dims);
    j.attribute("reserved", use.reserved);
    j.attribute("alive", use.alive);
    if (use.blocked)
      j.attribute("blocked", llvm::json::Array{text(use.blocked->first), text(use.blocked->second)});
  });
}

static void writeMemory(OStream &j, const Memory &memory) {
  j.attributeObject("memory", [&] {
    if (memory.use)
      writeUse(j, *memory.use);
    j.attributeArray("rows", [&] {
      for (const MemoryRow &row : memory.rows)
        j.object([&] {
          j.attribute("name", text(row.name));
          j.attribute("loc", row.loc);
          j.attribute("kind", row.kind);
          j.attribute("offset", row.offset);
          j.attribute("bytes", row.bytes);
          j.attribute("first", row.first);
          j.attribute("last", row.last);
          j.attribute("in_place", row.inPlace);
          j.attribute("scratch", row.kind == "scratch");
        });
    });
    j.attributeArray("steps", [&] {
      for (const MemoryStep &step : memory.steps)
        j.object([&] {
          j.attribute("loc", step.loc);
          j.attribute("kind", step.kind);
        });
    });
  });
}

static void writeEntry(OStream &j, const Entry &e) {
  j.attribute("name", e.name);
  list(j, "dims", e.dims);
  list(j, "inputs", e.inputs);
  list(j, "outputs", e.outputs);
  j.attributeArray("states", [&] {
    for (const Entry::State &state : e.states)
      j.object([&] {
        j.attribute("name", text(state.name));
        j.attribute("bytes", state.bytes);
      });
  });
  for (auto [name, form] : {std::pair("flops", &e.flops), {"integers", &e.integers}, {"reads", &e.reads}})
    if (!form->empty())
      j.attribute(name, *form);
  j.attribute("arena", e.arena);
  if (!e.given.empty())
    object(j, "given", e.given);
  j.attributeArray("phases", [&] {
    for (const Phase &phase : e.phases)
      j.object([&] { writePhase(j, phase); });
  });
  writeMemory(j, e.memory);
}

//===-- kernels ---------------------------------------------------------------------===//

static void writeKernels(OStream &j, const Report &r, bool assembly) {
  j.attributeObject("kernels", [&] {
    for (const auto &[name, kernel] : r.kernels)
      j.attributeObject(name, [&, &kernel = kernel] {
        j.attribute("instructions", kernel.instructions);
        j.attribute("kb", rounded(double(kernel.bytes) / 1e3));
        j.attribute("cpu_ms", rounded(kernel.cpuMs));
        object(j, "mix", kernel.all);
        if (!kernel.inner.empty()) {
          object(j, "inner", kernel.inner);
          j.attribute("inner_lines",
                      llvm::json::Array{int64_t(kernel.innerLines.first), int64_t(kernel.innerLines.second)});
        }
        if (assembly && !kernel.text.empty())
          j.attribute("asm", llvm::join(kernel.text, "\n"));
      });
  });
}

//===-- the whole -------------------------------------------------------------------===//

static void writeFirst(OStream &j, const Report &r) {
  j.attribute("schema", kSchema);
  j.attribute("version", r.version);
  j.attribute("command", text(r.command));
  writeModel(j, r);
  writePlaces(j, r.places);
  writePasses(j, r);
  writeGraph(j, r);
  j.attributeArray("entries", [&] {
    for (const Entry &entry : r.entries)
      j.object([&] { writeEntry(j, entry); });
  });
  if (r.device)
    j.attribute("device", llvm::json::Object(*r.device));
  j.attribute("masks", r.masks);
  j.attribute("measured", r.measured);
  j.attribute("remarks", llvm::json::Array(r.remarks));
  j.attribute("complaints", r.complaints);
  j.attributeObject("compile", [&] { j.attribute("phases", llvm::json::Array(r.phases)); });
}

static std::string jsonOf(llvm::function_ref<void(OStream &)> members) {
  std::string out;
  llvm::raw_string_ostream os(out);
  OStream j(os);
  j.object([&] { members(j); });
  return out;
}

std::string report::firstJson(const Report &r) {
  return jsonOf([&](OStream &j) {
    writeFirst(j, r);
    writeKernels(j, r, /*assembly=*/false);
  });
}

std::string report::functionsJson(const Report &r) {
  return jsonOf([&](OStream &j) { writeFunctions(j, r); });
}

std::string report::assemblyJson(const Report &r) {
  return jsonOf([&](OStream &j) {
    for (const auto &[name, kernel] : r.kernels)
      if (!kernel.text.empty())
        j.attribute(name, llvm::join(kernel.text, "\n"));
  });
}

void report::writeJson(const Report &r, llvm::raw_ostream &os) {
  OStream j(os, /*IndentSize=*/0);
  j.object([&] {
    writeFirst(j, r);
    writeKernels(j, r, /*assembly=*/true);
    writeFunctions(j, r);
  });
  os << "\n";
}
