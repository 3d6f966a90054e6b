//===- Profile.cpp - Where the time of a call goes ------------------------===//
//
// The floor of a row is the longer of two times: operations at the peak, bytes
// at the speed of reading memory. Bytes that stay in caches move faster than
// memory, so a share above 1 by bytes is not given.
//
//===----------------------------------------------------------------------===//
#include "runtime/Bench/Profile.h"

#include "heddle/card_words.h"
#include "runtime/Core/Args.h"

#include <algorithm>
#include <iterator>

namespace heddle::rt {

double ProfileRow::computing(const Peaks &peaks) const {
  double special = dots ? peaks.dotsPerSecond : integers ? peaks.integersPerSecond : 0;
  // What is multiplied in a special way could be multiplied in f32: the better peak is the limit.
  return operations / std::max(special, peaks.flopsPerSecond);
}

/// [at PLACE] [in STATEMENT] [of NODE] [by KERNEL..]; false where it is something else.
static bool parseOrigin(std::string_view text, ProfileRow &row) {
  auto word = [&]() -> std::string_view {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    std::string_view found = text.substr(0, text.find(' '));
    text.remove_prefix(found.size());
    return found;
  };
  std::string *const fields[] = {&row.place, &row.statement, &row.node};
  constexpr std::string_view keys[] = {"at", "in", "of"};
  std::string_view key = word();
  for (size_t i = 0; i < std::size(keys); ++i) {
    if (key != keys[i])
      continue;
    std::optional<std::string> value = textOfCardWord(word());
    if (!value)
      return false;
    *fields[i] = std::move(*value);
    key = word();
  }
  if (key != "by")
    return key.empty();
  for (std::string_view name = word(); !name.empty(); name = word()) {
    std::optional<std::string> kernel = textOfCardWord(name);
    if (!kernel)
      return false;
    row.kernels.push_back(std::move(*kernel));
  }
  return !row.kernels.empty();
}

/// OPS [dots|integers] turns N operations FORM bytes FORM, and where it comes from.
static Status parsePhase(const Phase &phase, const std::vector<std::string> &dims, ProfileRow &row, Form &operations,
                         Form &bytes) {
  std::string_view text = phase.text;
  size_t turns = text.find(" turns "), at = text.find(" operations "), then = text.find(" bytes ", at);
  std::optional<int64_t> times;
  if (turns < at && at < then && then != std::string_view::npos)
    times = parseInteger(text.substr(turns + 7, at - turns - 7));
  std::string_view rest = times ? text.substr(then + 7) : std::string_view();
  size_t form = std::min(rest.find(' '), rest.size());
  if (!times || !parseOrigin(rest.substr(form), row))
    return internalError("damaged card: expected `phase OPS [dots|integers] turns N operations FORM bytes FORM "
                         "[at PLACE] [in STATEMENT] [of NODE] [by KERNEL..]`, found " +
                         quote(text));
  row.phases = *times;
  std::string_view ops = text.substr(0, turns);
  auto ends = [&](std::string_view word) {
    bool has = ops.size() > word.size() && ops.substr(ops.size() - word.size()) == word;
    if (has)
      ops.remove_suffix(word.size());
    return has;
  };
  row.dots = ends(" dots");
  row.integers = ends(" integers");
  row.ops = std::string(ops);
  row.weight = phase.weight;
  HEDDLE_TRY(Form::parse(text.substr(at + 12, then - at - 12), dims, operations));
  return Form::parse(rest.substr(0, form), dims, bytes);
}

Status profileOf(const Entry &entry, const std::vector<int64_t> &dims, const PhaseClock &clock,
                 std::vector<ProfileRow> &rows) {
  std::vector<double> seconds = clock.medians();
  rows.clear();
  for (size_t i = 0; i < entry.phases.size(); ++i) {
    ProfileRow &row = rows.emplace_back();
    Form operations, bytes;
    HEDDLE_TRY(parsePhase(entry.phases[i], entry.dims, row, operations, bytes));
    row.seconds = seconds[i];
    if (row.seconds <= 0) // after a condition: rows that are padding
      row.phases = 0;
    row.operations = double(row.phases) * double(operations.evaluate(dims.data()).value_or(0));
    row.bytes = double(row.phases) * double(bytes.evaluate(dims.data()).value_or(0));
  }
  return {};
}

/// Phases of one op and weight as one row, the longest first.
static std::vector<ProfileRow> joined(const std::vector<ProfileRow> &phases) {
  std::vector<ProfileRow> rows;
  for (const ProfileRow &one : phases) {
    auto same = [&](const ProfileRow &row) { return row.ops == one.ops && row.weight == one.weight; };
    auto row = std::find_if(rows.begin(), rows.end(), same);
    if (row == rows.end()) {
      rows.push_back(one);
      continue;
    }
    // A linear's rows are rounded in a phase of their own, which multiplies nothing.
    row->dots |= one.dots;
    row->integers |= one.integers;
    row->phases += one.phases;
    row->seconds += one.seconds;
    row->operations += one.operations;
    row->bytes += one.bytes;
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const ProfileRow &a, const ProfileRow &b) { return a.seconds > b.seconds; });
  return rows;
}

