//===- Parser.cpp - Statements of a template ------------------------------===//

#include "compiler/Template/ParserImpl.h"
#include "heddle/nearest.h"

namespace heddle::tpl {

uint32_t TextPool::intern(const std::string &text) {
  auto [found, isNew] = numbers.insert({text, uint32_t(all.size())});
  if (isNew)
    all.push_back(text);
  return found->second;
}

bool TokenCursor::fail(const Token &token, const std::string &message) {
  if (!failed)
    out.mistakes.push_back({token.place, message});
  failed = true;
  return false;
}

void TokenCursor::refuse(Place place, const std::string &message) { out.mistakes.push_back({place, message}); }

std::string TokenCursor::describe(const Token &token) {
  switch (token.kind) {
  case Token::Data: return "text";
  case Token::PrintBegin: return "`{{`";
  case Token::PrintEnd: return "`}}`";
  case Token::TagBegin: return "`{%`";
  case Token::TagEnd: return "`%}`";
  case Token::Name:
  case Token::Operator: return "`" + token.text + "`";
  case Token::String: return "a string";
  case Token::Integer:
  case Token::Float: return "a number";
  case Token::End: break;
  }
  return "the end of the template";
}

bool TokenCursor::expect(const char *op) {
  if (!now().is(op))
    return fail(now(), std::string("expected `") + op + "`, found " + describe(now()));
  next();
  return true;
}

bool TokenCursor::expectName(std::string &name) {
  if (now().kind != Token::Name)
    return fail(now(), "expected a name, found " + describe(now()));
  name = now().text;
  next();
  return true;
}

bool TokenCursor::expectTagEnd() {
  if (now().kind != Token::TagEnd)
    return fail(now(), "expected `%}`, found " + describe(now()));
  next();
  return true;
}

//===--- bodies ---------------------------------------------------------------===//

/// Statements up to a tag of one of the names in `ends`, at whose name it stops; the whole template if there are none.
bool Parser::statements(std::vector<Statement> &body, const std::vector<std::string> &ends) {
  Nested nested(*this);
  if (!nested.ok)
    return false;
  for (;;) {
    const Token &token = now();
    if (token.kind == Token::End) {
      if (ends.empty())
        return true;
      return fail(token, "the template ends inside of `{% " + openTags.back().text + " %}` of line " +
                             std::to_string(openTags.back().place.line) + "; expected `{% " + ends.back() + " %}`");
    }
    if (token.kind == Token::Data) {
      Statement text;
      text.place = token.place;
      text.text = out.texts.intern(token.text);
      if (!count(token))
        return false;
      body.push_back(std::move(text));
      next();
    } else if (token.kind == Token::PrintBegin) {
      Statement print;
      print.kind = Statement::Print;
      print.place = token.place;
      next();
      if (!tuple(print.expression, true, false, ""))
        return false;
      if (now().kind != Token::PrintEnd)
        return fail(now(), "expected `}}`, found " + describe(now()));
      next();
      body.push_back(std::move(print));
    } else {
      next(); // `{%`
      for (const std::string &end : ends)
        if (now().isName(end.c_str()))
          return true;
      if (!statement(body) || !expectTagEnd())
        return false;
    }
  }
}

/// The body after a tag, whose end it expects first.
bool Parser::bodyOf(const Token &tag, std::vector<Statement> &body, const std::vector<std::string> &ends) {
  if (now().is(":"))
    next();
  openTags.push_back({tag.text, tag.place});
  bool good = expectTagEnd() && statements(body, ends);
  openTags.pop_back();
  return good;
}

/// The same to one end, which is read, too.
bool Parser::wholeBody(const Token &tag, std::vector<Statement> &body, const char *end) {
  if (!bodyOf(tag, body, {end}))
    return false;
  next();
  return true;
}

//===--- tags -----------------------------------------------------------------===//

bool Parser::targetItem(Target &target) {
  target.place = now().place;
  if (now().is("(")) {
    Nested nested(*this);
    next();
    return nested.ok && targets(target, false) && expect(")");
  }
  const Token token = now();
  std::string name;
  if (!expectName(name))
    return false;
  for (const char *constant : {"true", "false", "none", "True", "False", "None"})
    if (name == constant)
      return fail(token, "`" + name + "` cannot be assigned to");
  target.name = out.texts.intern(name);
  return true;
}

/// One or several targets.
bool Parser::targets(Target &target, bool upToIn) {
  Target first;
  if (!targetItem(first))
    return false;
  if (!now().is(",")) {
    target = std::move(first);
    return true;
  }
  target.place = first.place;
  target.isTuple = true;
  target.items.push_back(std::move(first));
  while (now().is(",")) {
    next();
    const Token &token = now();
    if (token.kind == Token::TagEnd || token.is(")") || token.is("=") || (upToIn && token.isName("in")))
      break;
    target.items.emplace_back();
    if (!targetItem(target.items.back()) || !count(token))
      return false;
  }
  return true;
}

bool Parser::ifTag(const Token &tag, Statement &made) {
  made.kind = Statement::If;
  Statement *branch = &made;
  for (;;) {
    if (!tuple(branch->expression, false, false, "") || !bodyOf(tag, branch->body, {"elif", "else", "endif"}))
      return false;
    const Token word = now();
    next();
    if (word.text == "elif") {
      made.elifs.emplace_back();
      branch = &made.elifs.back();
      branch->kind = Statement::If;
      branch->place = word.place;
      continue;
    }
    return word.text == "endif" || wholeBody(tag, made.otherwise, "endif");
  }
}

bool Parser::forTag(const Token &tag, Statement &made) {
  made.kind = Statement::For;
  if (!targets(made.target, true))
    return false;
  if (!now().isName("in"))
    return fail(now(), "expected `in`, found " + describe(now()));
  next();
  if (!tuple(made.expression, false, false, "recursive"))
    return false;
  if (now().isName("if")) {
    next();
    made.hasCondition = true;
    if (!expression(made.condition))
      return false;
  }
  if (now().isName("recursive")) {
    refuse(now().place,
           "a recursive loop is not compiled: no published template has one; write a macro that calls itself");
    next();
  }
  if (!bodyOf(tag, made.body, {"else", "endfor"}))
    return false;
  bool otherwise = now().text == "else";
  next();
  return !otherwise || wholeBody(tag, made.otherwise, "endfor");
}

bool Parser::setTag(const Token &tag, Statement &made) {
  if (now().kind == Token::Name && tokens[at + 1].is(".")) {
    Target &target = made.target;
    target.place = now().place;
    target.name = out.texts.intern(now().text);
    target.isAttribute = true;
    next();
    next();
    std::string attribute;
    if (!expectName(attribute))
      return false;
    target.attribute = out.texts.intern(attribute);
  } else if (!targets(made.target, false)) {
    return false;
  }
  if (now().is("=")) {
    made.kind = Statement::Set;
    next();
    return tuple(made.expression, true, false, "");
  }
  made.kind = Statement::SetBlock;
  return filters(made.expression, false) && wholeBody(tag, made.body, "endset");
}

bool Parser::withTag(const Token &tag, Statement &made) {
  made.kind = Statement::With;
  while (now().kind != Token::TagEnd && !now().is(":")) {
    if (!made.names.empty() && !expect(","))
      return false;
    made.names.emplace_back();
    made.values.emplace_back();
    if (!targets(made.names.back(), false) || !expect("=") || !expression(made.values.back()))
      return false;
  }
  return wholeBody(tag, made.body, "endwith");
}

/// The parameters of a macro or a `call`.
bool Parser::signature(Statement &made) {
  if (!expect("("))
    return false;
  while (!now().is(")")) {
    if (!made.names.empty() && !expect(","))
      return false;
    made.names.emplace_back();
    const Token token = now();
    if (token.is("("))
      return fail(token, "expected a name, found `(`");
    if (!targetItem(made.names.back()))
      return false;
    for (size_t i = 0; i + 1 < made.names.size(); ++i)
      if (made.names[i].name == made.names.back().name)
        return fail(token, "the parameter " + describe(token) + " occurs twice");
    if (now().is("=")) {
      next();
      made.values.emplace_back();
      if (!expression(made.values.back()))
        return false;
    } else if (!made.values.empty()) {
      return fail(token, "a parameter without a default after one that has it");
    }
    if (!count(token))
      return false;
  }
  next();
  return true;
}

bool Parser::macroTag(const Token &tag, Statement &made) {
  made.kind = Statement::Macro;
  Target name;
  if (now().is("("))
    return fail(now(), "expected a name, found `(`");
  if (!targetItem(name))
    return false;
  made.text = name.name;
  return signature(made) && wholeBody(tag, made.body, "endmacro");
}

bool Parser::callTag(const Token &tag, Statement &made) {
  made.kind = Statement::Call;
  if (now().is("(") && !signature(made))
    return false;
  const Token begin = now();
  if (!expression(made.expression))
    return false;
  if (made.expression.empty() || made.expression.back().op != kCall)
    return fail(begin, "`call` expects a call");
  return wholeBody(tag, made.body, "endcall");
}

/// Tags of Jinja that would make a template more than one file, or mean nothing here.
bool Parser::refusedTag(const Token &tag, std::vector<Statement> &body) {
  static const std::pair<const char *, const char *> refused[] = {
      {"include", "loads other files, and a compiled template is one file"},
      {"import", "loads other files, and a compiled template is one file"},
      {"from", "loads other files, and a compiled template is one file"},
      {"extends", "loads other files, and a compiled template is one file"},
      {"block", "is for templates that extend others, and a compiled template is one file"},
      {"autoescape", "is for HTML; a chat template writes plain text"},
  };
  for (auto [name, why] : refused) {
    if (tag.text != name)
      continue;
    refuse(tag.place, "`{% " + tag.text + " %}` " + why);
    while (now().kind != Token::TagEnd && now().kind != Token::End)
      next();
    if (tag.text == "block")
      return wholeBody(tag, body, "endblock");
    return tag.text != "autoescape" || wholeBody(tag, body, "endautoescape");
  }
  static const std::string_view known[] = {"for",   "if",       "set",    "with",       "macro", "call",
                                           "break", "continue", "filter", "generation", "raw",   "print"};
  std::string near = nearestName(tag.text, known);
  std::string message = "there is no tag " + describe(tag);
  if (tag.text.compare(0, 3, "end") == 0 || tag.text == "else" || tag.text == "elif")
    message = describe(tag) + " ends or continues nothing that is open";
  if (!openTags.empty())
    message += "; the innermost open tag is `{% " + openTags.back().text + " %}` of line " +
               std::to_string(openTags.back().place.line);
  else if (!near.empty() && message.compare(0, 5, "there") == 0)
    message += "; did you mean `" + near + "`?";
  return fail(tag, message);
}

bool Parser::statement(std::vector<Statement> &body) {
  const Token tag = now();
  if (tag.kind != Token::Name)
    return fail(tag, "expected the name of a tag, found " + describe(tag));
  if (!count(tag))
    return false;
  next();
  Statement made;
  made.place = tag.place;
  bool good = true;
  if (tag.text == "if")
    good = ifTag(tag, made);
  else if (tag.text == "for")
    good = forTag(tag, made);
  else if (tag.text == "set")
    good = setTag(tag, made);
  else if (tag.text == "with")
    good = withTag(tag, made);
  else if (tag.text == "macro")
    good = macroTag(tag, made);
  else if (tag.text == "call")
    good = callTag(tag, made);
  else if (tag.text == "break" || tag.text == "continue")
    made.kind = tag.text == "break" ? Statement::Break : Statement::Continue;
  else if (tag.text == "filter") {
    made.kind = Statement::Filter;
    good = filters(made.expression, true) && wholeBody(tag, made.body, "endfilter");
  } else if (tag.text == "generation") {
    made.kind = Statement::Call;
    made.calls = false;
    good = wholeBody(tag, made.body, "endgeneration");
  } else if (tag.text == "print") {
    while (good && now().kind != Token::TagEnd) {
      Statement print;
      print.kind = Statement::Print;
      print.place = tag.place;
      good = (now().kind != Token::End) && (!made.text || expect(",")) && expression(print.expression);
      made.text = 1;
      body.push_back(std::move(print));
    }
    return good || fail(now(), "expected `%}`, found " + describe(now()));
  } else {
    return refusedTag(tag, body);
  }
  body.push_back(std::move(made));
  return good;
}

void parse(const std::string &source, Parsed &out) {
  Mistake mistake;
  if (out.names.empty())
    out.names.emplace_back();
  if (source.size() > kMostSource) {
    out.mistakes.push_back({{1, 1},
                            "the template has " + std::to_string(source.size()) + " bytes; " +
                                std::to_string(kMostSource) + " are the most"});
    return;
  }
  std::vector<Token> tokens;
  if (!lex(source, tokens, mistake)) {
    out.mistakes.push_back(mistake);
    return;
  }
  Parser parser(source, tokens, out);
  parser.run();
}

} // namespace heddle::tpl
