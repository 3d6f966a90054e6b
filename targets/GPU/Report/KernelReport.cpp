//===- KernelReport.cpp - what kernels take, and their bound ---------------===//
//
// Lengths for the dims of an entry, a row for each of its kernels, totals; then the same as tables for people.
//
//===----------------------------------------------------------------------===//

#include "targets/GPU/Report/KernelReport.h"
#include "compiler/Conversion/ToKernels/Launch.h"
#include "dialects/Model/IR/ReservedDims.h"
#include "dialects/Remarks/Remark.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "targets/GPU/Ptxas.h"
#include "targets/GPU/Report/Instructions.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <optional>
#include <set>

using namespace mlir;
using namespace heddle;
using namespace heddle::gpu;
using heddle::kernels::Launch;
using heddle::model::Size;

namespace {
/// What the makers of a chip say of it.
struct Machine {
  StringRef chip, product;
  double processors, gigahertz; ///< multiprocessors; the clock under load
  double bandwidth;             ///< bytes a second
  double reals, pairs;          ///< operations a second: f32, and bf16 by the units for matrices
  int64_t shared;               ///< bytes of shared memory a multiprocessor
  static constexpr int64_t registers = 65536, threads = 2048, blocks = 32, schedulers = 4;
};
} // namespace

/// A100 SXM 40 GB and H100 SXM, of NVIDIA's data sheets (dense products).
static constexpr Machine kMachines[] = {
    {"sm_80", "A100", 108, 1.41, 1555e9, 19.5e12, 312e12, 164 << 10},
    {"sm_86", "A10", 72, 1.695, 600e9, 31.2e12, 125e12, 100 << 10},
    {"sm_89", "L4", 58, 2.04, 300e9, 30.3e12, 121e12, 100 << 10},
    {"sm_90a", "H100", 132, 1.755, 3350e9, 66.9e12, 989e12, 228 << 10},
};
/// Bytes that a multiprocessor takes from the cache of all in a clock.
static constexpr double kTaken = 64;
/// Between the end of a kernel and the beginning of the next in a graph, in seconds.
static constexpr double kLaunch = 2e-6;
/// Of a dim without a bound.
static constexpr int64_t kLength = 512;

static const Machine *machineOf(StringRef chip) {
  const Machine *found = llvm::find_if(kMachines, [&](const Machine &m) { return m.chip == chip; });
  return found == std::end(kMachines) ? nullptr : found;
}

//===-- lengths ------------------------------------------------------------------------===//

/// The largest lengths that the model has.
static Dims boundsOf(ModuleOp module) {
  Dims bounds;
  if (auto all = module->getAttrOfType<DictionaryAttr>("model.dims"))
    for (NamedAttribute one : all)
      if (auto n = dyn_cast<IntegerAttr>(one.getValue()))
        bounds[one.getName().str()] = n.getInt();
  return bounds;
}

static std::set<std::string> dimsOf(llvm::ArrayRef<Launch> launches, StringRef entry) {
  std::set<std::string> dims;
  for (const Launch &launch : launches)
    if (launch.entry == entry) {
      dims.merge(launch.items.dims());
      for (const loops::Cost &cost : launch.costs)
        for (const Size &form : {cost.operations, cost.read, cost.written})
          dims.merge(form.dims());
    }
  return dims;
}

/// Every dim of an entry: as it was given; else the model's bound, 1 for the batch, a step of one row at the end of its
/// cache, or what `heddle mask` takes.
static Dims lengthsOf(const std::set<std::string> &dims, const Dims &given, const Dims &bounds) {
  Dims known = bounds;
  for (const auto &[name, n] : given)
    known[name] = n;
  Dims lengths;
  auto set = [&](StringRef dim, int64_t otherwise) {
    auto it = known.find(dim.str());
    lengths[dim.str()] = it == known.end() ? otherwise : it->second;
  };
  for (const std::string &dim : dims)
    set(dim, dim == "B" ? 1 : kLength);
  if (dims.count(model::kPastDim.str()) || dims.count(model::kCapacityDim.str())) {
    int64_t longest = known.empty() ? kLength : llvm::max_element(known, llvm::less_second())->second;
    set(model::kNewDim, 1);
    set(model::kCapacityDim, longest);
    set(model::kPastDim, lengths[model::kCapacityDim.str()] - lengths[model::kNewDim.str()]);
  }
  return lengths;
}

//===-- a kernel -----------------------------------------------------------------------===//

