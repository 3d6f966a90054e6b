//===- RenderState.h - What one rendering may use ---------------*- C++ -*-===//
//
// The state that every operation of a template shares: its heap, how many steps
// are left, what went wrong, and the tables about characters. Nothing throws:
// an operation that fails calls `fail` and returns false.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_TEMPLATE_RENDERSTATE_H
#define HEDDLE_RUNTIME_TEMPLATE_RENDERSTATE_H

#include "heddle/template_format.h"
#include "runtime/Template/Values.h"

#include <ctime>
#include <vector>

namespace heddle::rt::chat {

struct Limits {
  uint64_t steps = 20'000'000; ///< and one for every 16 bytes copied, compared or printed
  size_t memory = size_t(64) << 20;
  size_t output = size_t(64) << 20;
  static constexpr int depth = 64; ///< of calls, and of values that are printed or compared
  static constexpr int64_t range = 100'000;
};

/// Words of the blob.
struct WordSpan {
  const uint32_t *data = nullptr;
  size_t count = 0;
};

/// The tables about characters of a blob; empty ones know ASCII alone.
struct CharacterTables {
  WordSpan hidden, upper, lower, title, kinds;

  bool isHidden(uint32_t c) const;
  uint32_t kind(uint32_t c) const; ///< tpl::CharacterKind
  static bool isSpace(uint32_t c);
};

struct Session {
  Session(const Limits &limits, const CharacterTables &tables)
      : heap(limits.memory), limits(limits), steps(limits.steps), tables(tables) {}

  Heap heap;
  Limits limits;
  uint64_t steps;
  const CharacterTables &tables;
  struct tm now = {};
  std::string error;
  bool failed = false;
  bool raised = false; ///< the error is the text of raise_exception

  bool fail(std::string message);
  bool fail(const char *message);
  bool charge(uint64_t n) {
    if (n > steps)
      return noSteps();
    steps -= n;
    return true;
  }
  bool chargeBytes(size_t bytes) { return charge(bytes / 16); }
  /// Asks for memory before much is taken.
  bool room(size_t bytes) { return heap.fits(bytes) ? chargeBytes(bytes) : noRoom(); }
  bool deep(int depth) { return depth <= Limits::depth || tooDeep(); }

private:
  bool noSteps();
  bool noRoom();
  bool tooDeep();
};

/// The arguments of a call: by position, then by name.
struct Arguments {
  const Value *values = nullptr;
  size_t positional = 0;
  const std::string_view *names = nullptr; ///< of values[positional ..]
  size_t named = 0;
};

// Each returns false after `fail`.

/// str(v), appended.
bool print(Session &s, Value v, std::string &out);
/// Python's repr, appended.
bool printRepr(Session &s, Value v, std::string &out, int depth);
std::string realText(double value);
/// "`x` is undefined" and the like.
std::string undefinedMessage(Value v);
/// Fails with it.
bool failUndefined(Session &s, Value v);
/// A text from the heap.
bool makeText(Session &s, std::string_view text, Value &out, bool safe = false);
bool strOf(Session &s, Value v, Value &out);

struct JsonStyle {
  bool ascii = false, sorted = false, indented = false;
  std::string indent, comma = ", ", colon = ": ";
};
bool writeJson(Session &s, Value v, const JsonStyle &style, std::string &out, int depth);

/// a == b by value.
bool equal(Session &s, Value a, Value b, bool &same, int depth = 0);
/// < 0, 0, > 0 for numbers, texts and lists; others fail. NaN compares as `unordered`.
bool order(Session &s, Value a, Value b, int &sign, bool &unordered, int depth = 0);
bool contains(Session &s, Value item, Value in, bool &found);
bool compare(Session &s, tpl::Comparison how, Value a, Value b, bool &result);
bool arithmetic(Session &s, tpl::Op op, Value a, Value b, Value &out);
bool formatText(Session &s, Value pattern, Value values, Value &out);
bool negate(Session &s, Value v, bool minus, Value &out);

/// x.name and x[key].
bool attributeOf(Session &s, Value v, std::string_view name, Value &out);
bool itemOf(Session &s, Value v, Value key, Value &out);
bool sliceOf(Session &s, Value v, const Value bounds[3], Value &out);

/// The items of anything that can be iterated; an iterator is empty afterwards.
bool itemsOf(Session &s, Value v, const Value *&items, size_t &count);
bool iterate(Session &s, Value v, Value &iterator);
Value iteratorOver(Session &s, const Value *items, size_t count);
bool lengthOf(Session &s, Value v, int64_t &length);

bool filter(Session &s, tpl::FilterId id, Value v, const Arguments &given, Value &out);
bool test(Session &s, tpl::TestId id, Value v, const Arguments &given, bool &result);
bool namedFilter(Session &s, Value name, Value v, const Arguments &given, Value &out);
bool namedTest(Session &s, Value name, Value v, const Arguments &given, bool &result);

/// Methods of texts, lists and dicts.
enum class Method : uint8_t {
#define HEDDLE_METHOD(name, kind, id) kind##_##id,
#include "heddle/template_names.def"
  Loop_cycle,
  Loop_changed,
  Foreign, ///< Python has it, Heddle does not
};
struct MethodObject {
  Value self;
  Method method;
  std::string_view name;
};
bool callMethod(Session &s, const MethodObject &method, const Arguments &given, Value &out);
/// The method of a value, or that it is forbidden; false without an error if it has none.
bool findMethod(Session &s, Value v, std::string_view name, Value &out);

enum class Function : uint8_t { RaiseException, StrftimeNow, Namespace, Range, Dict, None };
Function functionNamed(std::string_view name);
bool callFunction(Session &s, Function function, const Arguments &given, Value &out);

/// The state of a loop.
struct LoopObject {
  IteratorObject *source;
  int64_t index0 = -1;
  bool counted = false, completed = false;
  int64_t length = 0;
  Value raw, before, current; ///< the item that was taken, those of the last turn and of this one
  Value changed;              ///< what `changed` was called with last; missing at first
  Value *kept = nullptr;
  size_t keptCount = 0, keptRoom = 0;
};
bool loopAttribute(Session &s, LoopObject &loop, std::string_view name, Value &out);

struct Activation;
struct MacroObject {
  uint32_t function;
  Activation *outer;
  std::string_view name;
};

// Texts.
enum class Case : uint8_t { Upper, Lower, Title, Capital };
/// Python's str.upper, .lower, .title, .capitalize.
bool caseOf(Session &s, std::string_view text, Case how, std::string &out);
std::string_view stripText(std::string_view text, const std::string_view *characters, bool left, bool right);
std::string escapeHtml(std::string_view text);
/// Text with at most `count` replacements; all if negative.
bool replaceText(Session &s, std::string_view text, std::string_view from, std::string_view to, int64_t count,
                 std::string &out);

/// Binds arguments to parameters ("a b c", the first `least` of them required); the rest stays missing.
bool bindArguments(Session &s, const char *what, std::string_view name, std::string_view parameters, size_t least,
                   const Arguments &given, Value *bound);

} // namespace heddle::rt::chat

#endif // HEDDLE_RUNTIME_TEMPLATE_RENDERSTATE_H
