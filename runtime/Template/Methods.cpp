//===- Methods.cpp - Methods of texts, lists and dicts --------------------===//
//
// Python's methods as far as templates call them. Those that change a list or a
// dict are forbidden, as in the sandbox that transformers renders in.
//
//===----------------------------------------------------------------------===//
#include "heddle/utf8.h"
#include "runtime/Template/RenderState.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace heddle::rt::chat {

namespace {

struct MethodRow {
  std::string_view name;
  Kind kind;
  Method method;
};
constexpr MethodRow methods[] = {
#define HEDDLE_METHOD(name, kind, id) {name, Kind::kind, Method::kind##_##id},
#include "heddle/template_names.def"
};
constexpr std::string_view foreign[] = {
#define HEDDLE_REFUSED_METHOD(name) name,
#include "heddle/template_names.def"
};
constexpr std::string_view listChanges[] = {"append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort"};
constexpr std::string_view dictChanges[] = {"clear", "pop", "popitem", "setdefault", "update"};

template <typename Names> bool has(const Names &names, std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

using View = std::string_view;

/// Where `needle` begins in `text` from `from` on; npos if nowhere. In linear time.
size_t findIn(View text, View needle, size_t from) {
  if (from > text.size())
    return View::npos;
  if (needle.empty())
    return from;
  const char *begin = text.data() + from;
  const void *found = needle.size() == 1 ? memchr(begin, needle[0], text.size() - from)
                                         : memmem(begin, text.size() - from, needle.data(), needle.size());
  return found ? size_t(static_cast<const char *>(found) - text.data()) : View::npos;
}

class Pieces {
public:
  Pieces(Session &s, bool safe) : s(s), safe(safe) {}
  bool add(View piece) {
    pieces.push_back(textValue(piece, safe));
    return s.charge(1);
  }
  size_t size() const { return pieces.size(); }
  bool finish(Value &out, bool reversed = false) {
    if (!s.room(pieces.size() * sizeof(Value)))
      return false;
    auto *items = s.heap.make<Value>(pieces.size());
    std::copy(pieces.begin(), pieces.end(), items);
    if (reversed)
      std::reverse(items, items + pieces.size());
    out = listValue(items, pieces.size());
    return true;
  }

private:
  Session &s;
  bool safe;
  std::vector<Value> pieces;
};

size_t spaceAt(View text, size_t at) {
  uint32_t c;
  size_t n = decodeUtf8(text.substr(at), c);
  return n && CharacterTables::isSpace(c) ? n : 0;
}

bool splitSpace(View text, int64_t most, Pieces &out) {
  size_t at = 0;
  for (;;) {
    for (size_t n; at < text.size() && (n = spaceAt(text, at));)
      at += n;
    if (at >= text.size())
      return true;
    if (most >= 0 && int64_t(out.size()) >= most)
      return out.add(stripText(text.substr(at), nullptr, false, true));
    size_t end = at;
    while (end < text.size() && !spaceAt(text, end))
      for (++end; end < text.size() && (text[end] & 0xc0) == 0x80;)
        ++end;
    if (!out.add(text.substr(at, end - at)))
      return false;
    at = end;
  }
}

/// From the right, the pieces in reverse.
bool rsplitSpace(View text, int64_t most, Pieces &out) {
  for (;;) {
    text = stripText(text, nullptr, false, true);
    if (text.empty())
      return true;
    if (most >= 0 && int64_t(out.size()) >= most)
      return out.add(stripText(text, nullptr, true, false));
    size_t begin = text.size();
    while (begin) {
      size_t before = begin - 1;
      while (before && (text[before] & 0xc0) == 0x80)
        --before;
      if (spaceAt(text, before))
        break;
      begin = before;
    }
    if (!out.add(text.substr(begin)))
      return false;
    text = text.substr(0, begin);
  }
}

bool split(Session &s, Value v, const Arguments &given, bool fromRight, Value &out) {
  Value a[2];
  if (!bindArguments(s, "method", fromRight ? "rsplit" : "split", "sep maxsplit", 0, given, a) ||
      !s.chargeBytes(v.size))
    return false;
  if (a[1].given() && !a[1].isWhole())
    return s.fail("the most splits are an integer");
  int64_t most = a[1].given() ? a[1].integer : -1;
  View text = v.view();
  Pieces pieces(s, v.isSafe());
  if (!a[0].given() || a[0].kind == Kind::None)
    return (fromRight ? rsplitSpace(text, most, pieces) : splitSpace(text, most, pieces)) &&
           pieces.finish(out, fromRight);
  if (!a[0].isText())
    return a[0].isUndefined() ? failUndefined(s, a[0]) : s.fail(std::string("cannot split at ") + nameOf(a[0]));
  View sep = a[0].view();
  if (sep.empty())
    return s.fail("cannot split at an empty text");
  while (most < 0 || int64_t(pieces.size()) < most) {
    size_t at = fromRight ? text.rfind(sep) : findIn(text, sep, 0);
    if (fromRight && !s.charge(text.size() / 256 * sep.size())) // the worst that it may compare
      return false;
    if (at == View::npos)
      break;
    if (!pieces.add(fromRight ? text.substr(at + sep.size()) : text.substr(0, at)))
      return false;
    text = fromRight ? text.substr(0, at) : text.substr(at + sep.size());
  }
  return pieces.add(text) && pieces.finish(out, fromRight);
}

bool splitlines(Session &s, Value v, const Arguments &given, Value &out) {
  Value a[1];
  if (!bindArguments(s, "method", "splitlines", "keepends", 0, given, a) || !s.chargeBytes(v.size))
    return false;
  bool keep = truth(a[0]);
  View text = v.view();
  Pieces pieces(s, v.isSafe());
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    uint32_t c = 0;
    size_t n = std::max<size_t>(1, decodeUtf8(text.substr(at), c));
    bool ends = (c >= 10 && c <= 13) || (c >= 0x1c && c <= 0x1e) || c == 0x85 || c == 0x2028 || c == 0x2029;
    if (!ends) {
      at += n;
      continue;
    }
    size_t past = at + n + (c == '\r' && at + 1 < text.size() && text[at + 1] == '\n');
    if (!pieces.add(text.substr(begin, (keep ? past : at) - begin)))
      return false;
    begin = at = past;
  }
  return (begin == text.size() || pieces.add(text.substr(begin))) && pieces.finish(out);
}

bool strip(Session &s, Value v, const Arguments &given, bool left, bool right, Value &out) {
  Value a[1];
  if (!bindArguments(s, "method", "strip", "characters", 0, given, a) || !s.chargeBytes(v.size))
    return false;
  if (a[0].given() && a[0].kind != Kind::None && !a[0].isText())
    return a[0].isUndefined() ? failUndefined(s, a[0]) : s.fail("strip takes characters as a text");
  View characters = a[0].isText() ? a[0].view() : View();
  if (!s.charge(uint64_t(v.size) * characters.size() / 64))
    return false;
  out = textValue(stripText(v.view(), a[0].isText() ? &characters : nullptr, left, right), v.flag);
  return true;
}

/// The part of a text from character `from` up to `to`, as slices clip them; false if it begins after the end.
bool within(Session &s, Value v, const Value *bounds, View &part, size_t &skipped, bool &inside) {
  Value three[3] = {bounds[0].given() ? bounds[0] : noneValue(), bounds[1].given() ? bounds[1] : noneValue(),
                    noneValue()},
        cut;
  if (!sliceOf(s, v, three, cut))
    return false;
  part = cut.view();
  auto count = int64_t(countCharacters(v.view()));
  int64_t from = bounds[0].isWhole() ? bounds[0].integer : 0;
  if (from < 0)
    from = std::max<int64_t>(0, from + count);
  int64_t to = bounds[1].isWhole() ? bounds[1].integer : count;
  to = std::min(to < 0 ? to + count : to, count);
  inside = from <= count && from <= to;
  skipped = size_t(from);
  return true;
}

bool search(Session &s, Method method, Value v, const Arguments &given, Value &out) {
  Value a[3];
  View part;
  size_t skipped;
  bool inside;
  if (!bindArguments(s, "method", "find", "sub start end", 1, given, a) || !s.chargeBytes(v.size))
    return false;
  if (!a[0].isText())
    return a[0].isUndefined() ? failUndefined(s, a[0]) : s.fail(std::string("cannot look for ") + nameOf(a[0]));
  if (!within(s, v, a + 1, part, skipped, inside))
    return false;
  View sub = a[0].view();
  size_t at = inside ? findIn(part, sub, 0) : View::npos;
  if (method == Method::Text_count) {
    int64_t n = sub.empty() && inside ? int64_t(countCharacters(part)) + 1 : 0;
    for (; !sub.empty() && at != View::npos; at = findIn(part, sub, at + sub.size())) {
      ++n;
      if (!s.charge(1))
        return false;
    }
    out = integerValue(n);
    return true;
  }
  if (at == View::npos && method == Method::Text_index)
    return s.fail("index: the text is not in it");
  out = integerValue(at == View::npos ? -1 : int64_t(skipped + countCharacters(part.substr(0, at))));
  return true;
}

bool beginsOrEnds(Session &s, bool ends, Value v, const Arguments &given, Value &out) {
  Value a[3];
  View part;
  size_t skipped;
  bool inside, found = false;
  if (!bindArguments(s, "method", ends ? "endswith" : "startswith", "text start end", 1, given, a) ||
      !within(s, v, a + 1, part, skipped, inside))
    return false;
  const Value *all = a[0].kind == Kind::Tuple ? a[0].items : a;
  for (uint32_t i = 0; i < (a[0].kind == Kind::Tuple ? a[0].size : 1u); ++i) {
    if (!all[i].isText())
      return all[i].isUndefined() ? failUndefined(s, all[i])
                                  : s.fail(std::string("a text is expected, found ") + nameOf(all[i]));
    View with = all[i].view();
    found |= inside && part.size() >= with.size() &&
             (ends ? part.substr(part.size() - with.size()) : part.substr(0, with.size())) == with;
    if (!s.charge(1 + with.size() / 16))
      return false;
  }
  out = boolValue(found);
  return true;
}

bool join(Session &s, Value v, const Arguments &given, Value &out) {
  Value a[1];
  const Value *items;
  size_t count;
  std::string text;
  if (!bindArguments(s, "method", "join", "iterable", 1, given, a) || !itemsOf(s, a[0], items, count))
    return false;
  for (size_t i = 0; i < count; ++i) {
    if (!items[i].isText())
      return s.fail("join: item " + std::to_string(i) + " is no text but " + nameOf(items[i]));
    text += i ? v.view() : View();
    if (v.isSafe() && !items[i].isSafe())
      text += escapeHtml(items[i].view());
    else
      text += items[i].view();
    if (!s.charge(1 + (v.size + items[i].size) / 16))
      return false;
    if (!s.heap.fits(text.size()))
      return s.room(text.size());
  }
  return makeText(s, text, out, v.flag);
}

bool isKind(Session &s, Method method, Value v, Value &out) {
  View text = v.view();
  bool all = !text.empty(), upper = false, lower = false, title = false;
  for (size_t at = 0; at < text.size();) {
    uint32_t c = 0;
    at += std::max<size_t>(1, decodeUtf8(text.substr(at), c));
    uint32_t kind = s.tables.kind(c);
    upper |= (kind & tpl::kUpperLetter) != 0;
    lower |= (kind & tpl::kLowerLetter) != 0;
    title |= (kind & tpl::kTitleLetter) != 0;
    switch (method) {
    case Method::Text_isalnum: all &= (kind & (tpl::kAlpha | tpl::kDigit | tpl::kNumeric)) != 0; break;
    case Method::Text_isalpha: all &= (kind & tpl::kAlpha) != 0; break;
    case Method::Text_isdigit: all &= (kind & tpl::kDigit) != 0; break;
    case Method::Text_isspace: all &= CharacterTables::isSpace(c); break;
    default: break;
    }
  }
  if (method == Method::Text_islower)
    all = lower && !upper && !title;
  if (method == Method::Text_isupper)
    all = upper && !lower && !title;
  out = boolValue(all);
  return s.chargeBytes(text.size() * 4);
}

bool replace(Session &s, Value v, const Arguments &given, Value &out) {
  Value a[3];
  std::string text;
  if (!bindArguments(s, "method", "replace", "old new count", 2, given, a))
    return false;
  for (int i = 0; i < 2; ++i)
    if (!a[i].isText())
      return a[i].isUndefined() ? failUndefined(s, a[i])
                                : s.fail(std::string("replace takes texts, found ") + nameOf(a[i]));
  if (a[2].given() && !a[2].isWhole())
    return s.fail("the count of replace is an integer");
  std::string from(a[0].view()), to(a[1].view());
  if (v.isSafe()) {
    from = a[0].isSafe() ? from : escapeHtml(from);
    to = a[1].isSafe() ? to : escapeHtml(to);
  }
  return replaceText(s, v.view(), from, to, a[2].given() ? a[2].integer : -1, text) && makeText(s, text, out, v.flag);
}

bool affix(Session &s, Value v, const Arguments &given, bool prefix, Value &out) {
  Value a[1];
  if (!bindArguments(s, "method", prefix ? "removeprefix" : "removesuffix", "text", 1, given, a))
    return false;
  if (!a[0].isText())
    return a[0].isUndefined() ? failUndefined(s, a[0])
                              : s.fail(std::string("a text is expected, found ") + nameOf(a[0]));
  View text = v.view(), with = a[0].view();
  if (prefix && text.substr(0, with.size()) == with)
    text.remove_prefix(with.size());
  else if (!prefix && with.size() <= text.size() && text.substr(text.size() - with.size()) == with)
    text.remove_suffix(with.size());
  out = textValue(text);
  return s.chargeBytes(with.size());
}

bool changeCase(Session &s, Value v, Case how, const Arguments &given, Value &out) {
  std::string text;
  return bindArguments(s, "method", "of case", "", 0, given, nullptr) && caseOf(s, v.view(), how, text) &&
         makeText(s, text, out, v.flag);
}

//===--- dicts, lists, loops --------------------------------------------------===//

bool dictParts(Session &s, Value v, Method method, Value &out) {
  const Dict &dict = *v.dict;
  if (!s.room(dict.count * 3 * sizeof(Value)))
    return false;
  auto *items = s.heap.make<Value>(dict.count), *pairs = items;
  if (method == Method::Dict_items)
    pairs = s.heap.make<Value>(size_t(dict.count) * 2);
  for (uint32_t i = 0; i < dict.count; ++i) {
    if (method != Method::Dict_items) {
      items[i] = method == Method::Dict_keys ? dict.entries[i].key : dict.entries[i].value;
      continue;
    }
    pairs[2 * i] = dict.entries[i].key;
    pairs[2 * i + 1] = dict.entries[i].value;
    items[i] = listValue(pairs + size_t(2) * i, 2, Kind::Tuple);
  }
  out = listValue(items, dict.count);
  return true;
}

bool dictMethod(Session &s, Method method, Value v, const Arguments &given, Value &out) {
  Value a[2];
  if (method == Method::Dict_get) {
    if (!bindArguments(s, "method", "get", "key default", 1, given, a))
      return false;
    if (!isKey(a[0]))
      return s.fail(std::string(nameOf(a[0])) + " cannot be a key");
    const Value *found = findKey(*v.dict, a[0]);
    out = found ? *found : a[1].given() ? a[1] : noneValue();
    return true;
  }
  if (!bindArguments(s, "method", "of a dict", "", 0, given, a))
    return false;
  if (method != Method::Dict_copy)
    return dictParts(s, v, method, out);
  out = v; // nothing can change it
  return true;
}

bool listMethod(Session &s, Method method, Value v, const Arguments &given, Value &out) {
  Value a[1];
  int64_t n = 0;
  if (method == Method::List_list_copy) {
    out = v;
    return bindArguments(s, "method", "copy", "", 0, given, a);
  }
  if (!bindArguments(s, "method", method == Method::List_list_index ? "index" : "count", "value", 1, given, a))
    return false;
  for (uint32_t i = 0; i < v.size; ++i) {
    bool same;
    if (!equal(s, v.items[i], a[0], same))
      return false;
    if (same && method == Method::List_list_index) {
      out = integerValue(i);
      return true;
    }
    n += same;
  }
  out = integerValue(n);
  return method == Method::List_list_count || s.fail("index: the value is not in the list");
}

bool loopMethod(Session &s, Method method, Value v, const Arguments &given, Value &out) {
  LoopObject &loop = *v.loop;
  if (given.named)
    return s.fail("a method of `loop` takes no arguments by name");
  if (method == Method::Loop_cycle) {
    if (!given.positional)
      return s.fail("`loop.cycle` needs items");
    out = given.values[size_t(std::max<int64_t>(0, loop.index0)) % given.positional];
    return true;
  }
  auto *items = s.heap.make<Value>(given.positional);
  std::copy_n(given.values, given.positional, items);
  Value now = listValue(items, given.positional, Kind::Tuple);
  bool same = false;
  if (loop.changed.given() && !equal(s, loop.changed, now, same))
    return false;
  loop.changed = now;
  out = boolValue(!same);
  return true;
}

} // namespace

