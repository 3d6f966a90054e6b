//===- Expressions.cpp - Expressions of a template ------------------------===//
//
// Each function reads one level of the grammar and appends its steps in
// post-order. An inline `if` follows its value but is computed first, so
// its parts are read into lists of their own.
//
//===----------------------------------------------------------------------===//
#include "compiler/Template/ParserImpl.h"

#include <cstring>

namespace heddle::tpl {

bool TokenCursor::count(const Token &token) {
  return ++nodes <= kMostNodes ||
         fail(token, "the template has more than " + std::to_string(kMostNodes) + " parts of tags");
}

bool ExpressionParser::add(Expression &e, const Token &token, Op op, uint32_t a, uint32_t b, uint32_t c) {
  Step step;
  step.op = op;
  step.a = a;
  step.b = b;
  step.c = c;
  step.place = token.place;
  e.push_back(step);
  return count(token);
}

uint32_t ExpressionParser::number(uint64_t bits) {
  for (size_t i = 0; i < out.numbers.size() && i < 64; ++i)
    if (out.numbers[i] == bits)
      return uint32_t(i);
  out.numbers.push_back(bits);
  return uint32_t(out.numbers.size() - 1);
}

/// The source from the token `begin` up to here, for messages; nothing if it is long.
uint32_t ExpressionParser::quote(size_t begin) {
  size_t from = tokens[begin].begin, to = at ? tokens[at - 1].end : 0;
  if (to <= from || to - from > 60)
    return 0;
  std::string text = source.substr(from, to - from);
  return text.find('\n') == std::string::npos ? out.texts.intern(text) : 0;
}

static void append(Expression &e, const Expression &more) { e.insert(e.end(), more.begin(), more.end()); }

/// The branches as steps: condition, jump over the value and the jump after it, value, jump to the end; then the rest.
bool ExpressionParser::choose(Expression &e, std::vector<Expression> &conditions, std::vector<Expression> &values,
                              const Expression &rest, const Token &token) {
  std::vector<size_t> ends;
  for (size_t i = 0; i < conditions.size(); ++i) {
    append(e, conditions[i]);
    if (!add(e, token, kJumpIfFalse, uint32_t(values[i].size() + 2)))
      return false;
    append(e, values[i]);
    ends.push_back(e.size());
    if (!add(e, token, kJump))
      return false;
  }
  append(e, rest);
  for (size_t end : ends)
    e[end].a = uint32_t(e.size() - end);
  for (Step &step : e)
    step.soft = true;
  conditions.clear();
  values.clear();
  return true;
}

/// or [if or [else ..]], as often as it is there. `a if b if c` without `else` is `(a if b) if c`.
bool ExpressionParser::expression(Expression &e) {
  std::vector<Expression> conditions, values;
  Expression value;
  if (!orElse(value))
    return false;
  while (now().isName("if")) {
    const Token token = now();
    Expression condition, rest;
    next();
    if (!orElse(condition))
      return false;
    conditions.push_back(std::move(condition));
    values.push_back(std::move(value));
    value.clear();
    if (now().isName("else")) {
      next();
      if (!orElse(value))
        return false;
      if (now().isName("if"))
        continue;
      rest = std::move(value);
    } else if (!add(rest, token, kNothing)) {
      return false;
    }
    value.clear();
    if (!choose(value, conditions, values, rest, token))
      return false;
  }
  append(e, value);
  return true;
}

/// Expressions with commas between them are a tuple. `end`: a name that may be after the last comma.
bool ExpressionParser::tuple(Expression &e, bool inlineIf, bool brackets, const char *end) {
  uint32_t items = 0;
  bool isTuple = false;
  const Token begin = now();
  for (;;) {
    if (items && !expect(","))
      return false;
    const Token &token = now();
    if (token.kind == Token::PrintEnd || token.kind == Token::TagEnd || token.is(")") || (*end && token.isName(end)))
      break;
    if (!(inlineIf ? expression(e) : orElse(e)))
      return false;
    ++items;
    if (!now().is(","))
      break;
    isTuple = true;
  }
  if (!isTuple && items)
    return true;
  if (!isTuple && !brackets)
    return fail(now(), "expected an expression, found " + describe(now()));
  return add(e, begin, kTuple, items);
}

/// `a or b or c`: a jump to the end after all but the last.
bool ExpressionParser::orElse(Expression &e) {
  std::vector<size_t> jumps;
  if (!both(e))
    return false;
  while (now().isName("or")) {
    jumps.push_back(e.size());
    if (!add(e, now(), kOr))
      return false;
    next();
    if (!both(e))
      return false;
  }
  for (size_t jump : jumps)
    e[jump].a = uint32_t(e.size() - jump);
  return true;
}

bool ExpressionParser::both(Expression &e) {
  std::vector<size_t> jumps;
  if (!inverse(e))
    return false;
  while (now().isName("and")) {
    jumps.push_back(e.size());
    if (!add(e, now(), kAnd))
      return false;
    next();
    if (!inverse(e))
      return false;
  }
  for (size_t jump : jumps)
    e[jump].a = uint32_t(e.size() - jump);
  return true;
}

bool ExpressionParser::inverse(Expression &e) {
  if (!now().isName("not"))
    return compare(e);
  const Token token = now();
  Nested nested(*this);
  next();
  return nested.ok && inverse(e) && add(e, token, kNot);
}

bool ExpressionParser::compare(Expression &e) {
  static const std::pair<const char *, Comparison> signs[] = {
      {"==", kEqual}, {"!=", kUnequal}, {"<", kLess}, {"<=", kLessOrEqual}, {">", kGreater}, {">=", kGreaterOrEqual}};
  if (!sum(e))
    return false;
  std::vector<size_t> all;
  for (;;) {
    const Token token = now();
    int found = -1;
    for (auto [text, comparison] : signs)
      if (token.is(text))
        found = comparison;
    if (token.isName("in")) {
      found = kIn;
    } else if (token.isName("not") && tokens[at + 1].isName("in")) {
      found = kNotIn;
      next();
    }
    if (found < 0)
      break;
    next();
    if (!all.empty())
      e[all.back()].op = kCompareChain;
    size_t begin = at;
    if (!sum(e))
      return false;
    all.push_back(e.size());
    if (!add(e, token, kCompare, uint32_t(found), 0, quote(begin)))
      return false;
  }
  for (size_t i = 0; i + 1 < all.size(); ++i)
    e[all[i]].b = uint32_t(e.size() - all[i]);
  return true;
}

/// level {SIGN level}, from left to right.
bool ExpressionParser::chain(Expression &e, Level level, std::initializer_list<Sign> signs) {
  if (!(this->*level)(e))
    return false;
  for (;;) {
    const Token token = now();
    const Sign *found = nullptr;
    for (const Sign &sign : signs)
      if (token.is(sign.text))
        found = &sign;
    if (!found)
      return true;
    next();
    size_t begin = at;
    if (!(this->*level)(e) || !add(e, token, found->op, 0, 0, quote(begin)))
      return false;
  }
}

bool ExpressionParser::sum(Expression &e) {
  return chain(e, &ExpressionParser::concat, {{"+", kAdd}, {"-", kSubtract}});
}

bool ExpressionParser::concat(Expression &e) {
  const Token token = now();
  uint32_t items = 1;
  if (!product(e))
    return false;
  for (; now().is("~"); ++items) {
    next();
    if (!product(e))
      return false;
  }
  return items == 1 || add(e, token, kConcat, items);
}

bool ExpressionParser::product(Expression &e) {
  return chain(e, &ExpressionParser::power, {{"*", kMultiply}, {"/", kDivide}, {"//", kFloorDivide}, {"%", kModulo}});
}

bool ExpressionParser::power(Expression &e) {
  if (!unary(e, true))
    return false;
  while (now().is("**")) {
    const Token token = now();
    next();
    size_t begin = at;
    if (!unary(e, true) || !add(e, token, kPower, 0, 0, quote(begin)))
      return false;
  }
  return true;
}

bool ExpressionParser::unary(Expression &e, bool withFilters) {
  const Token token = now();
  size_t begin = at;
  if (token.is("-") || token.is("+")) {
    Nested nested(*this);
    next();
    if (!nested.ok || !unary(e, false) || !add(e, token, token.is("-") ? kNegate : kPlus, 0, 0, quote(begin + 1)))
      return false;
  } else if (!primary(e)) {
    return false;
  }
  return postfix(e, begin) && (!withFilters || filterOrTest(e, begin));
}

bool ExpressionParser::primary(Expression &e) {
  const Token token = now();
  uint64_t bits = 0;
  switch (token.kind) {
  case Token::Name:
    next();
    if (token.text == "true" || token.text == "True")
      return add(e, token, kTrue);
    if (token.text == "false" || token.text == "False")
      return add(e, token, kFalse);
    if (token.text == "none" || token.text == "None")
      return add(e, token, kNone);
    return add(e, token, kLoad, 0, 0, out.texts.intern(token.text));
  case Token::String: {
    std::string text;
    for (; now().kind == Token::String; next())
      text += now().text;
    return add(e, token, kConst, out.texts.intern(text));
  }
  case Token::Integer: next(); return add(e, token, kInteger, number(uint64_t(token.integer)));
  case Token::Float:
    next();
    memcpy(&bits, &token.real, 8);
    return add(e, token, kFloat, number(bits));
  default: break;
  }
  if (token.is("(")) {
    Nested nested(*this);
    next();
    return nested.ok && tuple(e, true, true, "") && expect(")");
  }
  if (token.is("["))
    return list(e);
  if (token.is("{"))
    return dict(e);
  return fail(token, token.kind == Token::End ? "the template ends inside of a tag"
                                              : "expected an expression, found " + describe(token));
}

bool ExpressionParser::list(Expression &e) {
  const Token token = now();
  Nested nested(*this);
  next();
  uint32_t items = 0;
  for (; nested.ok && !now().is("]"); ++items) {
    if (items && !expect(","))
      return false;
    if (now().is("]"))
      break;
    if (!expression(e))
      return false;
  }
  return nested.ok && expect("]") && add(e, token, kList, items);
}

bool ExpressionParser::dict(Expression &e) {
  const Token token = now();
  Nested nested(*this);
  next();
  uint32_t items = 0;
  for (; nested.ok && !now().is("}"); ++items) {
    if (items && !expect(","))
      return false;
    if (now().is("}"))
      break;
    if (!expression(e) || !expect(":") || !expression(e))
      return false;
  }
  return nested.ok && expect("}") && add(e, token, kDict, items);
}

bool ExpressionParser::postfix(Expression &e, size_t begin) {
  for (;;) {
    if (now().is(".") || now().is("[")) {
      if (!subscript(e))
        return false;
    } else if (now().is("(")) {
      if (!call(e, begin))
        return false;
    } else {
      return true;
    }
  }
}

bool ExpressionParser::subscript(Expression &e) {
  const Token token = now();
  next();
  if (token.is(".")) {
    const Token name = now();
    next();
    if (name.kind == Token::Name)
      return add(e, name, kAttribute, 0, 0, out.texts.intern(name.text));
    if (name.kind != Token::Integer)
      return fail(name, "expected a name or a number after the dot, found " + describe(name));
    return add(e, name, kInteger, number(uint64_t(name.integer))) && add(e, name, kItem);
  }
  Nested nested(*this);
  uint32_t items = 0;
  bool anySlice = false;
  for (; nested.ok && !now().is("]"); ++items) {
    if (items && !expect(","))
      return false;
    bool isSlice = false;
    if (!subscribed(e, isSlice))
      return false;
    anySlice |= isSlice;
  }
  if (!nested.ok || !expect("]"))
    return false;
  if (anySlice)
    return items == 1 ? add(e, token, kSlice) : fail(token, "a slice among other subscripts");
  return (items == 1 || add(e, token, kTuple, items)) && add(e, token, kItem);
}

/// An expression, or from:to:step with any of the three missing.
bool ExpressionParser::subscribed(Expression &e, bool &isSlice) {
  const Token token = now();
  auto part = [&] {
    if (now().is(":") || now().is("]") || now().is(","))
      return add(e, token, kNone);
    return expression(e);
  };
  if (!now().is(":")) {
    if (!expression(e))
      return false;
    if (!now().is(":"))
      return true;
  } else if (!add(e, token, kNone)) {
    return false;
  }
  isSlice = true;
  next();
  if (!part())
    return false;
  if (!now().is(":"))
    return add(e, token, kNone);
  next();
  return part();
}

/// The arguments of a call, filter or test: by position, then by name, then *, then **, whatever their order here.
bool ExpressionParser::arguments(Step &step, Expression &e) {
  const Token open = now();
  Nested nested(*this);
  if (!nested.ok || !expect("("))
    return false;
  uint32_t given = 0;
  std::vector<uint32_t> names;
  Expression star, doubleStar;
  bool comma = false;
  auto misplaced = [&] { return fail(now(), "an argument comes after others that come last"); };
  for (; !now().is(")"); comma = true) {
    if (comma && !expect(","))
      return false;
    if (comma && now().is(")"))
      break;
    if (step.a & kDoubleStar)
      return misplaced();
    if (now().is("*") || now().is("**")) {
      bool twice = now().is("**");
      if (!twice && (step.a & kStar))
        return misplaced();
      step.a |= twice ? kDoubleStar : kStar;
      next();
      if (!expression(twice ? doubleStar : star))
        return false;
    } else if (now().kind == Token::Name && tokens[at + 1].is("=")) {
      uint32_t name = out.texts.intern(now().text);
      for (uint32_t other : names)
        if (other == name)
          return fail(now(), "the argument " + describe(now()) + " occurs twice");
      names.push_back(name);
      next();
      next();
      if (!expression(e))
        return false;
    } else {
      if ((step.a & kStar) || !names.empty())
        return misplaced();
      if (!expression(e))
        return false;
      ++given;
    }
  }
  next();
  append(e, star);
  append(e, doubleStar);
  if (given > kCountMask)
    return fail(open, "too many arguments");
  step.a |= given;
  if (!names.empty()) {
    step.b = uint32_t(out.names.size());
    out.names.push_back(std::move(names));
  }
  return true;
}

bool ExpressionParser::call(Expression &e, size_t begin) {
  Step step;
  step.op = kCall;
  step.place = now().place;
  step.c = quote(begin);
  if (!e.empty() && e.back().op == kAttribute) {
    std::string why = whyRefused("method", out.texts[e.back().c]);
    if (!why.empty())
      refuse(e.back().place, why);
  }
  const Token token = now();
  if (!arguments(step, e))
    return false;
  e.push_back(step);
  return count(token);
}

/// `| a | b(..)`; with `first` the first one without its bar.
bool ExpressionParser::filters(Expression &e, bool first) {
  while (first || now().is("|")) {
    if (!first)
      next();
    first = false;
    Step step;
    step.op = kFilter;
    step.place = now().place;
    std::string name, more;
    if (!expectName(name))
      return false;
    while (now().is(".")) {
      next();
      if (!expectName(more))
        return false;
      name += "." + more;
    }
    bool takesName =
        name == "map" || name == "select" || name == "reject" || name == "selectattr" || name == "rejectattr";
    size_t begin = e.size();
    const Token token = now();
    if (token.is("(") && !arguments(step, e))
      return false;
    if (!findFilter(name, step.c)) {
      std::string why = whyRefused("filter", name);
      if (why.compare(0, 5, "there") != 0)
        refuse(step.place, why);
      step.op = kUnknownFilter;
      step.c = out.texts.intern(name);
    }
    // The name of a filter or test that is there as a text is known already.
    if (takesName && e.size() > begin && (step.a & kCountMask)) {
      size_t which = name == "selectattr" || name == "rejectattr" ? begin + 1 : begin;
      if (which < e.size() && e[which].op == kConst && e[begin].op == kConst && (step.a & kCountMask) > which - begin) {
        std::string kind = name == "map" ? "filter" : "test", why = whyRefused(kind, out.texts[e[which].a]);
        if (!why.empty() && why.compare(0, 5, "there") != 0)
          refuse(e[which].place, why);
      }
    }
    e.push_back(step);
    if (!count(token))
      return false;
  }
  return true;
}

bool ExpressionParser::filterOrTest(Expression &e, size_t begin) {
  for (;;) {
    if (now().is("|")) {
      if (!filters(e, false))
        return false;
    } else if (now().isName("is")) {
      if (!test(e))
        return false;
    } else if (now().is("(")) {
      if (!call(e, begin))
        return false;
    } else {
      return true;
    }
  }
}

bool ExpressionParser::test(Expression &e) {
  next();
  const Token token = now();
  bool negated = token.isName("not");
  if (negated)
    next();
  Step step;
  step.op = kTest;
  step.place = now().place;
  std::string name, more;
  if (!expectName(name))
    return false;
  while (now().is(".")) {
    next();
    if (!expectName(more))
      return false;
    name += "." + more;
  }
  const Token &behind = now();
  bool argument = behind.kind == Token::Name || behind.kind == Token::String || behind.kind == Token::Integer ||
                  behind.kind == Token::Float || behind.is("[") || behind.is("{");
  if (behind.is("(")) {
    if (!arguments(step, e))
      return false;
  } else if (argument && !behind.isName("else") && !behind.isName("or") && !behind.isName("and")) {
    if (behind.isName("is"))
      return fail(behind, "`is` after `is`: write brackets");
    size_t begin = at;
    if (!primary(e) || !postfix(e, begin))
      return false;
    step.a = 1;
  }
  if (!findTest(name, step.c)) {
    std::string why = whyRefused("test", name);
    if (why.compare(0, 5, "there") != 0)
      refuse(step.place, why);
    step.op = kUnknownTest;
    step.c = out.texts.intern(name);
  }
  e.push_back(step);
  return count(token) && (!negated || add(e, token, kNot));
}

} // namespace heddle::tpl
