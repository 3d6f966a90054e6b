//===- Operators.cpp - Arithmetic, comparisons, subscripts ----------------===//
//
// Python's operators on the values of templates.
//
//===----------------------------------------------------------------------===//
#include "runtime/Template/RenderState.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace heddle::rt::chat {

//===--- arithmetic -----------------------------------------------------------===//

static const char *verbOf(tpl::Op op) {
  switch (op) {
  case tpl::kAdd: return "add";
  case tpl::kSubtract: return "subtract";
  case tpl::kMultiply: return "multiply";
  case tpl::kDivide:
  case tpl::kFloorDivide: return "divide";
  case tpl::kModulo: return "take the remainder of";
  default: return "raise to a power";
  }
}

static bool misfit(Session &s, tpl::Op op, Value a, Value b) {
  return s.fail(std::string("cannot ") + verbOf(op) + " " + nameOf(a) + " and " + nameOf(b));
}

static bool concatenate(Session &s, Value a, Value b, Value &out) {
  if (a.isText()) {
    std::string escaped;
    bool safe = a.isSafe() || b.isSafe();
    if (safe && !b.isSafe()) {
      escaped = escapeHtml(b.view());
      if (!makeText(s, escaped, b))
        return false;
    } else if (safe && !a.isSafe()) {
      escaped = escapeHtml(a.view());
      if (!makeText(s, escaped, a))
        return false;
    }
    if (!s.heap.fits(a.size + b.size) || !s.charge(4 + b.size / 16))
      return s.room(a.size + b.size);
    out = s.heap.grow(a, b.view(), safe);
    return true;
  }
  if (!s.heap.fits((size_t(a.size) + b.size) * sizeof(Value)) || !s.charge(b.size))
    return s.room((size_t(a.size) + b.size) * sizeof(Value));
  out = s.heap.growList(a, b.items, b.size);
  return true;
}

static bool repeat(Session &s, Value what, int64_t times, Value &out) {
  size_t unit = what.isText() ? what.size : what.size * sizeof(Value);
  if (times <= 0 || !unit) {
    out = what;
    out.size = 0;
    return true;
  }
  if (uint64_t(times) > s.limits.memory || !s.room(unit * size_t(times)))
    return s.room(s.limits.memory + 1);
  auto *bytes = s.heap.make<char>(unit * size_t(times));
  for (int64_t i = 0; i < times; ++i)
    memcpy(bytes + size_t(i) * unit, what.text, unit);
  out = what;
  out.size = uint32_t(what.size * uint64_t(times));
  out.text = bytes;
  return true;
}

static bool integerPower(Session &s, int64_t base, int64_t exponent, int64_t &out) {
  out = 1;
  for (; exponent; exponent >>= 1) {
    if ((exponent & 1) && __builtin_mul_overflow(out, base, &out))
      return s.fail("the result does not fit 64 bits");
    if (exponent > 1 && __builtin_mul_overflow(base, base, &base))
      return s.fail("the result does not fit 64 bits");
  }
  return true;
}

static bool integers(Session &s, tpl::Op op, int64_t a, int64_t b, Value &out) {
  int64_t r = 0;
  bool over = false;
  switch (op) {
  case tpl::kAdd: over = __builtin_add_overflow(a, b, &r); break;
  case tpl::kSubtract: over = __builtin_sub_overflow(a, b, &r); break;
  case tpl::kMultiply: over = __builtin_mul_overflow(a, b, &r); break;
  case tpl::kPower:
    if (b < 0) {
      if (!a)
        return s.fail("zero cannot be raised to a negative power");
      out = realValue(std::pow(double(a), double(b)));
      return true;
    }
    if (!integerPower(s, a, b, r))
      return false;
    break;
  default: // divisions
    if (!b)
      return s.fail("division by zero");
    if (op == tpl::kDivide) {
      out = realValue(double(a) / double(b));
      return true;
    }
    if (b == -1) {
      if (op == tpl::kFloorDivide)
        over = __builtin_sub_overflow(int64_t(0), a, &r);
      break;
    }
    r = op == tpl::kModulo ? a % b : a / b;
    if (a % b && (a < 0) != (b < 0))
      r += op == tpl::kModulo ? b : -1;
  }
  out = integerValue(r);
  return !over || s.fail("the result does not fit 64 bits");
}