bool replaceText(Session &s, View text, View from, View to, int64_t count, std::string &out) {
  size_t at = 0;
  auto room = [&](size_t more) {
    if (!s.heap.fits(out.size() + more))
      return s.room(s.limits.memory + 1);
    return s.charge(1 + more / 16);
  };
  if (!room(text.size()))
    return false;
  for (; count; --count) {
    size_t found = from.empty() ? at : findIn(text, from, at);
    if (found == View::npos || found > text.size())
      break;
    if (!room(to.size() + found - at))
      return false;
    out += text.substr(at, found - at);
    out += to;
    at = found + from.size();
    if (!from.empty())
      continue;
    if (at == text.size())
      return true;
    size_t n = offsetOf(text.substr(at), 1);
    out += text.substr(at, n);
    at += n;
    if (at == text.size() && count == 1)
      return true;
  }
  out += text.substr(std::min(at, text.size()));
  return true;
}

bool findMethod(Session &s, Value v, View name, Value &out) {
  Kind kind = v.kind == Kind::Tuple ? Kind::List : v.kind;
  MethodObject object = {v, Method::Foreign, name};
  bool found = false;
  for (const MethodRow &row : methods)
    if (row.kind == kind && row.name == name && !(v.kind == Kind::Tuple && name == "copy")) {
      object.method = row.method;
      found = true;
    }
  if (v.kind == Kind::Loop) {
    found = name == "cycle" || name == "changed";
    object.method = name == "cycle" ? Method::Loop_cycle : Method::Loop_changed;
  }
  if (!found &&
      ((v.kind == Kind::List && has(listChanges, name)) || (v.kind == Kind::Dict && has(dictChanges, name)))) {
    out = undefinedValue(Why::Forbidden, name, v.kind);
    return true;
  }
  if (!found && !((v.isText() && has(foreign, name)) || (v.kind == Kind::Dict && name == "fromkeys")))
    return false;
  out.kind = Kind::Method;
  out.method = s.heap.make<MethodObject>();
  *out.method = object;
  return true;
}