/// Blocks that a multiprocessor holds at a time.
static int64_t residentBlocks(const Machine &machine, const Resources &r, int64_t threads) {
  int64_t warps = (threads + 31) / 32, each = llvm::alignTo(r.registers * 32, 256);
  int64_t blocks = std::min(Machine::blocks, Machine::threads / threads);
  if (each)
    blocks = std::min(blocks, Machine::registers / (each * warps));
  if (r.shared)
    blocks = std::min(blocks, machine.shared / (r.shared + 1024)); // the system keeps 1 KiB of each
  return blocks;
}

/// "unpack_rows+rotary*2".
static std::string opsOf(const Launch &launch) {
  std::string text;
  for (auto it = launch.costs.begin(); it != launch.costs.end();) {
    auto next = std::find_if(it, launch.costs.end(), [&](const loops::Cost &cost) { return cost.op != it->op; });
    text += (text.empty() ? "" : "+") + it->op + (next - it > 1 ? "*" + std::to_string(next - it) : "");
    it = next;
  }
  return text;
}

static llvm::json::Object kernelRow(const Launch &launch, const Dims &lengths, const Machine &machine, const Mix &loop,
                                    const Resources *resources, bool pairs) {
  auto value = [&](const Size &form) { return double(form.evaluate(lengths).value_or(0)); };
  double items = value(launch.items), operations = 0, read = 0, written = 0;
  bool dots = false, untiled = false;
  llvm::json::Array parts;
  for (const loops::Cost &cost : launch.costs) {
    bool mine = items > 0; // otherwise another kernel does it
    double did = mine ? value(cost.operations) : 0, took = mine ? value(cost.read) : 0,
           left = mine ? value(cost.written) : 0;
    llvm::json::Object part{
        {"op", cost.op}, {"operations", int64_t(did)}, {"read", int64_t(took)}, {"written", int64_t(left)}};
    if (!cost.untiled.empty())
      part["untiled"] = cost.untiled;
    parts.push_back(std::move(part));
    untiled |= !cost.untiled.empty();
    dots |= cost.dots;
    operations += did;
    read += took;
    written += left;
  }
  // A block works on one multiprocessor, and a warp is issued to by one scheduler.
  double blocks = std::max(1.0, std::ceil(items * double(launch.lanes) / double(launch.threads)));
  double working = std::min(blocks, machine.processors), clock = machine.gigahertz * 1e9;
  double issued = std::min(blocks * double(launch.threads) / 32, machine.processors * Machine::schedulers);
  double bytes = read + written, memory = std::max(bytes / machine.bandwidth, bytes / (working * kTaken * clock));
  double compute = operations / ((dots ? machine.pairs : machine.reals) * working / machine.processors);
  double issue = 0;
  if (loop.operations && operations > 0)
    issue = operations / double(loop.operations) * double(loop.total()) / (issued * clock);
  double bound = std::max({memory, compute, issue});
  bool launched = items > 0 || !launch.optional;
  // Where the products have no tiles: what those of bf16, or of f32 in a model of f32, would take at least.
  double tiled = bound;
  if (untiled)
    tiled = std::max(memory, operations / ((pairs ? machine.pairs : machine.reals) * working / machine.processors));
  StringRef by = !launched          ? "nothing"
                 : bound == 0       ? "launch"
                 : bound == memory  ? "bytes"
                 : bound == compute ? "operations"
                                    : "instructions";
  llvm::json::Object row{{"kernel", launch.kernel},
                         {"op", opsOf(launch)},
                         {"parts", std::move(parts)},
                         {"place", launch.place},
                         {"launches", launched ? launch.times : 0},
                         {"items", int64_t(items)},
                         {"threads", launch.threads},
                         {"read", int64_t(read)},
                         {"written", int64_t(written)},
                         {"operations", int64_t(operations)},
                         {"bound_us", launched ? (bound + kLaunch) * 1e6 : 0},
                         {"tiled_us", launched ? (tiled + kLaunch) * 1e6 : 0},
                         {"bound_by", by.str()},
                         {"loop", loop.str()},
                         {"loop_instructions", loop.total()},
                         {"loop_products", loop.products}};
  if (resources) {
    Resources all = *resources;
    all.shared += launch.sharedOn(machine.chip);
    int64_t resident = residentBlocks(machine, all, launch.threads);
    row["registers"] = resources->registers;
    row["shared"] = all.shared;
    row["stack"] = resources->stack;
    row["spills"] = resources->spills;
    row["blocks_per_processor"] = resident;
    row["waves"] = resident && items > 0 ? blocks / (double(resident) * machine.processors) : 0;
  }
  return row;
}

//===-- the whole ----------------------------------------------------------------------===//