static bool reals(Session &s, tpl::Op op, double a, double b, Value &out) {
  double r = 0;
  switch (op) {
  case tpl::kAdd: r = a + b; break;
  case tpl::kSubtract: r = a - b; break;
  case tpl::kMultiply: r = a * b; break;
  case tpl::kPower:
    if (a == 0 && b < 0)
      return s.fail("zero cannot be raised to a negative power");
    if (a < 0 && std::isfinite(b) && b != std::floor(b))
      return s.fail("the result is no real number");
    r = std::pow(a, b);
    if (std::isinf(r) && std::isfinite(a) && std::isfinite(b))
      return s.fail("the result is too large");
    break;
  default:
    if (b == 0)
      return s.fail("division by zero");
    if (op == tpl::kDivide) {
      r = a / b;
      break;
    }
    double rest = std::fmod(a, b), quotient = (a - rest) / b;
    if (rest != 0 && (b < 0) != (rest < 0)) {
      rest += b;
      quotient -= 1;
    } else if (rest == 0) {
      rest = std::copysign(0.0, b);
    }
    if (op == tpl::kModulo) {
      r = rest;
    } else if (quotient != 0) {
      r = std::floor(quotient);
      r += quotient - r > 0.5;
    } else {
      r = std::copysign(0.0, a / b);
    }
  }
  out = realValue(r);
  return true;
}

bool arithmetic(Session &s, tpl::Op op, Value a, Value b, Value &out) {
  if (a.isUndefined())
    return failUndefined(s, a);
  if (op == tpl::kModulo && a.isText())
    return formatText(s, a, b, out);
  if (b.isUndefined())
    return failUndefined(s, b);
  if (a.isNumber() && b.isNumber())
    return a.isWhole() && b.isWhole() ? integers(s, op, a.integer, b.integer, out)
                                      : reals(s, op, a.number(), b.number(), out);
  if (op == tpl::kAdd && a.kind == b.kind && (a.isText() || a.isList()))
    return concatenate(s, a, b, out);
  if (op == tpl::kMultiply && (a.isText() || a.isList()) && b.isWhole())
    return repeat(s, a, b.integer, out);
  if (op == tpl::kMultiply && (b.isText() || b.isList()) && a.isWhole())
    return repeat(s, b, a.integer, out);
  return misfit(s, op, a, b);
}

bool negate(Session &s, Value v, bool minus, Value &out) {
  if (v.isUndefined())
    return failUndefined(s, v);
  if (!v.isNumber())
    return s.fail(std::string(nameOf(v)) + " has no sign");
  if (v.kind == Kind::Real)
    out = realValue(minus ? -v.real : v.real);
  else if (minus && v.integer == INT64_MIN)
    return s.fail("the result does not fit 64 bits");
  else
    out = integerValue(minus ? -v.integer : v.integer);
  return true;
}

//===--- comparisons ----------------------------------------------------------===//

static bool equalDicts(Session &s, const Dict &a, const Dict &b, bool &same, int depth) {
  same = a.count == b.count;
  for (uint32_t i = 0; same && i < a.count; ++i) {
    const Value *other = findKey(b, a.entries[i].key);
    same = other;
    if (other && !equal(s, a.entries[i].value, *other, same, depth))
      return false;
  }
  return true;
}

bool equal(Session &s, Value a, Value b, bool &same, int depth) {
  same = false;
  if (!s.charge(1) || !s.deep(depth))
    return false;
  if (a.isNumber() && b.isNumber()) {
    same = a.isWhole() && b.isWhole() ? a.integer == b.integer : a.number() == b.number();
    return true;
  }
  if (a.kind != b.kind)
    return true;
  switch (a.kind) {
  case Kind::None:
  case Kind::Undefined: same = true; return true;
  case Kind::Text: same = a.view() == b.view(); return s.chargeBytes(std::min(a.size, b.size));
  case Kind::List:
  case Kind::Tuple:
    same = a.size == b.size;
    for (uint32_t i = 0; same && i < a.size; ++i)
      if (!equal(s, a.items[i], b.items[i], same, depth + 1))
        return false;
    return true;
  case Kind::Dict: return equalDicts(s, *a.dict, *b.dict, same, depth + 1);
  case Kind::Range:
    same = a.range->length == b.range->length &&
           (!a.range->length ||
            (a.range->start == b.range->start && (a.range->length == 1 || a.range->step == b.range->step)));
    return true;
  default: same = a.text == b.text; return true;
  }
}

