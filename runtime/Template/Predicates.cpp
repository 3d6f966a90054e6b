//===- Predicates.cpp - The tests of templates, and functions -------------===//

#include "runtime/Template/RenderState.h"

#include <algorithm>
#include <cstdio>

namespace heddle::rt::chat {

using namespace tpl;

namespace {

struct TestRow {
  std::string_view name;
  size_t least;
  std::string_view parameters;
};
constexpr TestRow tests[] = {
#define HEDDLE_TEST(name, id, least, parameters) {name, least, parameters},
#include "heddle/template_names.def"
};

bool sameObject(Session &s, Value a, Value b, bool &same) {
  same = a.kind == b.kind;
  if (!same || a.kind == Kind::Undefined)
    return true;
  if (a.isNumber() || a.isText() || a.kind == Kind::None)
    return equal(s, a, b, same);
  same = a.text == b.text && a.size == b.size;
  return true;
}

/// Whether all letters of a text with letters are of one case.
bool isCase(Session &s, Value v, Method method, bool &result) {
  MethodObject object = {v, method, ""};
  Value out;
  if (!strOf(s, v, object.self) || !callMethod(s, object, {}, out))
    return false;
  result = truth(out);
  return true;
}

bool remainderIs(Session &s, Value v, Value by, int64_t rest, bool &result) {
  Value out;
  return arithmetic(s, kModulo, v, by, out) && equal(s, out, integerValue(rest), result);
}

} // namespace

bool test(Session &s, TestId id, Value v, const Arguments &given, bool &result) {
  const TestRow &row = tests[id];
  Value a[1];
  if (!bindArguments(s, "test", row.name, row.parameters, row.least, given, a))
    return false;
  switch (id) {
  case kTest_boolean: result = v.kind == Kind::Bool; return true;
  case kTest_callable:
    result = v.kind == Kind::Macro || v.kind == Kind::Method || v.kind == Kind::Function || v.kind == Kind::Loop ||
             v.isUndefined();
    return true;
  case kTest_defined: result = !v.isUndefined(); return true;
  case kTest_undefined: result = v.isUndefined(); return true;
  case kTest_divisibleby: return remainderIs(s, v, a[0], 0, result);
  case kTest_even: return remainderIs(s, v, integerValue(2), 0, result);
  case kTest_odd: return remainderIs(s, v, integerValue(2), 1, result);
  case kTest_true: result = v.kind == Kind::Bool && v.integer; return true;
  case kTest_false: result = v.kind == Kind::Bool && !v.integer; return true;
  case kTest_float: result = v.kind == Kind::Real; return true;
  case kTest_in: return contains(s, v, a[0], result);
  case kTest_integer: result = v.kind == Kind::Integer; return true;
  case kTest_iterable:
    result = v.isText() || v.isList() || v.kind == Kind::Dict || v.kind == Kind::Range || v.kind == Kind::Iterator ||
             v.isUndefined() || v.kind == Kind::Loop;
    return true;
  case kTest_sequence:
    result = v.isText() || v.isList() || v.kind == Kind::Dict || v.kind == Kind::Range ||
             (v.isUndefined() && Why(v.flag) != Why::Forbidden);
    return true;
  case kTest_lower: return isCase(s, v, Method::Text_islower, result);
  case kTest_upper: return isCase(s, v, Method::Text_isupper, result);
  case kTest_mapping: result = v.kind == Kind::Dict; return true;
  case kTest_none: result = v.kind == Kind::None; return true;
  case kTest_number: result = v.isNumber(); return true;
  case kTest_sameas: return sameObject(s, v, a[0], result);
  case kTest_string: result = v.isText(); return true;
  case kTest_eq:
  case kTest_equalto:
  case kTest_sign_eq: return compare(s, kEqual, v, a[0], result);
  case kTest_ne:
  case kTest_sign_ne: return compare(s, kUnequal, v, a[0], result);
  case kTest_lt:
  case kTest_lessthan:
  case kTest_sign_lt: return compare(s, kLess, v, a[0], result);
  case kTest_le:
  case kTest_sign_le: return compare(s, kLessOrEqual, v, a[0], result);
  case kTest_gt:
  case kTest_greaterthan:
  case kTest_sign_gt: return compare(s, kGreater, v, a[0], result);
  case kTest_ge:
  case kTest_sign_ge: return compare(s, kGreaterOrEqual, v, a[0], result);
  default: return s.fail("there is no such test");
  }
}

bool namedTest(Session &s, Value name, Value v, const Arguments &given, bool &result) {
  for (uint32_t id = 0; name.isText() && id < kTests; ++id)
    if (tests[id].name == name.view())
      return s.charge(16) && test(s, TestId(id), v, given, result);
  return s.fail("there is no test `" + (name.isText() ? std::string(name.view()) : std::string(nameOf(name))) + "`");
}

//===--- functions ------------------------------------------------------------===//

Function functionNamed(std::string_view name) {
  static const std::pair<std::string_view, Function> all[] = {{"raise_exception", Function::RaiseException},
                                                              {"strftime_now", Function::StrftimeNow},
                                                              {"namespace", Function::Namespace},
                                                              {"range", Function::Range},
                                                              {"dict", Function::Dict}};
  for (auto [known, function] : all)
    if (known == name)
      return function;
  return Function::None;
}

static bool strftimeNow(Session &s, std::string_view form, Value &out) {
  static const char *const days[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
  static const char *const months[] = {"January", "February", "March",     "April",   "May",      "June",
                                       "July",    "August",   "September", "October", "November", "December"};
  const struct tm &t = s.now;
  std::string text;
  auto number = [&](const char *pattern, int value) {
    char digits[16];
    snprintf(digits, sizeof digits, pattern, value);
    text += digits;
  };
  for (size_t i = 0; i < form.size(); ++i) {
    if (form[i] != '%' || i + 1 == form.size()) {
      text += form[i];
      continue;
    }
    switch (form[++i]) {
    case 'a': text += std::string(days[t.tm_wday]).substr(0, 3); break;
    case 'A': text += days[t.tm_wday]; break;
    case 'b': text += std::string(months[t.tm_mon]).substr(0, 3); break;
    case 'B': text += months[t.tm_mon]; break;
    case 'd': number("%02d", t.tm_mday); break;
    case 'e': number("%2d", t.tm_mday); break;
    case 'H': number("%02d", t.tm_hour); break;
    case 'I': number("%02d", t.tm_hour % 12 ? t.tm_hour % 12 : 12); break;
    case 'j': number("%03d", t.tm_yday + 1); break;
    case 'm': number("%02d", t.tm_mon + 1); break;
    case 'M': number("%02d", t.tm_min); break;
    case 'p': text += t.tm_hour < 12 ? "AM" : "PM"; break;
    case 'S': number("%02d", t.tm_sec); break;
    case 'y': number("%02d", t.tm_year % 100); break;
    case 'Y': number("%d", t.tm_year + 1900); break;
    case '%': text += '%'; break;
    default: return s.fail(std::string("strftime_now does not know `%") + form[i] + "`");
    }
  }
  return makeText(s, text, out);
}

/// dict(a dict or pairs, names): into `dict`.
static bool fillDict(Session &s, const Arguments &given, struct Dict &dict) {
  if (given.positional > 1)
    return s.fail("one dict or list of pairs is expected");
  if (given.positional) {
    Value v = given.values[0];
    const Value *items;
    size_t count;
    if (v.kind == Kind::Dict) {
      for (uint32_t i = 0; i < v.dict->count; ++i)
        setKey(s.heap, dict, v.dict->entries[i].key, v.dict->entries[i].value);
      if (!s.charge(v.dict->count))
        return false;
    } else {
      if (!itemsOf(s, v, items, count))
        return false;
      for (size_t i = 0; i < count; ++i) {
        const Value *pair;
        size_t size;
        if (!itemsOf(s, items[i], pair, size) || !s.charge(1))
          return false;
        if (size != 2 || !isKey(pair[0]))
          return s.fail("a pair of a key and a value is expected");
        setKey(s.heap, dict, pair[0], pair[1]);
      }
    }
  }
  for (size_t i = 0; i < given.named; ++i)
    setKey(s.heap, dict, textValue(given.names[i]), given.values[given.positional + i]);
  return true;
}

static bool rangeOf(Session &s, const Arguments &given, Value &out) {
  int64_t n[3] = {0, 0, 1};
  if (given.named || !given.positional || given.positional > 3)
    return s.fail("range takes one to three integers");
  for (size_t i = 0; i < given.positional; ++i) {
    if (given.values[i].isUndefined())
      return failUndefined(s, given.values[i]);
    if (!given.values[i].isWhole())
      return s.fail(std::string("range takes integers, found ") + nameOf(given.values[i]));
    n[given.positional == 1 ? 1 : i] = given.values[i].integer;
  }
  if (!n[2])
    return s.fail("the step of range is not 0");
  auto gap = n[2] > 0 ? __int128(n[1]) - n[0] : __int128(n[0]) - n[1];
  auto stride = n[2] > 0 ? __int128(n[2]) : -__int128(n[2]);
  __int128 length = gap <= 0 ? 0 : (gap - 1) / stride + 1;
  if (length > Limits::range)
    return s.fail("a range has at most " + std::to_string(Limits::range) + " items");
  out.kind = Kind::Range;
  out.range = s.heap.make<RangeObject>();
  *out.range = {n[0], n[1], n[2], int64_t(length)};
  return true;
}

bool callFunction(Session &s, Function function, const Arguments &given, Value &out) {
  Value a[1];
  switch (function) {
  case Function::RaiseException: {
    std::string message;
    if (!bindArguments(s, "function", "raise_exception", "message", 1, given, a) || !print(s, a[0], message))
      return false;
    s.raised = true;
    return s.fail(message);
  }
  case Function::StrftimeNow:
    return bindArguments(s, "function", "strftime_now", "format", 1, given, a) &&
           (a[0].isText() ? strftimeNow(s, a[0].view(), out) : s.fail("strftime_now takes a format as text"));
  case Function::Namespace:
  case Function::Dict:
    out = dictValue(s.heap.make<struct Dict>());
    if (function == Function::Namespace)
      out.kind = Kind::Namespace;
    return fillDict(s, given, *out.dict);
  case Function::Range: return rangeOf(s, given, out);
  case Function::None: break;
  }
  return s.fail("there is no such function");
}

} // namespace heddle::rt::chat