static llvm::json::Object entryReport(llvm::ArrayRef<Launch> launches, StringRef entry, const Dims &lengths,
                                      const Machine &machine, const std::map<std::string, Mix> &loops,
                                      const std::map<std::string, Resources> &resources) {
  llvm::json::Array rows;
  double read = 0, written = 0, reals = 0, pairs = 0, bound = 0, tiled = 0;
  int64_t count = 0;
  bool halves = llvm::any_of(launches, [](const Launch &launch) {
    return llvm::any_of(launch.costs, [](const loops::Cost &cost) {
      return cost.dots || cost.untiled == "f16" || cost.untiled == "wide";
    });
  });
  for (const Launch &launch : launches) {
    if (launch.entry != entry)
      continue;
    auto loop = loops.find(launch.kernel);
    auto taken = resources.find(launch.kernel);
    llvm::json::Object row = kernelRow(launch, lengths, machine, loop == loops.end() ? Mix() : loop->second,
                                       taken == resources.end() ? nullptr : &taken->second, halves);
    bool dots = llvm::any_of(launch.costs, [](const loops::Cost &cost) { return cost.dots; });
    double times = double(*row.getInteger("launches"));
    read += times * double(*row.getInteger("read"));
    written += times * double(*row.getInteger("written"));
    (dots ? pairs : reals) += times * double(*row.getInteger("operations"));
    bound += times * *row.getNumber("bound_us");
    tiled += times * *row.getNumber("tiled_us");
    count += *row.getInteger("launches");
    rows.push_back(std::move(row));
  }
  double roofline = std::max((read + written) / machine.bandwidth, reals / machine.reals + pairs / machine.pairs);
  llvm::json::Object dims;
  for (const auto &[name, n] : lengths)
    dims[name] = n;
  return llvm::json::Object{{"entry", entry.str()},
                            {"dims", std::move(dims)},
                            {"kernels", std::move(rows)},
                            {"launches", count},
                            {"read", int64_t(read)},
                            {"written", int64_t(written)},
                            {"operations_f32", int64_t(reals)},
                            {"operations_bf16", int64_t(pairs)},
                            {"bound_us", bound},
                            {"tiled_us", tiled},
                            {"roofline_us", roofline * 1e6}};
}

/// What each kernel of an entry takes, as remarks.
static void remarkOn(ModuleOp module, const llvm::json::Object &entry) {
  for (const llvm::json::Value &value : *entry.getArray("kernels")) {
    const llvm::json::Object &row = *value.getAsObject();
    Operation *kernel = module.lookupSymbol(*row.getString("kernel"));
    if (!kernel)
      continue;
    remarks::InFlight remark = remarks::analysis(kernel, remarks::KernelDevice);
    remark << *row.getString("kernel") << " of @" << *entry.getString("entry") << " takes "
           << remarks::number("bound_us", llvm::formatv("{0:F1}", *row.getNumber("bound_us")).str())
           << " us at least, bound by " << *row.getString("bound_by");
    for (StringRef name : {"registers", "spills", "shared"})
      if (std::optional<int64_t> n = row.getInteger(name))
        remark << ", " << name << " " << remarks::number(name, *n);
    if (std::optional<double> waves = row.getNumber("waves"))
      remark.add("waves", llvm::formatv("{0:F2}", *waves).str());
  }
}

std::optional<llvm::json::Object> heddle::gpu::report(ModuleOp module, StringRef ptx, StringRef chip, const Dims &dims,
                                                      StringRef assembler, std::string &error) {
  const Machine *machine = machineOf(chip);
  if (!machine) {
    error = "there is no bound for " + chip.str() + ": its bandwidth and peaks are not in the table";
    return std::nullopt;
  }
  std::vector<Launch> launches;
  llvm::SmallVector<std::string> entries;
  for (auto f : module.getOps<LLVM::LLVMFuncOp>()) {
    if (!tile::isFor(f, chip))
      continue;
    for (Launch &launch : Launch::of(f)) {
      if (!llvm::is_contained(entries, launch.entry))
        entries.push_back(launch.entry);
      launches.push_back(std::move(launch));
    }
  }
  std::set<std::string> known;
  for (const std::string &entry : entries)
    known.merge(dimsOf(launches, entry));
  if (known.count(model::kPastDim.str())) // what a step has, though no form may need it
    known.insert(std::begin(model::kStepDims), std::end(model::kStepDims));
  for (const auto &[name, n] : dims)
    if (!known.count(name)) {
      error = "--dims: there is no dim '" + name + "'; the model has " + llvm::join(known, ", ");
      return std::nullopt;
    }
  std::map<std::string, Resources> resources;
  if (!assembler.empty()) {
    std::optional<Assembled> made = assemble(assembler, ptx, chip, error);
    if (!made)
      return std::nullopt;
    resources = std::move(made->resources);
  }
  std::map<std::string, Mix> loops = hotLoops(ptx);
  llvm::json::Array all;
  for (const std::string &entry : entries)
    all.push_back(entryReport(launches, entry, lengthsOf(dimsOf(launches, entry), dims, boundsOf(module)), *machine,
                              loops, resources));
  if (remarks::wanted(module))
    for (const llvm::json::Value &entry : all)
      remarkOn(module, *entry.getAsObject());
  return llvm::json::Object{{"chip", chip.str()},
                            {"product", machine->product.str()},
                            {"processors", machine->processors},
                            {"bandwidth", machine->bandwidth},
                            {"operations_f32", machine->reals},
                            {"operations_bf16", machine->pairs},
                            {"assembled", !assembler.empty()},
                            {"entries", std::move(all)}};
}

