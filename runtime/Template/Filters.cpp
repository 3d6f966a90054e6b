//===- Filters.cpp - The filters of templates -----------------------------===//
//
// What Jinja 3.1's filters do, one function for each that is more than a line.
// Those that make generators there compute at once here, but what they return
// is an iterator: always true, without a length, empty the second time.
//
//===----------------------------------------------------------------------===//
#include "runtime/Template/FilterParts.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace heddle::rt::chat {

using namespace tpl;

bool bindArguments(Session &s, const char *what, std::string_view name, std::string_view parameters, size_t least,
                   const Arguments &given, Value *bound) {
  auto says = [&](std::string_view problem) {
    return s.fail("the " + std::string(what) + " `" + std::string(name) + "` " + std::string(problem));
  };
  std::vector<std::string_view> names;
  while (!parameters.empty()) {
    size_t end = std::min(parameters.find(' '), parameters.size());
    names.push_back(parameters.substr(0, end));
    parameters.remove_prefix(std::min(end + 1, parameters.size()));
  }
  for (size_t i = 0; i < names.size(); ++i)
    bound[i] = {};
  if (given.positional > names.size())
    return says("takes at most " + std::to_string(names.size()) + " arguments");
  std::copy_n(given.values, given.positional, bound);
  for (size_t i = 0; i < given.named; ++i) {
    auto at = size_t(std::find(names.begin(), names.end(), given.names[i]) - names.begin());
    if (at == names.size())
      return says("has no argument `" + std::string(given.names[i]) + "`");
    if (bound[at].given())
      return says("is given `" + std::string(given.names[i]) + "` twice");
    bound[at] = given.values[given.positional + i];
  }
  for (size_t i = 0; i < least; ++i)
    if (!bound[i].given())
      return says("needs `" + std::string(names[i]) + "`");
  return true;
}

