//===- RemarkCollector.cpp - remarks of a compilation as data -------------===//

#include "compiler/Driver/RemarkCollector.h"
#include "compiler/Import/Json/Diagnostics.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Regex.h"

using namespace mlir;
using namespace heddle;
using remarks::Kind;

static StringRef nameOf(Kind kind) {
  switch (kind) {
  case remarks::Passed: return "passed";
  case remarks::Missed: return "missed";
  case remarks::Analysis: return "analysis";
  }
  llvm_unreachable("there are three kinds");
}

StringRef RemarkRecord::kindName() const { return nameOf(kind); }

/// The filter of MLIR's engine for one kind: the names of the table that `pattern` is found in.
static std::optional<std::string> filterFor(Kind kind, const llvm::Regex &pattern) {
  SmallVector<std::string> names;
  for (const remarks::Row &row : remarks::table())
    if (row.has(kind) && pattern.match((row.name + " " + nameOf(kind)).str()))
      names.push_back(llvm::Regex::escape(row.name));
  return names.empty() ? std::nullopt : std::optional("^(" + llvm::join(names, "|") + ")$");
}

std::string RemarkCollector::wrong(StringRef pattern) {
  llvm::Regex regex(pattern);
  if (std::string why; !regex.isValid(why))
    return quote(pattern) + " is no regular expression: " + why;
  for (Kind kind : {remarks::Passed, remarks::Missed, remarks::Analysis})
    if (filterFor(kind, regex))
      return "";
  std::vector<StringRef> names;
  for (const remarks::Row &row : remarks::table())
    names.push_back(row.name);
  return "no remark has " + quote(pattern) + " in its name or kind, such as `fuse.map missed`" +
         nearest(pattern, names);
}

/// What MLIR's engine calls.
class RemarkCollector::Streamer final : public mlir::remark::detail::MLIRRemarkStreamerBase {
public:
  explicit Streamer(RemarkCollector &collector) : collector(collector) {}
  void streamOptimizationRemark(const mlir::remark::detail::Remark &remark) override { collector.take(remark); }

private:
  RemarkCollector &collector;
};

/// Notes which pass runs.
class RemarkCollector::PassNames final : public PassInstrumentation {
public:
  explicit PassNames(std::string &name) : name(name) {}
  void runBeforePass(Pass *pass, Operation *) override {
    if (!pass->getArgument().empty())
      name = pass->getArgument().str();
  }
  void runAfterPass(Pass *, Operation *) override { name.clear(); }
  void runAfterPassFailed(Pass *, Operation *) override { name.clear(); }

private:
  std::string &name;
};

RemarkCollector::RemarkCollector(MLIRContext &context, StringRef pattern) : context(context) {
  llvm::Regex regex(pattern.empty() ? "." : pattern); // an empty expression is found nowhere
  mlir::remark::RemarkCategories wanted;
  wanted.passed = filterFor(remarks::Passed, regex);
  wanted.missed = filterFor(remarks::Missed, regex);
  wanted.analysis = filterFor(remarks::Analysis, regex);
  [[maybe_unused]] LogicalResult enabled = mlir::remark::enableOptimizationRemarks(
      context, std::make_unique<Streamer>(*this), std::make_unique<mlir::remark::RemarkEmittingPolicyAll>(), wanted);
  assert(succeeded(enabled) && "a streamer of ours needs no file");
}

RemarkCollector::~RemarkCollector() { context.setRemarkEngine(nullptr); }

void RemarkCollector::watch(PassManager &pm) { pm.addInstrumentation(std::make_unique<PassNames>(pass)); }

void RemarkCollector::take(const mlir::remark::detail::Remark &remark) {
  Kind kind = remark.getRemarkType() == llvm::remarks::Type::Passed   ? remarks::Passed
              : remark.getRemarkType() == llvm::remarks::Type::Missed ? remarks::Missed
                                                                      : remarks::Analysis;
  StringRef entry = remark.getFunction();
  RemarkRecord record{kind,
                      remark.getRemarkName().str(),
                      pass,
                      remark.getLocation(),
                      entry.starts_with("<") ? std::string() : entry.str(),
                      {},
                      {},
                      {}};
  for (const mlir::remark::detail::Remark::Arg &arg : remark.getArgs()) {
    if (arg.key == remarks::kSentence || arg.key == remarks::kReason)
      record.message = arg.val;
    else if (auto where = dyn_cast_or_null<LocationAttr>(arg.getAttribute()))
      record.notes.push_back({where, arg.val});
    else
      record.args.emplace_back(arg.key, arg.val);
  }
  // Two targets have the stages up to `fused` in common, and say the same of them.
  auto same = [&](const RemarkRecord &other) {
    return other.kind == record.kind && other.name == record.name && other.loc == record.loc &&
           other.entry == record.entry && other.message == record.message && other.args == record.args;
  };
  uint64_t digest = llvm::hash_combine(record.loc.getAsOpaquePointer(), record.name, record.entry, record.message);
  SmallVector<unsigned, 1> &alike = known[digest];
  if (llvm::any_of(alike, [&](unsigned i) { return same(records[i]); }))
    return;
  alike.push_back(records.size());
  records.push_back(std::move(record));
}