bool order(Session &s, Value a, Value b, int &sign, bool &unordered, int depth) {
  unordered = false;
  sign = 0;
  if (!s.charge(1) || !s.deep(depth))
    return false;
  if (a.isUndefined() || b.isUndefined())
    return failUndefined(s, a.isUndefined() ? a : b);
  if (a.isWhole() && b.isWhole()) {
    sign = a.integer < b.integer ? -1 : a.integer > b.integer;
  } else if (a.isNumber() && b.isNumber()) {
    double x = a.number(), y = b.number();
    sign = x < y ? -1 : x > y;
    unordered = std::isnan(x) || std::isnan(y);
  } else if (a.isText() && b.isText()) {
    sign = a.view().compare(b.view());
    return s.chargeBytes(std::min(a.size, b.size));
  } else if (a.kind == b.kind && a.isList()) {
    for (uint32_t i = 0; i < std::min(a.size, b.size); ++i) {
      bool same;
      if (!equal(s, a.items[i], b.items[i], same, depth + 1))
        return false;
      if (!same)
        return order(s, a.items[i], b.items[i], sign, unordered, depth + 1);
    }
    sign = a.size < b.size ? -1 : a.size > b.size;
  } else {
    return s.fail(std::string("cannot order ") + nameOf(a) + " and " + nameOf(b));
  }
  return true;
}

bool contains(Session &s, Value item, Value in, bool &found) {
  found = false;
  switch (in.kind) {
  case Kind::Undefined: return true;
  case Kind::Text:
    if (!item.isText())
      return s.fail(std::string("only text can be in text, found ") + nameOf(item));
    found = !item.size || (in.size && memmem(in.text, in.size, item.text, item.size));
    return s.chargeBytes(in.size + item.size);
  case Kind::Dict:
    if (!isKey(item))
      return s.fail(std::string(nameOf(item)) + " cannot be a key");
    found = findKey(*in.dict, item);
    return true;
  case Kind::Range:
    if (item.isNumber()) {
      double at = (item.number() - double(in.range->start)) / double(in.range->step);
      found = at >= 0 && at < double(in.range->length) && at == std::floor(at);
    }
    return true;
  case Kind::List:
  case Kind::Tuple:
  case Kind::Iterator: {
    const Value *items;
    size_t count;
    if (!itemsOf(s, in, items, count))
      return false;
    for (size_t i = 0; i < count && !found; ++i)
      if (!equal(s, item, items[i], found))
        return false;
    return true;
  }
  default: return s.fail(std::string("nothing is in ") + nameOf(in));
  }
}

bool compare(Session &s, tpl::Comparison how, Value a, Value b, bool &result) {
  int sign;
  bool unordered;
  switch (how) {
  case tpl::kEqual:
  case tpl::kUnequal:
    if (!equal(s, a, b, result))
      return false;
    result ^= how == tpl::kUnequal;
    return true;
  case tpl::kIn:
  case tpl::kNotIn:
    if (!contains(s, a, b, result))
      return false;
    result ^= how == tpl::kNotIn;
    return true;
  default: break;
  }
  if (!order(s, a, b, sign, unordered))
    return false;
  result = !unordered && (how == tpl::kLess          ? sign < 0
                          : how == tpl::kLessOrEqual ? sign <= 0
                          : how == tpl::kGreater     ? sign > 0
                                                     : sign >= 0);
  return true;
}

//===--- subscripts -----------------------------------------------------------===//

/// Names that every object of Python has, which the sandbox forbids.
static bool isInternal(std::string_view name) {
  static const std::string_view names[] = {
      "__class__",   "__doc__",     "__init__", "__new__",     "__eq__",        "__ne__",           "__lt__",
      "__le__",      "__gt__",      "__ge__",   "__hash__",    "__str__",       "__repr__",         "__dir__",
      "__format__",  "__reduce__",  "__len__",  "__getitem__", "__contains__",  "__iter__",         "__sizeof__",
      "__setattr__", "__delattr__", "__add__",  "__mul__",     "__reduce_ex__", "__getattribute__", "__subclasshook__"};
  return !name.empty() && name[0] == '_' && std::find(std::begin(names), std::end(names), name) != std::end(names);
}

static bool lacksLength(Kind kind) {
  return kind == Kind::Integer || kind == Kind::Real || kind == Kind::Bool || kind == Kind::None;
}

