//===- Writer.cpp - Statements become the machine's code ------------------===//
//
// One pass over the statements. Each scope is resolved where it begins
// (Scopes.h); then its statements are written one after the other, each into the
// function that it is in.
//
//===----------------------------------------------------------------------===//
#include "compiler/Template/Writer.h"

#include "compiler/Template/Scopes.h"

namespace heddle::tpl {

namespace {

class Writer {
public:
  explicit Writer(Parsed &parsed) : parsed(parsed) {}
  std::vector<Function> write();

private:
  /// An open loop of the function that is being written.
  struct Loop {
    uint32_t next = 0, captures = 0;
    std::vector<uint32_t> breaks;
  };
  struct Frame {
    Scope *scope;
    bool soft;
  };
  struct Open {
    uint32_t function, outer; ///< the function around it
    uint32_t captures = 0;
    std::vector<Loop> loops;
  };

  uint32_t emit(Place place, Op op, uint32_t a = 0, uint32_t b = 0, uint32_t c = 0);
  uint32_t here() const { return uint32_t(functions[open.back().function].code.size()); }
  Instruction &at(uint32_t i) { return functions[open.back().function].code[i]; }
  uint32_t hops(uint32_t function) const;
  void mistake(Place place, std::string message) { parsed.mistakes.push_back({place, std::move(message)}); }

  void enter(const Scope &scope, Place place);
  void body(const std::vector<Statement> &statements, Frame frame);
  void statement(const Statement &s, Frame frame);
  void expression(const Expression &e, Frame frame);
  void assign(const Target &target, Frame frame);
  void ifTag(const Statement &s, Frame frame);
  void forTag(const Statement &s, Frame frame);
  void breakOut(const Statement &s);
  void call(const Statement &s, Frame frame);
  uint32_t function(const Statement &s, Frame frame);
  bool needsAll(const Statement &s) const;

