//===- CardEntries.cpp - What the lines of an entry say -------------------===//
#include "runtime/Core/CardParser.h"
#include "runtime/Core/Dims.h"

#include <algorithm>

namespace heddle::rt {

bool CardParser::readEntry() {
  Entry next;
  if ((!card.entries.empty() && !closeEntry()) || !text(next.name))
    return false;
  if (card.entry(next.name))
    return fail("an entry needs a separate name");
  next.index = int(card.entries.size());
  card.entries.push_back(std::move(next));
  sawDims = false;
  return true;
}

/// What can be said of an entry when it ends.
bool CardParser::closeEntry() {
  if (!sawDims)
    return fail(card.entries.empty() ? "no entries" : "the entry above has no `dims`");
  Status status = LaunchLine::checkEnded(entry().launches);
  return status.ok() || fail(status.message());
}

bool CardParser::readDims() {
  if (sawDims)
    return fail("`dims` appears twice");
  sawDims = true;
  return texts(entry().dims) && (entry().dims.size() <= 64 || fail("more than 64 dims"));
}

bool CardParser::readInput() { return value(entry().inputs, "default", &Value::hasDefault); }
bool CardParser::readOutput() { return value(entry().outputs, "optional-all", &Value::optionalAll); }

/// NAME TYPE [FORM, ...] and maybe `flag`, which sets `marked`.
bool CardParser::value(std::vector<Value> &values, std::string_view flag, bool Value::*marked) {
  Value value;
  if (!text(value.name))
    return false;
  std::string_view type = word();
  bool known = false;
  for (Type one : {Type::F32, Type::I64, Type::Bool})
    if (type == typeName(one)) {
      value.type = one;
      known = true;
    }
  if (!known)
    return fail("unknown type " + quote(type));
  std::string_view list = remaining();
  size_t close = list.rfind(']');
  if (list.empty() || list.front() != '[' || close == std::string_view::npos)
    return false;
  line = list.substr(close + 1);
  if (!axes(list.substr(1, close - 1), value))
    return false;
  std::string_view mark = word();
  value.*marked = mark == flag;
  for (const Value &other : values)
    if (other.name == value.name)
      return fail(quote(value.name) + " appears twice");
  values.push_back(std::move(value));
  return mark.empty() || mark == flag;
}

/// FORM, FORM: commas outside of parentheses are between axes.
bool CardParser::axes(std::string_view list, Value &value) {
  constexpr size_t kMostAxes = 16;
  int nesting = 0;
  size_t start = 0;
  for (size_t i = 0; !list.empty() && i <= list.size(); ++i) {
    char c = i < list.size() ? list[i] : ',';
    nesting += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c != ',' || (nesting != 0 && i < list.size()))
      continue;
    std::string_view axis = list.substr(start, i - start);
    axis.remove_prefix(std::min(axis.find_first_not_of(' '), axis.size()));
    axis = axis.substr(0, axis.find_last_not_of(' ') + 1);
    if (!form(axis, entry().dims, value.axes.emplace_back()))
      return false;
    start = i + 1;
  }
  return value.axes.size() <= kMostAxes || fail("more than 16 axes");
}

bool CardParser::readState() {
  State &state = entry().states.emplace_back();
  if (!text(state.name))
    return false;
  std::string_view bytes = remaining();
  size_t at = bytes.find(" groups ");
  if (at != std::string_view::npos) {
    line = bytes.substr(at + 8);
    bytes = bytes.substr(0, at);
    if (!pieces(state))
      return false;
  }
  return form(bytes, entry().dims, state.bytes);
}

/// What follows `groups`.
bool CardParser::pieces(State &state) {
  if (!integer(state.groups, 1))
    return false;
  std::string_view kind = word();
  if (kind == "rows")
    return integer(state.parts, 1) && integer(state.blockBytes, 1) && integer(state.blockPositions, 1);
  return kind.empty() || (kind == "ring" && integer(state.ring, 1));
}

bool CardParser::readRequire() {
  Requirement &need = entry().requirements.emplace_back();
  Status status = Requirement::parse(remaining(), entry().dims, need);
  if (!status.ok())
    return fail(status.message());
  const Value *without = need.without.empty() ? nullptr : entry().input(need.without);
  return need.without.empty() || (without && without->hasDefault) ||
         fail("`without` names an input that may be left out");
}

bool CardParser::readPieces() {
  return integer(entry().longestPiece, 1) && is("beyond") && integer(entry().ring, entry().longestPiece);
}

bool CardParser::readFlops() { return entry().hasFlops = formOf(entry().flops); }
bool CardParser::readIntegers() { return entry().hasIntegers = formOf(entry().integers); }
bool CardParser::readReads() { return entry().hasReads = formOf(entry().reads); }
bool CardParser::readLength() { return formOf(entry().lengths.emplace_back()); }

/// Scratch memory may also grow with the team: the dim `threads` comes last.
bool CardParser::readArena() {
  std::vector<std::string> dims = entry().dims;
  dims.emplace_back(kThreadsDim);
  return entry().hasArena = form(remaining(), dims, entry().arena);
}

bool CardParser::readPhase() {
  Phase &phase = entry().phases.emplace_back();
  phase.text = remaining();
  return comment().empty() || text(comment(), phase.weight);
}

bool CardParser::readLaunch() { return launchLine("launch"); }
bool CardParser::readRepeat() { return launchLine("repeat"); }
bool CardParser::readAgain() { return launchLine("again"); }

bool CardParser::launchLine(std::string_view key) {
  if (card.devices.empty())
    return fail("launches without a line `device`");
  Status status = LaunchLine::parse(key, remaining(), entry().dims, entry().launches);
  if (!status.ok())
    return fail(status.message());
  return comment().empty() || text(comment(), entry().launches.back().place);
}

} // namespace heddle::rt