//===-- for people -----------------------------------------------------------------------===//

/// A column: words to the left, numbers to the right.
static void cell(llvm::raw_ostream &os, StringRef text, int width, bool left) {
  os << (left ? llvm::left_justify(text, width) : llvm::right_justify(text, width)) << " ";
}
static std::string fixed(double x, int digits) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.*f", digits, x);
  return text;
}

static void printEntry(const llvm::json::Object &entry, llvm::raw_ostream &os) {
  std::string dims;
  for (const auto &[name, n] : *entry.getObject("dims"))
    dims += ", " + name.str() + " = " + std::to_string(*n.getAsInteger());
  os << "\nentry " << *entry.getString("entry") << dims << "\n";
  struct Column {
    StringRef head;
    int width;
    bool left;
  };
  static constexpr Column columns[] = {
      {"kernel", 10, true},  {"op", 20, true},       {"times", 5, false},  {"items", 9, false},
      {"read MB", 9, false}, {"wrote MB", 9, false}, {"MFLOP", 10, false}, {"regs", 4, false},
      {"shared", 6, false},  {"stack", 5, false},    {"spills", 6, false}, {"blocks", 6, false},
      {"waves", 7, false},   {"bound us", 9, false}, {"by", 12, true},     {"place", 30, true}};
  for (const Column &column : columns)
    cell(os, column.head, column.width, column.left);
  os << "inner loop\n";
  for (const llvm::json::Value &value : *entry.getArray("kernels")) {
    const llvm::json::Object &row = *value.getAsObject();
    auto whole = [&](StringRef key) {
      std::optional<int64_t> n = row.getInteger(key);
      return n ? std::to_string(*n) : std::string("-");
    };
    std::optional<double> waves = row.getNumber("waves");
    std::string cells[] = {row.getString("kernel")->str(),
                           row.getString("op")->str(),
                           whole("launches"),
                           whole("items"),
                           fixed(double(*row.getInteger("read")) / 1e6, 3),
                           fixed(double(*row.getInteger("written")) / 1e6, 3),
                           fixed(double(*row.getInteger("operations")) / 1e6, 1),
                           whole("registers"),
                           whole("shared"),
                           whole("stack"),
                           whole("spills"),
                           whole("blocks_per_processor"),
                           waves ? fixed(*waves, 2) : "-",
                           fixed(*row.getNumber("bound_us"), 1),
                           row.getString("bound_by")->str(),
                           row.getString("place")->str()};
    for (auto [column, text] : llvm::zip_equal(columns, cells))
      cell(os, text, column.width, column.left);
    os << *row.getString("loop") << "\n";
  }
  os << "total: " << *entry.getInteger("launches") << " launches, " << fixed(double(*entry.getInteger("read")) / 1e6, 1)
     << " MB read, " << fixed(double(*entry.getInteger("written")) / 1e6, 1) << " MB written, "
     << fixed(double(*entry.getInteger("operations_f32")) / 1e9, 2) << " GFLOP in f32, "
     << fixed(double(*entry.getInteger("operations_bf16")) / 1e9, 2) << " in bf16; at least "
     << fixed(*entry.getNumber("bound_us"), 0) << " us, of which bytes and products alone "
     << fixed(*entry.getNumber("roofline_us"), 0) << " us\n";
}

void heddle::gpu::print(const llvm::json::Object &report, llvm::raw_ostream &os) {
  os << *report.getString("chip") << " (" << *report.getString("product") << ": "
     << fixed(*report.getNumber("processors"), 0) << " multiprocessors, "
     << fixed(*report.getNumber("bandwidth") / 1e9, 0) << " GB/s, "
     << fixed(*report.getNumber("operations_f32") / 1e12, 1) << " TFLOP/s in f32, "
     << fixed(*report.getNumber("operations_bf16") / 1e12, 0) << " in bf16): bounds, not measurements\n";
  if (!*report.getBoolean("assembled"))
    os << "no ptxas on the path: registers, stack and blocks are not known\n";
  for (const llvm::json::Value &entry : *report.getArray("entries"))
    printEntry(*entry.getAsObject(), os);
}