bool callMethod(Session &s, const MethodObject &object, const Arguments &given, Value &out) {
  Value v = object.self;
  Value none[1];
  switch (object.method) {
  case Method::Text_capitalize: return changeCase(s, v, Case::Capital, given, out);
  case Method::Text_lower: return changeCase(s, v, Case::Lower, given, out);
  case Method::Text_title: return changeCase(s, v, Case::Title, given, out);
  case Method::Text_upper: return changeCase(s, v, Case::Upper, given, out);
  case Method::Text_count:
  case Method::Text_find:
  case Method::Text_index: return search(s, object.method, v, given, out);
  case Method::Text_endswith: return beginsOrEnds(s, true, v, given, out);
  case Method::Text_startswith: return beginsOrEnds(s, false, v, given, out);
  case Method::Text_isalnum:
  case Method::Text_isalpha:
  case Method::Text_isdigit:
  case Method::Text_islower:
  case Method::Text_isspace:
  case Method::Text_isupper:
    return bindArguments(s, "method", object.name, "", 0, given, none) && isKind(s, object.method, v, out);
  case Method::Text_join: return join(s, v, given, out);
  case Method::Text_lstrip: return strip(s, v, given, true, false, out);
  case Method::Text_rstrip: return strip(s, v, given, false, true, out);
  case Method::Text_strip: return strip(s, v, given, true, true, out);
  case Method::Text_removeprefix: return affix(s, v, given, true, out);
  case Method::Text_removesuffix: return affix(s, v, given, false, out);
  case Method::Text_replace: return replace(s, v, given, out);
  case Method::Text_split: return split(s, v, given, false, out);
  case Method::Text_rsplit: return split(s, v, given, true, out);
  case Method::Text_splitlines: return splitlines(s, v, given, out);
  case Method::Dict_copy:
  case Method::Dict_get:
  case Method::Dict_items:
  case Method::Dict_keys:
  case Method::Dict_values: return dictMethod(s, object.method, v, given, out);
  case Method::List_list_copy:
  case Method::List_list_count:
  case Method::List_list_index: return listMethod(s, object.method, v, given, out);
  case Method::Loop_cycle:
  case Method::Loop_changed: return loopMethod(s, object.method, v, given, out);
  case Method::Foreign: break;
  }
  return s.fail("the method `" + std::string(object.name) + "` of " + nameOf(v) + " is not compiled");
}