namespace {

struct FilterRow {
  std::string_view name;
  size_t least;
  std::string_view parameters;
};
constexpr FilterRow filters[] = {
#define HEDDLE_FILTER(name, id, least, parameters) {name, least, parameters},
#include "heddle/template_names.def"
};

/// A list that grows while it is made.
class Items {
public:
  explicit Items(Session &s) : s(s) {}
  bool add(Value v) {
    if (count == room) {
      size_t more = std::max<size_t>(16, room * 2);
      if (!s.room(more * sizeof(Value)))
        return false;
      auto *bigger = s.heap.make<Value>(more);
      std::copy_n(items, count, bigger);
      items = bigger;
      room = more;
    }
    items[count++] = v;
    return s.charge(1);
  }
  Value list() const { return listValue(items, count); }
  Value iterator() const { return iteratorOver(s, items, count); }

private:
  Session &s;
  Value *items = nullptr;
  size_t count = 0, room = 0;
};

Value pairOf(Session &s, Value a, Value b) {
  auto *two = s.heap.make<Value>(2);
  two[0] = a;
  two[1] = b;
  return listValue(two, 2, Kind::Tuple);
}

/// A text in lower case, any other value as it is.
bool ignoreCase(Session &s, Value v, Value &out) {
  out = v;
  if (!v.isText())
    return true;
  std::string text;
  return caseOf(s, v.view(), Case::Lower, text) && makeText(s, text, out);
}

/// "a.b.0", or a number: what the filters with `attribute` look up.
class Path {
public:
  bool read(Session &s, Value attribute) {
    if (!attribute.given() || attribute.kind == Kind::None)
      return true;
    if (!attribute.isText()) {
      parts.push_back(attribute);
      return true;
    }
    (void)s;
    std::string_view rest = attribute.view();
    for (;;) {
      size_t dot = std::min(rest.find('.'), rest.size());
      std::string_view part = rest.substr(0, dot);
      int64_t number = 0;
      auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
      bool digits = !part.empty() && error == std::errc() && end == part.data() + part.size() && part[0] != '-';
      parts.push_back(digits ? integerValue(number) : textValue(part));
      if (dot == rest.size())
        return true;
      rest.remove_prefix(dot + 1);
    }
  }
  bool get(Session &s, Value item, Value fallback, Value &out) const {
    for (Value part : parts) {
      if (!s.charge(1) || !itemOf(s, item, part, item))
        return false;
      if (item.isUndefined() && fallback.given() && fallback.kind != Kind::None)
        item = fallback;
    }
    out = item;
    return true;
  }

private:
  std::vector<Value> parts;
};

/// The keys of a sort: attributes with commas between them, texts in lower case unless case counts.
class SortKey {
public:
  bool read(Session &s, Value attribute, bool several, bool caseCounts) {
    ignores = !caseCounts;
    if (several && attribute.isText()) {
      std::string_view rest = attribute.view();
      for (;;) {
        size_t comma = std::min(rest.find(','), rest.size());
        paths.emplace_back();
        if (!paths.back().read(s, textValue(rest.substr(0, comma))))
          return false;
        if (comma == rest.size())
          return true;
        rest.remove_prefix(comma + 1);
      }
    }
    paths.emplace_back();
    return paths.back().read(s, attribute);
  }
  bool get(Session &s, Value item, Value &out) const {
    auto *keys = s.heap.make<Value>(paths.size());
    for (size_t i = 0; i < paths.size(); ++i)
      if (!paths[i].get(s, item, {}, keys[i]) || (ignores && !ignoreCase(s, keys[i], keys[i])))
        return false;
    out = paths.size() == 1 ? keys[0] : listValue(keys, paths.size());
    return true;
  }

private:
  std::vector<Path> paths;
  bool ignores = false;
};

/// Sorts values by keys, as Python does: equal keys first, then `<`.
bool sortBy(Session &s, std::vector<std::pair<Value, Value>> &all, bool reverse) {
  bool good = true;
  auto less = [&](const Value &a, const Value &b) {
    int sign = 0;
    bool unordered = false, same = false;
    good = good && equal(s, a, b, same) && (same || order(s, a, b, sign, unordered));
    return good && !same && sign < 0;
  };
  std::stable_sort(all.begin(), all.end(), [&](const auto &a, const auto &b) {
    return reverse ? less(b.first, a.first) : less(a.first, b.first);
  });
  return good;
}

bool sortFilter(Session &s, Value v, const Value *a, Value &out) {
  const Value *items;
  size_t count;
  SortKey key;
  if (!key.read(s, a[2], true, truth(a[1])) || !itemsOf(s, v, items, count))
    return false;
  std::vector<std::pair<Value, Value>> all(count);
  for (size_t i = 0; i < count; ++i) {
    all[i].second = items[i];
    if (!s.charge(1) || !key.get(s, items[i], all[i].first))
      return false;
  }
  if (!sortBy(s, all, truth(a[0])))
    return false;
  Items made(s);
  for (const auto &one : all)
    if (!made.add(one.second))
      return false;
  out = made.list();
  return true;
}

bool dictsortFilter(Session &s, Value v, const Value *a, Value &out) {
  bool byValue = a[1].isText() && a[1].view() == "value";
  if (v.isUndefined())
    return failUndefined(s, v);
  if (v.kind != Kind::Dict)
    return s.fail(std::string("dictsort expects a dict, found ") + nameOf(v));
  if (a[1].given() && !byValue && !(a[1].isText() && a[1].view() == "key"))
    return s.fail("dictsort sorts by \"key\" or \"value\"");
  std::vector<std::pair<Value, Value>> all(v.dict->count);
  for (size_t i = 0; i < all.size(); ++i) {
    const DictEntry &entry = v.dict->entries[i];
    Value key = byValue ? entry.value : entry.key;
    if (!truth(a[0]) && !ignoreCase(s, key, key))
      return false;
    all[i] = {key, pairOf(s, entry.key, entry.value)};
  }
  if (!sortBy(s, all, truth(a[2])))
    return false;
  Items made(s);
  for (const auto &one : all)
    if (!made.add(one.second))
      return false;
  out = made.list();
  return true;
}

bool uniqueFilter(Session &s, Value v, const Value *a, Value &out) {
  const Value *items;
  size_t count;
  SortKey key;
  if (!key.read(s, a[1], false, truth(a[0])) || !itemsOf(s, v, items, count))
    return false;
  Dict seen;
  Items made(s);
  for (size_t i = 0; i < count; ++i) {
    Value k;
    if (!key.get(s, items[i], k))
      return false;
    if (!isKey(k))
      return s.fail(std::string("unique cannot tell apart ") + nameOf(k));
    if (findKey(seen, k))
      continue;
    setKey(s.heap, seen, k, k);
    if (!made.add(items[i]))
      return false;
  }
  out = made.iterator();
  return true;
}

bool extremeFilter(Session &s, Value v, const Value *a, bool most, Value &out) {
  const Value *items;
  size_t count;
  SortKey key;
  if (!key.read(s, a[1], false, truth(a[0])) || !itemsOf(s, v, items, count))
    return false;
  Value best;
  out = undefinedValue(Why::NoItem, most ? "largest" : "smallest");
  for (size_t i = 0; i < count; ++i) {
    Value k;
    int sign = 1;
    bool unordered = false;
    if (!s.charge(1) || !key.get(s, items[i], k) || (i && !order(s, k, best, sign, unordered)))
      return false;
    if (i && (unordered || (most ? sign <= 0 : sign >= 0)))
      continue;
    best = k;
    out = items[i];
  }
  return true;
}

/// map(attribute=..), or map of a filter.
bool mapFilter(Session &s, Value v, const Arguments &given, Value &out) {
  const Value *items = nullptr;
  size_t count = 0;
  Items made(s);
  if (truth(v)) {
    Path path;
    Value attribute, fallback;
    bool byAttribute = false;
    for (size_t i = 0; i < given.named && !given.positional; ++i)
      byAttribute |= given.names[i] == "attribute";
    for (size_t i = 0; i < given.named && byAttribute; ++i) {
      Value value = given.values[i];
      if (given.names[i] == "attribute")
        attribute = value;
      else if (given.names[i] == "default")
        fallback = value;
      else
        return s.fail("the filter `map` has no argument `" + std::string(given.names[i]) + "`");
    }
    if (!byAttribute && !given.positional)
      return s.fail("the filter `map` needs the name of a filter, or `attribute`");
    if (!path.read(s, attribute) || !itemsOf(s, v, items, count))
      return false;
    Arguments rest = given;
    if (!byAttribute) {
      ++rest.values;
      --rest.positional;
    }
    for (size_t i = 0; i < count; ++i) {
      Value one;
      if (!(byAttribute ? path.get(s, items[i], fallback, one)
                        : namedFilter(s, given.values[0], items[i], rest, one)) ||
          !made.add(one))
        return false;
    }
  }
  out = made.iterator();
  return true;
}

bool selectFilter(Session &s, Value v, const Arguments &given, bool byAttribute, bool keeps, Value &out) {
  const Value *items = nullptr;
  size_t count = 0, used = byAttribute;
  Items made(s);
  if (truth(v)) {
    Path path;
    if (byAttribute && !given.positional)
      return s.fail("selectattr and rejectattr need the name of an attribute");
    if ((byAttribute && !path.read(s, given.values[0])) || !itemsOf(s, v, items, count))
      return false;
    Arguments rest = given;
    bool tests = given.positional > used;
    if (tests) {
      rest.values += used + 1;
      rest.positional -= used + 1;
    }
    for (size_t i = 0; i < count; ++i) {
      Value looked = items[i];
      bool good;
      if (byAttribute && !path.get(s, looked, {}, looked))
        return false;
      if (!tests)
        good = truth(looked);
      else if (!namedTest(s, given.values[used], looked, rest, good))
        return false;
      if (good == keeps && !made.add(items[i]))
        return false;
    }
  }
  out = made.iterator();
  return true;
}

bool itemsFilter(Session &s, Value v, Value &out) {
  Items made(s);
  if (!v.isUndefined()) {
    if (v.kind != Kind::Dict)
      return s.fail(std::string("items expects a dict, found ") + nameOf(v));
    for (uint32_t i = 0; i < v.dict->count; ++i)
      if (!made.add(pairOf(s, v.dict->entries[i].key, v.dict->entries[i].value)))
        return false;
  }
  out = made.iterator();
  return true;
}

bool joinFilter(Session &s, Value v, const Value *a, Value &out) {
  const Value *items;
  size_t count;
  Path path;
  std::string text, between;
  if (!path.read(s, a[1]) || !itemsOf(s, v, items, count) || (a[0].given() && !print(s, a[0], between)))
    return false;
  for (size_t i = 0; i < count; ++i) {
    Value item;
    if (i)
      text += between;
    if (!s.charge(1 + between.size() / 16) || !path.get(s, items[i], {}, item) || !print(s, item, text))
      return false;
    if (!s.heap.fits(text.size()))
      return s.room(text.size());
  }
  return makeText(s, text, out);
}

bool firstFilter(Session &s, Value v, Value &out) {
  Value iterator;
  if (!iterate(s, v, iterator))
    return false;
  IteratorObject &i = *iterator.iterator;
  out = i.at < i.count ? i.items[i.at++] : undefinedValue(Why::NoItem, "first");
  return true;
}

bool lastFilter(Session &s, Value v, Value &out) {
  const Value *items;
  size_t count;
  if (v.kind == Kind::Iterator)
    return s.fail("an iterator has no last item before it is made a list");
  if (!itemsOf(s, v, items, count))
    return false;
  out = count ? items[count - 1] : undefinedValue(Why::NoItem, "last");
  return true;
}

bool reverseFilter(Session &s, Value v, Value &out) {
  Value bounds[3] = {noneValue(), noneValue(), integerValue(-1)};
  if (v.isText())
    return sliceOf(s, v, bounds, out);
  const Value *items;
  size_t count;
  if (!itemsOf(s, v, items, count) || !s.room(count * sizeof(Value)))
    return false;
  auto *made = s.heap.make<Value>(count);
  std::reverse_copy(items, items + count, made);
  out = v.kind == Kind::Iterator ? listValue(made, count) : iteratorOver(s, made, count);
  return true;
}

bool sumFilter(Session &s, Value v, const Value *a, Value &out) {
  const Value *items;
  size_t count;
  Path path;
  if (!path.read(s, a[0]) || !itemsOf(s, v, items, count))
    return false;
  out = a[1].given() ? a[1] : integerValue(0);
  if (out.isText())
    return s.fail("sum does not add texts; use join");
  for (size_t i = 0; i < count; ++i) {
    Value item;
    if (!s.charge(1) || !path.get(s, items[i], {}, item) || !arithmetic(s, kAdd, out, item, out))
      return false;
  }
  return true;
}

} // namespace