  Parsed &parsed;
  std::vector<Function> functions;
  std::vector<Open> open;
  SlotTable slots;
};

uint32_t Writer::emit(Place place, Op op, uint32_t a, uint32_t b, uint32_t c) {
  functions[open.back().function].code.push_back({op, place.line, a, b, c});
  return here() - 1;
}

/// How many functions outwards a variable is.
uint32_t Writer::hops(uint32_t function) const {
  uint32_t n = 0;
  for (size_t i = open.size(); i-- > 0; ++n)
    if (open[i].function == function)
      return n;
  return 0;
}

/// The values that the variables of a scope start with.
void Writer::enter(const Scope &scope, Place place) {
  for (auto [slot, start] : scope.starts) {
    uint32_t name = *scope.nameOf.find(slot);
    switch (start.kind) {
    case Start::Parameter: break;
    case Start::Given: {
      const std::string &text = parsed.texts[name];
      if (text == "lipsum" || text == "cycler" || text == "joiner")
        mistake(place, "`" + text + "` is a function of Jinja that is not compiled: no published template uses it");
      emit(place, kResolve, slot, 0, name);
      break;
    }
    case Start::Outer: emit(place, kCopy, slot, hops(start.outer.function), start.outer.number); break;
    case Start::Unset: emit(place, kForget, slot); break;
    }
  }
}

void Writer::expression(const Expression &e, Frame frame) {
  for (const Step &step : e) {
    uint32_t a = step.a, b = step.b, self = here();
    switch (step.op) {
    case kLoad: {
      Slot slot;
      if (!frame.scope->find(step.c, slot)) // names in the filters of a `set` block, which Jinja forgets to look at
        slot = {};
      a = slot.number;
      b = hops(slot.function);
      break;
    }
    case kJump:
    case kJumpIfFalse:
    case kAnd:
    case kOr: a += self; break;
    case kCompareChain: b += self; break;
    case kUnknownFilter:
    case kUnknownTest: {
      const char *kind = step.op == kUnknownFilter ? "filter" : "test";
      std::string why = whyRefused(kind, parsed.texts[step.c]);
      if (!step.soft && !frame.soft && why.compare(0, 5, "there") == 0)
        mistake(step.place, why);
      break;
    }
    default: break;
    }
    emit(step.place, step.op, a, b, step.c);
  }
}

/// Pops a value into a target.
void Writer::assign(const Target &target, Frame frame) {
  Slot slot;
  if (target.isTuple) {
    emit(target.place, kUnpack, uint32_t(target.items.size()));
    for (const Target &item : target.items)
      assign(item, frame);
  } else if (frame.scope->find(target.name, slot)) {
    if (target.isAttribute)
      emit(target.place, kSetAttribute, slot.number, hops(slot.function), target.attribute);
    else
      emit(target.place, kStore, slot.number);
  }
}

void Writer::body(const std::vector<Statement> &statements, Frame frame) {
  for (const Statement &s : statements)
    statement(s, frame);
}

void Writer::ifTag(const Statement &s, Frame frame) {
  frame.soft = true;
  std::vector<uint32_t> ends;
  auto branch = [&](const Statement &test) {
    expression(test.expression, frame);
    uint32_t jump = emit(test.place, kJumpIfFalse);
    body(test.body, frame);
    ends.push_back(emit(test.place, kJump));
    at(jump).a = here();
  };
  branch(s);
  for (const Statement &other : s.elifs)
    branch(other);
  body(s.otherwise, frame);
  for (uint32_t end : ends)
    at(end).a = here();
}

/// Whether a loop with a condition asks for what is ahead of it: then the condition is computed for all items first.
bool Writer::needsAll(const Statement &s) const {
  uint32_t loop = const_cast<Parsed &>(parsed).texts.intern("loop");
  bool needs = false;
  auto look = [&](const Expression &e) {
    for (size_t i = 0; i < e.size(); ++i) {
      if (e[i].op != kLoad || e[i].c != loop)
        continue;
      const Step *next = i + 1 < e.size() ? &e[i + 1] : nullptr;
      bool near = next && next->op == kAttribute;
      for (const char *name : {"index", "index0", "first", "previtem", "depth", "depth0", "cycle", "changed"})
        if (near && parsed.texts[next->c] == name)
          near = false;
      needs |= !next || next->op != kAttribute || near;
    }
  };
  auto all = [&](auto &&self, const std::vector<Statement> &statements) -> void {
    for (const Statement &inner : statements) {
      look(inner.expression);
      look(inner.condition);
      for (const Expression &value : inner.values)
        look(value);
      self(self, inner.body);
      self(self, inner.elifs);
      self(self, inner.otherwise);
    }
  };
  all(all, s.body);
  return needs;
}

void Writer::forTag(const Statement &s, Frame frame) {
  uint32_t loopName = parsed.texts.intern("loop");
  if (assigns(s, loopName))
    mistake(s.place, "`loop` cannot be assigned to inside of a loop");
  Scope inside(slots, frame.scope, frame.scope->function), test(slots, frame.scope, frame.scope->function),
      otherwise(slots, frame.scope, frame.scope->function);
  uint32_t loopSlot = 0;
  if (!usedNames(s.body, {loopName}).empty())
    loopSlot = inside.declareParameter(loopName).number + 1;
  inside.visit(s.target, true);
  inside.visit(s.body);
  otherwise.visit(s.otherwise);
  if (s.hasCondition) {
    test.visit(s.target, true);
    test.visit(s.condition);
  }
  bool ahead = s.hasCondition && loopSlot && needsAll(s), lazy = s.hasCondition && !ahead;
  Frame testFrame = {&test, false}, insideFrame = {&inside, false};
  expression(s.expression, frame);
  if (s.hasCondition)
    enter(test, s.place);
  if (ahead) {
    emit(s.place, kLoopBegin);
    uint32_t next = emit(s.place, kLoopNext);
    assign(s.target, testFrame);
    expression(s.condition, testFrame);
    emit(s.place, kJumpIfFalse, next);
    emit(s.place, kLoopKeep);
    emit(s.place, kJump, next);
    at(next).a = here();
    emit(s.place, kLoopCollect);
  }
  emit(s.place, kLoopBegin, loopSlot);
  uint32_t next = emit(s.place, kLoopNext, 0, lazy);
  if (lazy) {
    assign(s.target, testFrame);
    expression(s.condition, testFrame);
    emit(s.place, kJumpIfFalse, next);
    emit(s.place, kLoopEnter);
  }
  assign(s.target, insideFrame);
  enter(inside, s.place);
  open.back().loops.push_back({next, open.back().captures, {}});
  body(s.body, insideFrame);
  std::vector<uint32_t> breaks = std::move(open.back().loops.back().breaks);
  open.back().loops.pop_back();
  emit(s.place, kLoopDone);
  emit(s.place, kJump, next);
  at(next).a = here();
  for (uint32_t jump : breaks)
    at(jump).a = here();
  uint32_t end = emit(s.place, kLoopEnd);
  if (!s.otherwise.empty()) {
    enter(otherwise, s.place);
    body(s.otherwise, {&otherwise, false});
  }
  at(end).a = here();
}

void Writer::breakOut(const Statement &s) {
  bool ends = s.kind == Statement::Break;
  if (open.back().loops.empty())
    return mistake(s.place, std::string("`") + (ends ? "break" : "continue") + "` is outside of any loop");
  Loop &loop = open.back().loops.back();
  for (uint32_t i = loop.captures; i < open.back().captures; ++i)
    emit(s.place, kCaptureDrop);
  if (ends)
    loop.breaks.push_back(emit(s.place, kJump));
  else
    emit(s.place, kJump, loop.next);
}

/// Writes a macro, or the body of a `call`, as a separate function; returns its number.
uint32_t Writer::function(const Statement &s, Frame outer) {
  uint32_t caller = parsed.texts.intern("caller"), keywords = parsed.texts.intern("kwargs"),
           rest = parsed.texts.intern("varargs");
  uint32_t made = slots.newFunction();
  functions.emplace_back();
  Scope scope(slots, outer.scope, made);
  std::set<uint32_t> used = usedNames(s.body, {caller, keywords, rest});
  uint32_t flags = 0;
  size_t required = s.names.size() - s.values.size();
  std::vector<uint32_t> parameters;
  for (size_t i = 0; i < s.names.size(); ++i) {
    uint32_t name = s.names[i].name;
    parameters.push_back(name);
    scope.reserve(name);
    if (name == caller) {
      flags |= kNamesCaller;
      if (used.count(caller) && i < required)
        mistake(s.names[i].place, "a parameter `caller` needs a default");
    }
    if (name == caller || name == keywords || name == rest)
      used.erase(name);
  }
  for (auto [name, flag] : {std::pair{caller, kTakesCaller}, {keywords, kTakesKeywords}, {rest, kTakesRest}})
    if (used.count(name)) {
      flags |= flag;
      scope.reserve(name);
    }
  for (const Target &name : s.names)
    scope.visit(name, true);
  for (uint32_t name : used)
    (void)scope.declareParameter(name);
  for (const Expression &value : s.values)
    scope.visit(value);
  scope.visit(s.body);

  open.push_back({made, open.back().function, 0, {}});
  enter(scope, s.place);
  Frame frame = {&scope, false};
  for (size_t i = 0; i < s.names.size(); ++i) {
    uint32_t test = emit(s.place, kDefault, uint32_t(i), 0, s.names[i].name);
    if (i < required) {
      emit(s.place, kNotGiven, uint32_t(i), 0, s.names[i].name);
    } else {
      expression(s.values[i - required], frame);
      emit(s.place, kStore, uint32_t(i));
    }
    at(test).b = here();
  }
  body(s.body, frame);
  emit(s.place, kReturn);
  open.pop_back();
  Function &f = functions[made];
  f.slots = slots.count(made);
  f.flags = flags;
  f.name = s.kind == Statement::Macro ? s.text : 0;
  f.parameters = std::move(parameters);
  return made;
}

/// `call`: the block becomes a function, given as `caller`. `generation` writes what its block writes.
void Writer::call(const Statement &s, Frame frame) {
  uint32_t block = function(s, frame);
  if (!s.calls) {
    emit(s.place, kMacro, block);
    emit(s.place, kCall);
    emit(s.place, kPrint);
    return;
  }
  // The last step is the call; the block follows its other arguments by name, in front of stars.
  Expression e = s.expression;
  Step last = e.back();
  e.pop_back();
  if (last.a & (kStar | kDoubleStar))
    return mistake(s.place, "`call` with `*` or `**` is not compiled: no published template uses it");
  expression(e, frame);
  emit(s.place, kMacro, block);
  std::vector<uint32_t> names = parsed.names[last.b];
  names.push_back(parsed.texts.intern("caller"));
  parsed.names.push_back(std::move(names));
  emit(last.place, kCall, last.a, uint32_t(parsed.names.size() - 1), last.c);
  emit(s.place, kPrint);
}

void Writer::statement(const Statement &s, Frame frame) {
  Scope inner(slots, frame.scope, frame.scope->function);
  Frame innerFrame = {&inner, false};
  auto captured = [&] {
    enter(inner, s.place);
    emit(s.place, kCaptureBegin);
    ++open.back().captures;
    body(s.body, innerFrame);
    --open.back().captures;
    emit(s.place, kCaptureEnd);
    expression(s.expression, innerFrame);
  };
  switch (s.kind) {
  case Statement::Text: emit(s.place, kText, s.text); break;
  case Statement::Print:
    expression(s.expression, frame);
    emit(s.place, kPrint);
    break;
  case Statement::If: ifTag(s, frame); break;
  case Statement::For: forTag(s, frame); break;
  case Statement::Set:
    expression(s.expression, frame);
    assign(s.target, frame);
    break;
  case Statement::SetBlock:
    inner.visit(s.body);
    inner.visit(s.expression);
    captured();
    assign(s.target, frame);
    break;
  case Statement::Filter:
    inner.visit(s.body);
    inner.visit(s.expression);
    captured();
    emit(s.place, kPrint);
    break;
  case Statement::With:
    for (const Target &name : s.names)
      inner.visit(name, true);
    inner.visit(s.body);
    enter(inner, s.place);
    for (size_t i = 0; i < s.names.size(); ++i) {
      expression(s.values[i], frame);
      assign(s.names[i], innerFrame);
    }
    body(s.body, innerFrame);
    break;
  case Statement::Macro: {
    uint32_t made = function(s, frame);
    Slot slot;
    emit(s.place, kMacro, made);
    if (frame.scope->find(s.text, slot))
      emit(s.place, kStore, slot.number);
    break;
  }
  case Statement::Call: call(s, frame); break;
  case Statement::Break:
  case Statement::Continue: breakOut(s); break;
  }
}

std::vector<Function> Writer::write() {
  uint32_t main = slots.newFunction();
  functions.emplace_back();
  Scope scope(slots, nullptr, main);
  scope.visit(parsed.body);
  open.push_back({main, 0, 0, {}});
  enter(scope, {1, 1});
  body(parsed.body, {&scope, false});
  emit({1, 1}, kReturn);
  functions[main].slots = slots.count(main);
  if (slots.tooMany)
    mistake({1, 1}, "the template has more than " + std::to_string(SlotTable::kMostNames) + " names in one scope");
  return std::move(functions);
}

} // namespace

std::vector<Function> writeCode(Parsed &parsed) { return Writer(parsed).write(); }

} // namespace heddle::tpl