/// The floor's share of the time; 0: nothing to compare, or more than memory gives.
static double shareOf(const ProfileRow &row, const Peaks &peaks) {
  double share = std::max(row.computing(peaks), row.moving(peaks)) / row.seconds;
  return row.seconds > 0 && share <= 1 ? share : 0;
}

/// Rows of a smaller share of the time are printed as one.
static constexpr double kWorthALine = 0.002;

void printProfile(const char *title, const std::vector<ProfileRow> &phasesInOrder, const Peaks &peaks) {
  std::vector<ProfileRow> rows = joined(phasesInOrder);
  double all = 0;
  int64_t phases = 0;
  for (const ProfileRow &row : rows) {
    all += row.seconds;
    phases += row.phases;
  }
  printf("\n%s: %lld phases, %.3f ms between their barriers\n", title, static_cast<long long>(phases), all * 1e3);
  printf("%10s %6s %7s %10s %9s %9s %-8s %-24s %s\n", "ms", "%", "phases", "GFLOP/s", "GB/s", "of limit", "by", "ops",
         "weight");
  double rest = 0;
  for (const ProfileRow &row : rows) {
    if (row.seconds < kWorthALine * all) {
      rest += row.seconds;
      continue;
    }
    double share = shareOf(row, peaks);
    bool computes = row.computing(peaks) > row.moving(peaks);
    printf("%10.3f %6.1f %7lld %10.1f %9.1f %9s %-8s %-24s %s\n", row.seconds * 1e3, 100 * row.seconds / all,
           static_cast<long long>(row.phases), row.operations / row.seconds / 1e9, row.bytes / row.seconds / 1e9,
           share > 0 ? format("%.1f %%", 100 * share).c_str() : "-",
           computes    ? "compute"
           : share > 0 ? "memory"
                       : "caches",
           row.ops.c_str(), row.weight.c_str());
  }
  if (rest > 0)
    printf("%10.3f %6.1f  all others\n", rest * 1e3, 100 * rest / all);
}

std::string profileJson(const std::vector<ProfileRow> &rows, const Peaks &peaks) {
  std::string text = "[";
  for (const ProfileRow &row : rows) {
    double share = shareOf(row, peaks);
    text += &row == rows.data() ? "{" : ",{";
    for (auto [key, value] : {std::pair("ops", &row.ops),
                              {"weight", &row.weight},
                              {"place", &row.place},
                              {"statement", &row.statement},
                              {"node", &row.node}})
      text += format("\"%s\":%s,", key, jsonString(*value).c_str());
    text += "\"kernels\":[";
    for (const std::string &kernel : row.kernels)
      text += (&kernel == row.kernels.data() ? "" : ",") + jsonString(kernel);
    text += format("],\"phases\":%lld,\"ms\":%.9g,\"operations\":%.17g,\"bytes\":%.17g,"
                   "\"limit_ms\":%.9g,\"limit_fraction\":",
                   static_cast<long long>(row.phases), row.seconds * 1e3, row.operations, row.bytes,
                   1e3 * std::max(row.computing(peaks), row.moving(peaks)));
    text += share > 0 ? format("%.9g}", share) : "null}";
  }
  return text + "]";
}

} // namespace heddle::rt