bool filter(Session &s, FilterId id, Value v, const Arguments &given, Value &out) {
  const FilterRow &row = filters[id];
  Value a[4], text;
  int64_t length;
  if (row.parameters == "*") {
    switch (id) {
    case kFilter_map: return mapFilter(s, v, given, out);
    case kFilter_select: return selectFilter(s, v, given, false, true, out);
    case kFilter_reject: return selectFilter(s, v, given, false, false, out);
    case kFilter_selectattr: return selectFilter(s, v, given, true, true, out);
    default: return selectFilter(s, v, given, true, false, out);
    }
  }
  if (!bindArguments(s, "filter", row.name, row.parameters, row.least, given, a))
    return false;
  switch (id) {
  case kFilter_abs:
    if (v.isUndefined() || !v.isNumber())
      return v.isUndefined() ? failUndefined(s, v) : s.fail(std::string(nameOf(v)) + " has no absolute value");
    return negate(s, v, v.kind == Kind::Real ? std::signbit(v.real) : v.integer < 0, out);
  case kFilter_capitalize: return caseFilter(s, v, Case::Capital, out);
  case kFilter_count:
  case kFilter_length:
    if (!lengthOf(s, v, length))
      return false;
    out = integerValue(length);
    return true;
  case kFilter_d:
  case kFilter_default:
    out = v.isUndefined() || (truth(a[1]) && !truth(v)) ? (a[0].given() ? a[0] : textValue("")) : v;
    return true;
  case kFilter_dictsort: return dictsortFilter(s, v, a, out);
  case kFilter_e:
  case kFilter_escape:
    out = v;
    return v.isSafe() || (strOf(s, v, text) && makeText(s, escapeHtml(text.view()), out, true));
  case kFilter_first: return firstFilter(s, v, out);
  case kFilter_float: return floatFilter(s, v, a, out);
  case kFilter_indent: return indentFilter(s, v, a, out);
  case kFilter_int: return intFilter(s, v, a, out);
  case kFilter_items: return itemsFilter(s, v, out);
  case kFilter_join: return joinFilter(s, v, a, out);
  case kFilter_last: return lastFilter(s, v, out);
  case kFilter_list: {
    const Value *items;
    size_t count;
    if (!itemsOf(s, v, items, count))
      return false;
    out = listValue(items, count);
    return true;
  }
  case kFilter_lower: return caseFilter(s, v, Case::Lower, out);
  case kFilter_max: return extremeFilter(s, v, a, true, out);
  case kFilter_min: return extremeFilter(s, v, a, false, out);
  case kFilter_replace: return replaceFilter(s, v, a, out);
  case kFilter_reverse: return reverseFilter(s, v, out);
  case kFilter_round: return roundFilter(s, v, a, out);
  case kFilter_safe:
    if (!strOf(s, v, out))
      return false;
    out.flag = 1;
    return true;
  case kFilter_sort: return sortFilter(s, v, a, out);
  case kFilter_string: return strOf(s, v, out);
  case kFilter_sum: return sumFilter(s, v, a, out);
  case kFilter_title: return titleFilter(s, v, out);
  case kFilter_tojson: return jsonFilter(s, v, a, out);
  case kFilter_trim: return trimFilter(s, v, a, out);
  case kFilter_unique: return uniqueFilter(s, v, a, out);
  case kFilter_upper: return caseFilter(s, v, Case::Upper, out);
  default: return s.fail("there is no such filter");
  }
}

bool namedFilter(Session &s, Value name, Value v, const Arguments &given, Value &out) {
  for (uint32_t id = 0; name.isText() && id < kFilters; ++id)
    if (filters[id].name == name.view())
      return s.charge(16) && filter(s, FilterId(id), v, given, out);
  return s.fail("there is no filter `" + (name.isText() ? std::string(name.view()) : std::string(nameOf(name))) + "`");
}

} // namespace heddle::rt::chat