/// What getattr of Python finds; false without an error if there is nothing.
static bool ownAttribute(Session &s, Value v, std::string_view name, Value &out) {
  if (v.kind == Kind::Namespace) {
    const Value *found = findKey(*v.dict, name);
    if (found)
      out = *found;
    return found;
  }
  if (v.kind == Kind::Loop)
    return loopAttribute(s, *v.loop, name, out);
  if (v.kind == Kind::Macro && name == "name") {
    out = textValue(v.macro->name);
    return true;
  }
  if (isInternal(name) && !(lacksLength(v.kind) && (name == "__len__" || name == "__getitem__" ||
                                                    name == "__contains__" || name == "__iter__"))) {
    out = undefinedValue(Why::Forbidden, name, v.kind);
    return true;
  }
  return findMethod(s, v, name, out);
}

bool attributeOf(Session &s, Value v, std::string_view name, Value &out) {
  if (v.isUndefined() && !isInternal(name))
    return failUndefined(s, v);
  if (ownAttribute(s, v, name, out))
    return true;
  if (s.failed)
    return false;
  const Value *found = v.kind == Kind::Dict ? findKey(*v.dict, name) : nullptr;
  out = found ? *found : undefinedValue(Why::Attribute, name, v.kind);
  return true;
}

/// Python's index into something of `count` items; false if it is outside.
static bool indexOf(Value key, int64_t count, int64_t &index) {
  if (!key.isWhole())
    return false;
  index = key.integer < 0 ? key.integer + count : key.integer;
  return index >= 0 && index < count;
}

bool itemOf(Session &s, Value v, Value key, Value &out) {
  int64_t index;
  if (v.isUndefined())
    return failUndefined(s, v);
  if (v.kind == Kind::Dict) {
    if (const Value *found = findKey(*v.dict, key)) {
      out = *found;
      return true;
    }
  } else if (v.isList() && indexOf(key, v.size, index)) {
    out = v.items[index];
    return true;
  } else if (v.isText() && key.isWhole()) {
    auto count = int64_t(countCharacters(v.view()));
    if (!s.chargeBytes(v.size))
      return false;
    if (indexOf(key, count, index)) {
      size_t from = offsetOf(v.view(), size_t(index)), to = offsetOf(v.view(), size_t(index) + 1);
      out = textValue(v.view().substr(from, to - from), v.flag);
      return true;
    }
  } else if (v.kind == Kind::Range && indexOf(key, v.range->length, index)) {
    out = integerValue(v.range->start + index * v.range->step);
    return true;
  }
  if (!key.isText()) {
    std::string name;
    if (!printRepr(s, key, name, 0))
      return false;
    Value text;
    if (!makeText(s, name, text))
      return false;
    out = undefinedValue(Why::Item, text.view(), v.kind);
    return true;
  }
  if (ownAttribute(s, v, key.view(), out))
    return true;
  out = undefinedValue(Why::Attribute, key.view(), v.kind);
  return !s.failed;
}

bool sliceOf(Session &s, Value v, const Value bounds[3], Value &out) {
  if (v.isUndefined())
    return failUndefined(s, v);
  if (!v.isText() && !v.isList() && v.kind != Kind::Range)
    return s.fail(std::string(nameOf(v)) + " has no slices");
  for (int i = 0; i < 3; ++i)
    if (bounds[i].kind != Kind::None && !bounds[i].isWhole())
      return bounds[i].isUndefined() ? failUndefined(s, bounds[i])
                                     : s.fail("the bounds of a slice are integers or none");
  int64_t count = v.isText()              ? int64_t(countCharacters(v.view()))
                  : v.kind == Kind::Range ? v.range->length
                                          : int64_t(v.size);
  if (v.isText() && !s.chargeBytes(v.size))
    return false;
  int64_t step = bounds[2].kind == Kind::None ? 1 : bounds[2].integer;
  if (!step)
    return s.fail("the step of a slice is not 0");
  int64_t least = step < 0 ? -1 : 0, most = step < 0 ? count - 1 : count;
  auto clip = [&](Value bound, int64_t missing) {
    if (bound.kind == Kind::None)
      return missing;
    int64_t at = bound.integer < 0 ? bound.integer + count : bound.integer;
    return std::clamp(at, least, most);
  };
  int64_t from = clip(bounds[0], step < 0 ? most : least), to = clip(bounds[1], step < 0 ? least : most);
  step = std::clamp<int64_t>(step, -count - 1, count + 1);
  int64_t taken =
      step > 0 ? (to > from ? (to - from - 1) / step + 1 : 0) : (from > to ? (from - to - 1) / -step + 1 : 0);
  out = v;
  if (v.kind == Kind::Range) {
    auto *range = s.heap.make<RangeObject>();
    *range = {v.range->start + from * v.range->step, v.range->start + to * v.range->step, v.range->step * step, taken};
    out.range = range;
    return true;
  }
  if (!taken) {
    out.size = 0;
    return true;
  }
  if (v.isText()) {
    if (step == 1) {
      size_t begin = offsetOf(v.view(), size_t(from)), end = offsetOf(v.view(), size_t(from + taken));
      out.text = v.text + begin;
      out.size = uint32_t(end - begin);
      return true;
    }
    std::vector<uint32_t> begins;
    for (uint32_t i = 0; i < v.size; ++i)
      if ((v.text[i] & 0xc0) != 0x80)
        begins.push_back(i);
    begins.push_back(v.size);
    std::string text;
    for (int64_t i = 0; i < taken; ++i) {
      auto at = size_t(from + i * step);
      text.append(v.text + begins[at], begins[at + 1] - begins[at]);
    }
    return s.charge(v.size) && makeText(s, text, out, v.flag);
  }
  if (step == 1) {
    out.items = v.items + from;
    out.size = uint32_t(taken);
    return true;
  }
  if (!s.room(size_t(taken) * sizeof(Value)))
    return false;
  auto *items = s.heap.make<Value>(size_t(taken));
  for (int64_t i = 0; i < taken; ++i)
    items[i] = v.items[from + i * step];
  out = listValue(items, size_t(taken), v.kind);
  return true;
}