//===--- `%` ------------------------------------------------------------------===//

bool formatText(Session &s, Value pattern, Value values, Value &out) {
  View form = pattern.view();
  const Value *items = values.kind == Kind::Tuple ? values.items : &values;
  size_t count = values.kind == Kind::Tuple ? values.size : 1, used = 0;
  std::string text;
  for (size_t at = 0; at < form.size(); ++at) {
    if (form[at] != '%') {
      text += form[at];
      continue;
    }
    ++at;
    std::string flags;
    Value named;
    if (at < form.size() && form[at] == '(') {
      size_t end = form.find(')', at);
      if (end == View::npos || values.kind != Kind::Dict)
        return s.fail("a format with names takes a dict");
      const Value *found = findKey(*values.dict, form.substr(at + 1, end - at - 1));
      if (!found)
        return s.fail("the dict lacks a name of the format");
      named = *found;
      at = end + 1;
      used = 1;
    }
    while (at < form.size() && std::string_view("-+ #0").find(form[at]) != View::npos)
      flags += form[at++];
    int64_t numbers[2] = {0, -1};
    auto next = [&](Value &v) {
      if (named.given()) {
        v = named;
        return true;
      }
      if (used >= count)
        return s.fail("too few values for the format");
      v = items[used++];
      return true;
    };
    for (int i = 0; i < 2; ++i) {
      if (i && (at >= form.size() || form[at] != '.'))
        break;
      at += i;
      numbers[i] = 0;
      if (at < form.size() && form[at] == '*') {
        Value star;
        if (!next(star) || !star.isWhole())
          return s.fail("`*` in a format takes an integer");
        numbers[i] = std::clamp<int64_t>(star.integer, -2000, 2000);
        ++at;
      }
      for (; at < form.size() && form[at] >= '0' && form[at] <= '9'; ++at)
        numbers[i] = std::min<int64_t>(100000, numbers[i] * 10 + (form[at] - '0'));
    }
    if (numbers[0] < 0) {
      flags += '-';
      numbers[0] = -numbers[0];
    }
    if (std::max(numbers[0], numbers[1]) > 1000)
      return s.fail("width and precision of a format are at most 1000");
    while (at < form.size() && (form[at] == 'l' || form[at] == 'h' || form[at] == 'L'))
      ++at;
    if (at >= form.size())
      return s.fail("a format that is cut off");
    char kind = form[at];
    if (kind == '%') {
      text += '%';
      continue;
    }
    Value v;
    if (!next(v))
      return false;
    if (v.isUndefined() && kind != 's' && kind != 'r')
      return failUndefined(s, v);
    std::string made, sign;
    char spec[64];
    bool numeric = true;
    auto precision = int(numbers[1]);
    switch (kind) {
    case 's':
    case 'r':
      numeric = false;
      if (!(kind == 's' ? print(s, v, made) : printRepr(s, v, made, 0)))
        return false;
      if (pattern.isSafe() && !v.isSafe())
        made = escapeHtml(made);
      if (precision >= 0)
        made.resize(offsetOf(made, size_t(precision)));
      break;
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
    case 'o': {
      bool decimal = kind == 'd' || kind == 'i' || kind == 'u';
      if (v.kind == Kind::Real && decimal && std::fabs(v.real) < 9223372036854775808.0)
        v = integerValue(int64_t(v.real));
      if (!v.isWhole())
        return s.fail(std::string("the format %") + kind + " takes an integer, found " + nameOf(v));
      uint64_t size = v.integer < 0 ? 0 - uint64_t(v.integer) : uint64_t(v.integer);
      snprintf(spec, sizeof spec, decimal ? "%lu" : kind == 'x' ? "%lx" : kind == 'X' ? "%lX" : "%lo", size);
      made = spec;
      if (int64_t(made.size()) < precision)
        made.insert(0, size_t(precision) - made.size(), '0');
      sign = v.integer < 0 ? "-" : "";
      if (!decimal && flags.find('#') != flags.npos)
        made.insert(0, std::string("0") + kind);
      break;
    }
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'e':
    case 'E': {
      if (!v.isNumber())
        return s.fail(std::string("the format %") + kind + " takes a number, found " + nameOf(v));
      std::string shape = std::string("%") + (flags.find('#') != flags.npos ? "#" : "") + ".*" + kind;
      std::vector<char> digits(1500);
      snprintf(digits.data(), digits.size(), shape.c_str(), precision < 0 ? 6 : precision, std::fabs(v.number()));
      made = digits.data();
      sign = std::signbit(v.number()) && !std::isnan(v.number()) ? "-" : "";
      break;
    }
    case 'c':
      numeric = false;
      if (v.isText() && countCharacters(v.view()) == 1)
        made = std::string(v.view());
      else if (v.isWhole() && v.integer >= 0 && v.integer < 0x110000 && !(v.integer >= 0xd800 && v.integer < 0xe000))
        appendUtf8(made, uint32_t(v.integer));
      else
        return s.fail("the format %c takes a character");
      break;
    default: return s.fail(std::string("there is no format %") + kind);
    }
    auto has = [&](char flag) { return flags.find(flag) != flags.npos; };
    if (numeric && sign.empty())
      sign = has('+') ? "+" : has(' ') ? " " : "";
    size_t size = countCharacters(made) + sign.size(), width = size_t(numbers[0]);
    size_t pad = width > size ? width - size : 0;
    if (has('-'))
      made = sign + made + std::string(pad, ' ');
    else if (has('0') && numeric)
      made = sign + std::string(pad, '0') + made;
    else
      made = std::string(pad, ' ') + sign + made;
    text += made;
    if (!s.charge(1 + made.size() / 16) || !s.heap.fits(text.size()))
      return s.failed ? false : s.room(text.size());
  }
  bool all = used >= count || values.kind == Kind::Dict || (values.kind != Kind::Tuple && values.isList() && used == 0);
  if (!all)
    return s.fail("too many values for the format");
  return makeText(s, text, out, pattern.flag);
}

} // namespace heddle::rt::chat
