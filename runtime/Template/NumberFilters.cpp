//===- NumberFilters.cpp - int, float and round ---------------------------===//

#include "runtime/Template/FilterParts.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace heddle::rt::chat {

namespace {

/// Python's int(text, base); false without an error if it is none.
bool parseInteger(Session &s, std::string_view text, int64_t base, int64_t &out, bool &large) {
  (void)s;
  large = false;
  text = stripText(text, nullptr, true, true);
  bool minus = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+'))
    text.remove_prefix(1);
  if (text.size() > 1 && text[0] == '0') {
    char c = char(text[1] | 0x20);
    int64_t said = c == 'x' ? 16 : c == 'o' ? 8 : c == 'b' ? 2 : 0;
    if (said && (base == said || base == 0)) {
      text.remove_prefix(text.size() > 2 && text[2] == '_' ? 3 : 2);
      base = said;
    }
  }
  bool zeros = base == 0 && text.size() > 1 && text[0] == '0';
  if (base == 0)
    base = 10;
  if (base < 2 || base > 36 || text.empty() || text.front() == '_' || text.back() == '_')
    return false;
  std::string digits;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '_' && text[i - 1] == '_')
      return false;
    if (text[i] != '_')
      digits += text[i];
  }
  if (digits[0] == '-' || (zeros && digits.find_first_not_of('0') != digits.npos))
    return false;
  digits.insert(0, minus ? "-" : "");
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out, int(base));
  large = error == std::errc::result_out_of_range;
  return (error == std::errc() || large) && end == digits.data() + digits.size();
}

/// Python's float(text).
bool parseReal(std::string_view text, double &out) {
  text = stripText(text, nullptr, true, true);
  std::string digits;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_')
      digits += text[i] >= 'A' && text[i] <= 'Z' ? char(text[i] | 0x20) : text[i];
    else if (!i || i + 1 == text.size() || text[i - 1] < '0' || text[i - 1] > '9' || text[i + 1] < '0' ||
             text[i + 1] > '9')
      return false;
  }
  bool minus = !digits.empty() && digits[0] == '-';
  if (!digits.empty() && (digits[0] == '-' || digits[0] == '+'))
    digits.erase(0, 1);
  if (digits == "inf" || digits == "infinity" || digits == "nan") {
    out = digits == "nan" ? std::nan("") : HUGE_VAL;
  } else {
    if (digits.empty() || !strchr("0123456789.", digits[0]))
      return false;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
    if (end != digits.data() + digits.size() || error == std::errc::invalid_argument)
      return false;
    if (error == std::errc::result_out_of_range)
      out = strtod(digits.c_str(), nullptr);
  }
  out = minus ? -out : out;
  return true;
}

bool wholePart(Session &s, double real, Value &out) {
  if (!(std::fabs(real) < 9223372036854775808.0))
    return s.fail("the result does not fit 64 bits");
  out = integerValue(int64_t(real));
  return true;
}

} // namespace

bool intFilter(Session &s, Value v, const Value *a, Value &out) {
  double real;
  out = a[0].given() ? a[0] : integerValue(0);
  if (v.isUndefined())
    return failUndefined(s, v);
  if (v.isWhole())
    out = integerValue(v.integer);
  else if (v.kind == Kind::Real)
    return std::isnan(v.real) || wholePart(s, v.real, out);
  else if (v.isText()) {
    int64_t whole, base = 10;
    bool large;
    if (a[1].given()) {
      if (!a[1].isWhole())
        return true;
      base = a[1].integer;
    }
    if (parseInteger(s, v.view(), base, whole, large)) {
      out = integerValue(whole);
      return !large || s.fail("the number does not fit 64 bits");
    }
    if (parseReal(v.view(), real))
      return std::isnan(real) || wholePart(s, real, out);
  }
  return true;
}

bool floatFilter(Session &s, Value v, const Value *a, Value &out) {
  double real;
  out = a[0].given() ? a[0] : realValue(0);
  if (v.isUndefined())
    return failUndefined(s, v);
  if (v.isNumber())
    out = realValue(v.number());
  else if (v.isText() && parseReal(v.view(), real))
    out = realValue(real);
  return true;
}

bool roundFilter(Session &s, Value v, const Value *a, Value &out) {
  std::string_view method = a[1].isText() ? a[1].view() : std::string_view("common");
  if (v.isUndefined())
    return failUndefined(s, v);
  if (!v.isNumber())
    return s.fail(std::string("cannot round ") + nameOf(v));
  if ((a[1].given() && !a[1].isText()) || (method != "common" && method != "ceil" && method != "floor"))
    return s.fail("the method of round is common, ceil or floor");
  if (a[0].given() && !a[0].isWhole() && a[0].kind != Kind::None)
    return s.fail("the precision of round is an integer");
  int64_t digits = a[0].isWhole() ? std::clamp<int64_t>(a[0].integer, -400, 400) : 0;
  bool wanted = a[0].kind != Kind::None;
  if (method != "common") {
    double scale = std::pow(10.0, double(digits)), scaled = v.number() * scale;
    out = realValue((method == "ceil" ? std::ceil(scaled) : std::floor(scaled)) / scale);
    return true;
  }
  if (v.isWhole()) {
    out = integerValue(v.integer);
    int64_t unit = 1;
    for (int64_t i = digits; i < 0 && unit; ++i)
      if (__builtin_mul_overflow(unit, int64_t(10), &unit))
        unit = 0;
    if (digits < 0) {
      int64_t rest = unit ? ((v.integer % unit) + unit) % unit : 0, down = v.integer - rest;
      bool up = unit && (rest * 2 > unit || (rest * 2 == unit && (down / unit) % 2));
      out = integerValue(unit ? (up ? down + unit : down) : 0);
    }
    return true;
  }
  if (!std::isfinite(v.real) || digits > 330) {
    out = v;
    return wanted || wholePart(s, v.real, out);
  }
  double rounded;
  if (digits >= 0) {
    char text[512];
    snprintf(text, sizeof text, "%.*f", int(std::min<int64_t>(digits, 170)), v.real);
    rounded = strtod(text, nullptr);
  } else {
    double unit = std::pow(10.0, double(-digits)), units = v.real / unit, down = std::floor(units);
    double rest = units - down;
    rounded = (rest > 0.5 || (rest == 0.5 && std::fmod(down, 2) != 0) ? down + 1 : down) * unit;
  }
  out = realValue(rounded);
  return wanted || wholePart(s, rounded, out);
}

} // namespace heddle::rt::chat