//===--- iteration ------------------------------------------------------------===//

Value iteratorOver(Session &s, const Value *items, size_t count) {
  Value v;
  v.kind = Kind::Iterator;
  v.iterator = s.heap.make<IteratorObject>();
  *v.iterator = {items, count, 0};
  return v;
}

bool itemsOf(Session &s, Value v, const Value *&items, size_t &count) {
  Value *made;
  items = nullptr;
  count = 0;
  switch (v.kind) {
  case Kind::Undefined: return Why(v.flag) != Why::Forbidden || failUndefined(s, v);
  case Kind::List:
  case Kind::Tuple:
    items = v.items;
    count = v.size;
    return true;
  case Kind::Text:
    count = countCharacters(v.view());
    if (!s.charge(count) || !s.room(count * sizeof(Value)))
      return false;
    items = made = s.heap.make<Value>(count);
    for (size_t at = 0, next; at < v.size; at = next) {
      for (next = at + 1; next < v.size && (v.text[next] & 0xc0) == 0x80;)
        ++next;
      *made++ = textValue(v.view().substr(at, next - at));
    }
    return true;
  case Kind::Dict:
    count = v.dict->count;
    if (!s.room(count * sizeof(Value)))
      return false;
    items = made = s.heap.make<Value>(count);
    for (size_t i = 0; i < count; ++i)
      made[i] = v.dict->entries[i].key;
    return true;
  case Kind::Range:
    count = size_t(v.range->length);
    if (!s.room(count * sizeof(Value)))
      return false;
    items = made = s.heap.make<Value>(count);
    for (size_t i = 0; i < count; ++i)
      made[i] = integerValue(v.range->start + int64_t(i) * v.range->step);
    return true;
  case Kind::Iterator:
    items = v.iterator->items + v.iterator->at;
    count = v.iterator->count - v.iterator->at;
    v.iterator->at = v.iterator->count;
    return true;
  default: return s.fail(std::string(nameOf(v)) + " cannot be iterated");
  }
}

bool iterate(Session &s, Value v, Value &iterator) {
  const Value *items;
  size_t count;
  iterator = v;
  if (v.kind == Kind::Iterator)
    return true;
  if (!itemsOf(s, v, items, count))
    return false;
  iterator = iteratorOver(s, items, count);
  return true;
}

bool lengthOf(Session &s, Value v, int64_t &length) {
  Value text;
  switch (v.kind) {
  case Kind::Undefined: length = 0; return Why(v.flag) != Why::Forbidden || failUndefined(s, v);
  case Kind::Text: length = int64_t(countCharacters(v.view())); return s.chargeBytes(v.size);
  case Kind::List:
  case Kind::Tuple: length = v.size; return true;
  case Kind::Dict: length = v.dict->count; return true;
  case Kind::Range: length = v.range->length; return true;
  case Kind::Loop:
    if (!loopAttribute(s, *v.loop, "length", text))
      return false;
    length = text.integer;
    return true;
  default: return s.fail(std::string(nameOf(v)) + " has no length");
  }
}

} // namespace heddle::rt::chat
