//===- Machine.cpp - Runs the code of a template --------------------------===//

#include "runtime/Template/Machine.h"

#include <algorithm>

namespace heddle::rt::chat {

using namespace tpl;

/// The variables of one call of a function, and of the call around its definition.
struct Activation {
  Activation *outer;
  const uint32_t *function;
  Value *slots;
};

class Machine {
public:
  Machine(const Templates &code, Session &s, Value variables) : code(code), s(s), variables(variables) {}
  bool run(uint32_t function, std::string &out);
  uint32_t line() const { return current[0] >> 8; }
  std::string_view quote() const;

private:
  struct Call {
    Activation *activation;
    size_t next, stack, loops, captures;
  };

  bool enter(Activation *outer, uint32_t function, size_t returns);
  bool leave();
  bool step();
  bool values(Op op, uint32_t a, uint32_t c);
  bool lists(Op op, uint32_t a);
  bool printTop();
  bool slice();
  bool captureEnd(bool drop);
  bool unknown(Op op, uint32_t c);
  bool operators(Op op);
  bool loops(Op op, uint32_t a, uint32_t b);
  bool variablesOp(Op op, uint32_t a, uint32_t b, uint32_t c);
  bool call(uint32_t a, uint32_t b);
  bool callMacro(const MacroObject &macro, const Arguments &given);
  bool applied(Op op, uint32_t a, uint32_t b, uint32_t c);
  bool gather(uint32_t a, uint32_t b, Arguments &given, size_t &taken);
  bool concat(uint32_t count);
  bool makeDict(uint32_t count);
  bool unpack(uint32_t count);
  bool write(std::string_view text);

  bool push(Value v) {
    stack.push_back(v);
    return stack.size() <= kMostStack || s.fail("too many values at once");
  }
  /// False if the code takes more than there is, which no compiler writes.
  bool has(size_t n) { return stack.size() - calls.back().stack >= n || s.fail("damaged code"); }
  Value pop() {
    Value v = stack.back();
    stack.pop_back();
    return v;
  }
  Value *slot(uint32_t n, uint32_t outwards) {
    Activation *in = calls.back().activation;
    while (outwards-- && in)
      in = in->outer;
    if (in && n < in->function[kSlots])
      return &in->slots[n];
    s.fail("damaged code");
    return nullptr;
  }

  static constexpr size_t kMostStack = 1 << 20;

  const Templates &code;
  Session &s;
  Value variables;
  std::vector<Value> stack, arguments;
  std::vector<std::string_view> names;
  std::vector<LoopObject *> open;
  std::vector<std::string> captures;
  std::vector<Call> calls;
  std::string output;
  const uint32_t *current = nullptr;
  size_t next = 0;
  size_t captured = 0; ///< bytes in captures
};

/// The source that the message of the current instruction ends with.
std::string_view Machine::quote() const {
  uint32_t op = current[0] & 255;
  return op == kCall || (op >= kNegate && op <= kCompareChain) ? code.text(current[3]) : std::string_view();
}

bool Machine::write(std::string_view text) {
  if (!s.chargeBytes(text.size()))
    return false;
  if (captures.empty()) {
    output += text;
    return output.size() <= s.limits.output ||
           s.fail("its text is longer than " + std::to_string(s.limits.output) + " bytes");
  }
  captures.back() += text;
  captured += text.size();
  return s.heap.fits(captured) || s.room(captured);
}

bool Machine::enter(Activation *outer, uint32_t function, size_t returns) {
  const uint32_t *words = code.section(kFunctions).data + function * kFunctionWords;
  if (calls.size() > size_t(Limits::depth))
    return s.fail("macros call each other deeper than " + std::to_string(Limits::depth) + " levels");
  size_t slots = std::max<size_t>(words[kSlots], words[kParameters] + 3);
  if (!s.room(slots * sizeof(Value)))
    return false;
  auto *activation = s.heap.make<Activation>();
  *activation = {outer, words, s.heap.make<Value>(slots)};
  calls.push_back({activation, returns, stack.size(), open.size(), captures.size()});
  next = words[kBegin];
  return true;
}

/// Ends a call; what a macro wrote becomes its value.
bool Machine::leave() {
  Call done = calls.back();
  calls.pop_back();
  stack.resize(done.stack);
  open.resize(done.loops);
  next = done.next;
  if (calls.empty())
    return true;
  Value text;
  std::string written = std::move(captures[done.captures - 1]);
  captures.resize(done.captures - 1);
  captured -= std::min(captured, written.size());
  return makeText(s, written, text) && push(text);
}

/// The arguments on top of the stack, behind `taken` values that are to be popped.
bool Machine::gather(uint32_t a, uint32_t b, Arguments &given, size_t &taken) {
  size_t positional = a & kCountMask;
  const uint32_t *list = code.section(kNames).data + b;
  size_t named = list[0], star = (a & kStar) != 0, doubleStar = (a & kDoubleStar) != 0;
  taken = positional + named + star + doubleStar;
  if (!has(taken))
    return false;
  names.clear();
  for (size_t i = 0; i < named; ++i)
    names.push_back(code.text(list[1 + i]));
  const Value *from = stack.data() + stack.size() - taken;
  if (!star && !doubleStar) {
    given = {from, positional, names.data(), named};
    return true;
  }
  arguments.assign(from, from + positional);
  if (star) {
    const Value *items;
    size_t count;
    if (!itemsOf(s, from[positional + named], items, count) || !s.charge(count))
      return false;
    arguments.insert(arguments.end(), items, items + count);
  }
  positional = arguments.size();
  arguments.insert(arguments.end(), from + (a & kCountMask), from + (a & kCountMask) + named);
  if (doubleStar) {
    Value more = from[taken - 1];
    if (more.kind != Kind::Dict)
      return s.fail(std::string("`**` expects a dict, found ") + nameOf(more));
    for (uint32_t i = 0; i < more.dict->count; ++i) {
      Value key = more.dict->entries[i].key;
      if (!key.isText())
        return s.fail("the keys after `**` are texts");
      if (std::find(names.begin(), names.end(), key.view()) != names.end())
        return s.fail("an argument is given twice");
      names.push_back(key.view());
      arguments.push_back(more.dict->entries[i].value);
    }
    if (!s.charge(more.dict->count))
      return false;
  }
  given = {arguments.data(), positional, names.data(), names.size()};
  return true;
}

static std::string called(const MacroObject &macro) { return "the macro `" + std::string(macro.name) + "` "; }

/// Binds the arguments as Jinja's macros do and enters the macro.
bool Machine::callMacro(const MacroObject &macro, const Arguments &given) {
  if (!s.charge(300)) // slots, a buffer, a text
    return false;
  const uint32_t *words = code.section(kFunctions).data + macro.function * kFunctionWords;
  const uint32_t *list = code.section(kNames).data + words[kParameterNames];
  size_t parameters = words[kParameters], flags = words[kFlags];
  std::vector<char> used(given.named);
  std::vector<Value> bound(parameters + 3);
  for (size_t i = 0; i < parameters; ++i) {
    if (i < given.positional) {
      bound[i] = given.values[i];
      continue;
    }
    for (size_t k = 0; k < given.named; ++k)
      if (given.names[k] == code.text(list[1 + i])) {
        bound[i] = given.values[given.positional + k];
        used[k] = 1;
      }
  }
  size_t extra = parameters;
  if (flags & kTakesCaller) {
    Value caller = undefinedValue(Why::Name, "caller");
    for (size_t k = 0; k < given.named; ++k)
      if (given.names[k] == "caller") {
        used[k] = 1;
        caller = given.values[given.positional + k];
      }
    bound[extra++] = caller;
  }
  if (flags & kTakesKeywords) {
    Value rest = dictValue(s.heap.make<Dict>());
    for (size_t k = 0; k < given.named; ++k)
      if (!used[k])
        setKey(s.heap, *rest.dict, textValue(given.names[k]), given.values[given.positional + k]);
    bound[extra++] = rest;
  } else {
    for (size_t k = 0; k < given.named; ++k)
      if (!used[k])
        return s.fail(called(macro) + "has no parameter `" + std::string(given.names[k]) + "`");
  }
  size_t more = given.positional > parameters ? given.positional - parameters : 0;
  if (flags & kTakesRest) {
    auto *items = s.heap.make<Value>(more);
    std::copy_n(given.values + given.positional - more, more, items);
    bound[extra++] = listValue(items, more, Kind::Tuple);
  } else if (more) {
    return s.fail(called(macro) + "takes at most " + std::to_string(parameters) + " arguments");
  }
  captures.emplace_back();
  if (!enter(macro.outer, macro.function, next))
    return false;
  std::copy_n(bound.begin(), extra, calls.back().activation->slots);
  return true;
}

bool Machine::call(uint32_t a, uint32_t b) {
  Arguments given;
  size_t taken;
  if (!s.charge(8) || !gather(a, b, given, taken) || !has(taken + 1))
    return false;
  Value callee = stack[stack.size() - taken - 1], out;
  switch (callee.kind) {
  case Kind::Macro: {
    // Arguments are copied into slots before the stack shrinks.
    size_t base = stack.size() - taken - 1;
    if (!callMacro(*callee.macro, given))
      return false;
    stack.resize(base);
    calls.back().stack = base;
    return true;
  }
  case Kind::Method:
    if (!callMethod(s, *callee.method, given, out))
      return false;
    break;
  case Kind::Function:
    if (!callFunction(s, Function(callee.flag), given, out))
      return false;
    break;
  case Kind::Undefined: return failUndefined(s, callee);
  default: return s.fail(std::string(nameOf(callee)) + " cannot be called");
  }
  stack.resize(stack.size() - taken - 1);
  return push(out);
}

/// A filter or a test.
bool Machine::applied(Op op, uint32_t a, uint32_t b, uint32_t c) {
  Arguments given;
  size_t taken;
  bool result = false;
  Value out;
  if (!s.charge(8) || !gather(a, b, given, taken) || !has(taken + 1))
    return false;
  Value v = stack[stack.size() - taken - 1];
  if (op == kFilter) {
    if (!filter(s, FilterId(c), v, given, out))
      return false;
  } else {
    if (!test(s, TestId(c), v, given, result))
      return false;
    out = boolValue(result);
  }
  stack.resize(stack.size() - taken - 1);
  return push(out);
}

bool Machine::concat(uint32_t count) {
  if (!has(count))
    return false;
  Value whole = textValue("");
  for (size_t i = stack.size() - count; i < stack.size(); ++i) {
    Value v = stack[i];
    std::string text;
    if (!v.isText() && (!print(s, v, text) || !makeText(s, text, v)))
      return false;
    if (!s.heap.fits(whole.size + v.size) || !s.charge(4 + v.size / 16))
      return s.room(size_t(whole.size) + v.size);
    whole = s.heap.grow(whole, v.view(), false);
  }
  stack.resize(stack.size() - count);
  return push(whole);
}

bool Machine::makeDict(uint32_t count) {
  if (!has(size_t(count) * 2) || !s.room(count * sizeof(DictEntry)))
    return false;
  auto *dict = s.heap.make<Dict>();
  const Value *from = stack.data() + stack.size() - size_t(count) * 2;
  for (uint32_t i = 0; i < count; ++i) {
    if (!isKey(from[2 * i]))
      return s.fail(std::string(nameOf(from[2 * i])) + " cannot be a key");
    setKey(s.heap, *dict, from[2 * i], from[2 * i + 1]);
  }
  stack.resize(stack.size() - size_t(count) * 2);
  return push(dictValue(dict));
}

bool Machine::unpack(uint32_t count) {
  const Value *items;
  size_t found;
  if (!has(1) || !itemsOf(s, pop(), items, found))
    return false;
  if (found != count)
    return s.fail(std::to_string(count) + " values are expected, found " + std::to_string(found));
  for (size_t i = count; i-- > 0;)
    if (!push(items[i]))
      return false;
  return true;
}

bool Machine::loops(Op op, uint32_t a, uint32_t b) {
  if (op == kLoopBegin) {
    Value iterator;
    if (!has(1) || !iterate(s, pop(), iterator))
      return false;
    auto *loop = s.heap.make<LoopObject>();
    loop->source = iterator.iterator;
    loop->index0 = -1;
    open.push_back(loop);
    if (!a)
      return true;
    Value v;
    v.kind = Kind::Loop;
    v.loop = loop;
    Value *at = slot(a - 1, 0);
    return at && (*at = v, true);
  }
  if (open.size() <= calls.back().loops)
    return s.fail("damaged code");
  LoopObject &loop = *open.back();
  auto take = [&] {
    ++loop.index0;
    loop.before = loop.current;
    loop.current = loop.raw;
  };
  switch (op) {
  case kLoopNext:
    if (loop.source->at >= loop.source->count) {
      next = a;
      return true;
    }
    loop.raw = loop.source->items[loop.source->at++];
    if (!b)
      take();
    return push(loop.raw);
  case kLoopEnter: take(); return push(loop.raw);
  case kLoopKeep:
    if (loop.keptCount == loop.keptRoom) {
      size_t room = std::max<size_t>(16, loop.keptRoom * 2);
      if (!s.room(room * sizeof(Value)))
        return false;
      auto *more = s.heap.make<Value>(room);
      std::copy_n(loop.kept, loop.keptCount, more);
      loop.kept = more;
      loop.keptRoom = room;
    }
    loop.kept[loop.keptCount++] = loop.raw;
    return true;
  case kLoopCollect: open.pop_back(); return push(iteratorOver(s, loop.kept, loop.keptCount));
  case kLoopDone: loop.completed = true; return true;
  default: // kLoopEnd
    if (loop.completed)
      next = a;
    open.pop_back();
    return true;
  }
}

bool Machine::variablesOp(Op op, uint32_t a, uint32_t b, uint32_t c) {
  Value *at = slot(a, op == kLoad || op == kSetAttribute ? b : 0), *from;
  if (!at)
    return false;
  switch (op) {
  case kLoad: return push(at->given() ? *at : undefinedValue(Why::Name, code.text(c)));
  case kStore:
    if (!has(1))
      return false;
    *at = pop();
    return true;
  case kCopy: from = slot(c, b); return from && (*at = *from, true);
  case kForget: *at = {}; return true;
  case kResolve: {
    std::string_view name = code.text(c), special = code.special(name);
    *at = {};
    if (const Value *given = findKey(*variables.dict, name)) {
      *at = *given;
    } else if (special.data()) {
      *at = textValue(special);
    } else if (Function f = functionNamed(name); f != Function::None) {
      at->kind = Kind::Function;
      at->flag = uint8_t(f);
    }
    return true;
  }
  case kDefault:
    if (at->given())
      next = b;
    return true;
  case kNotGiven: *at = undefinedValue(Why::Parameter, code.text(c)); return true;
  default: // kSetAttribute
    if (!has(1))
      return false;
    if (at->kind != Kind::Namespace)
      return s.fail(std::string("only a namespace has attributes that can be set, found ") + nameOf(*at));
    Value v = pop();
    setKey(s.heap, *at->dict, textValue(code.text(c)), v);
    return true;
  }
}

bool Machine::operators(Op op) {
  uint32_t a = current[1], b = current[2];
  bool result = false;
  Value out, x, y;
  if (op == kNegate || op == kPlus) {
    if (!has(1))
      return false;
    x = pop();
    return negate(s, x, op == kNegate, out) && push(out);
  }
  if (!has(2))
    return false;
  y = pop();
  x = pop();
  if (op < kCompare)
    return arithmetic(s, op, x, y, out) && push(out);
  if (!compare(s, Comparison(a), x, y, result))
    return false;
  if (op == kCompare)
    return push(boolValue(result));
  if (!result)
    next = b;
  return push(result ? y : boolValue(false));
}

bool Machine::printTop() {
  if (!has(1))
    return false;
  Value v = pop();
  if (v.isText())
    return write(v.view());
  std::string text;
  return print(s, v, text) && write(text);
}

bool Machine::unknown(Op op, uint32_t c) {
  return s.fail((op == kUnknownFilter ? "there is no filter `" : "there is no test `") + std::string(code.text(c)) +
                "`");
}

bool Machine::slice() {
  if (!has(4))
    return false;
  Value bounds[3], out;
  for (int i = 2; i >= 0; --i)
    bounds[i] = pop();
  return sliceOf(s, pop(), bounds, out) && push(out);
}

bool Machine::lists(Op op, uint32_t a) {
  if (!has(a) || !s.room(a * sizeof(Value)))
    return false;
  auto *items = s.heap.make<Value>(a);
  std::copy(stack.end() - a, stack.end(), items);
  stack.resize(stack.size() - a);
  return push(listValue(items, a, op == kList ? Kind::List : Kind::Tuple));
}

bool Machine::captureEnd(bool drop) {
  if (captures.size() <= calls.back().captures)
    return s.fail("damaged code");
  Value out;
  std::string text = std::move(captures.back());
  captures.pop_back();
  captured -= std::min(captured, text.size());
  return drop || (makeText(s, text, out) && push(out));
}

/// What pushes one value.
bool Machine::values(Op op, uint32_t a, uint32_t c) {
  Value out, v;
  switch (op) {
  case kConst: return push(textValue(code.text(a)));
  case kInteger:
  case kFloat: {
    const uint32_t *number = code.section(kNumbers).data + size_t(a) * 2;
    uint64_t bits = number[0] | uint64_t(number[1]) << 32;
    out = integerValue(int64_t(bits));
    out.kind = op == kInteger ? Kind::Integer : Kind::Real;
    return push(out);
  }
  case kTrue: return push(boolValue(true));
  case kFalse: return push(boolValue(false));
  case kNone: return push(noneValue());
  case kNothing: return push(undefinedValue(Why::NoElse, ""));
  case kAttribute:
    if (!has(1))
      return false;
    v = pop();
    return attributeOf(s, v, code.text(c), out) && push(out);
  case kItem:
    if (!has(2))
      return false;
    v = pop();
    return itemOf(s, pop(), v, out) && push(out);
  case kNot: return has(1) && push(boolValue(!truth(pop())));
  default: // kMacro
    out.kind = Kind::Macro;
    out.macro = s.heap.make<MacroObject>();
    *out.macro = {a, calls.back().activation, code.text(code.section(kFunctions).data[a * kFunctionWords + kName])};
    return push(out);
  }
}

/// One instruction. Whatever needs room for its work has a separate function: this one is called millions of times.
bool Machine::step() {
  current = code.section(kCode).data + next++ * kInstructionWords;
  auto op = Op(current[0] & 255);
  uint32_t a = current[1], b = current[2], c = current[3];
  if (s.heap.full())
    return s.room(s.limits.memory + 1);
  if (!s.charge(1))
    return false;
  switch (op) {
  case kText: return write(code.text(a));
  case kPrint: return printTop();
  case kConst:
  case kInteger:
  case kFloat:
  case kTrue:
  case kFalse:
  case kNone:
  case kNothing:
  case kAttribute:
  case kItem:
  case kNot:
  case kMacro: return values(op, a, c);
  case kSlice: return slice();
  case kCall: return call(a, b);
  case kFilter:
  case kTest: return applied(op, a, b, c);
  case kUnknownFilter:
  case kUnknownTest: return unknown(op, c);
  case kConcat: return concat(a);
  case kJump: next = a; return true;
  case kJumpIfFalse:
    if (!has(1))
      return false;
    if (!truth(pop()))
      next = a;
    return true;
  case kAnd:
  case kOr:
    if (!has(1))
      return false;
    if (truth(stack.back()) == (op == kOr))
      next = a;
    else
      stack.pop_back();
    return true;
  case kList:
  case kTuple: return lists(op, a);
  case kDict: return makeDict(a);
  case kUnpack: return unpack(a);
  case kCaptureBegin: captures.emplace_back(); return captures.size() <= 256 || s.fail("too many blocks at once");
  case kCaptureEnd:
  case kCaptureDrop: return captureEnd(op == kCaptureDrop);
  case kReturn: return leave();
  case kLoopBegin:
  case kLoopNext:
  case kLoopEnter:
  case kLoopKeep:
  case kLoopCollect:
  case kLoopDone:
  case kLoopEnd: return loops(op, a, b);
  case kLoad:
  case kStore:
  case kCopy:
  case kForget:
  case kResolve:
  case kDefault:
  case kNotGiven:
  case kSetAttribute: return variablesOp(op, a, b, c);
  default: return operators(op);
  }
}

bool Machine::run(uint32_t function, std::string &out) {
  current = code.section(kCode).data;
  if (!enter(nullptr, function, 0))
    return false;
  while (!calls.empty())
    if (!step())
      return false;
  out = std::move(output);
  return true;
}

bool loopAttribute(Session &s, LoopObject &loop, std::string_view name, Value &out) {
  int64_t index = loop.index0 + 1, left = int64_t(loop.source->count - loop.source->at);
  if (!loop.counted && (name == "length" || name == "revindex" || name == "revindex0")) {
    loop.counted = true;
    loop.length = index + left;
  }
  if (name == "index")
    out = integerValue(index);
  else if (name == "index0")
    out = integerValue(loop.index0);
  else if (name == "revindex")
    out = integerValue(loop.length - loop.index0);
  else if (name == "revindex0")
    out = integerValue(loop.length - index);
  else if (name == "first")
    out = boolValue(loop.index0 == 0);
  else if (name == "last")
    out = boolValue(!left);
  else if (name == "length")
    out = integerValue(loop.length);
  else if (name == "previtem")
    out = loop.index0 == 0 ? undefinedValue(Why::NoItem, "previous") : loop.before;
  else if (name == "nextitem")
    out = left ? loop.source->items[loop.source->at] : undefinedValue(Why::NoItem, "next");
  else if (name == "depth" || name == "depth0")
    out = integerValue(name == "depth");
  else {
    Value v;
    v.kind = Kind::Loop;
    v.loop = &loop;
    return findMethod(s, v, name, out);
  }
  return true;
}

Rendered Templates::render(const Rendering &with) const {
  Limits limits;
  limits.output = std::min<size_t>(limits.output, (size_t(1) << 20) + 16 * with.inputBytes);
  Session s(limits, tables);
  s.now = with.now;
  Rendered result;
  Value variables;
  const json::Value *tools = with.variables->find("tools");
  std::string_view wanted = tools && !tools->is(json::Value::Kind::Null) && has("tool_use") ? "tool_use" : "default";
  if (!valueOf(s, *with.variables, variables)) {
    result.text = "the chat template: " + s.error;
    return result;
  }
  for (const char *always : {"messages", "tools", "documents", "add_generation_prompt"})
    if (!findKey(*variables.dict, always))
      setKey(s.heap, *variables.dict, textValue(always),
             std::string_view(always) == "messages"                ? listValue(nullptr, 0)
             : std::string_view(always) == "add_generation_prompt" ? boolValue(false)
                                                                   : noneValue());
  const WordSpan &templates = section(kTemplates);
  uint32_t function = templates.data[1];
  for (size_t i = 0; i < templates.count; i += 2)
    if (text(templates.data[i]) == wanted)
      function = templates.data[i + 1];
  Machine machine(*this, s, variables);
  result.good = machine.run(function, result.text);
  result.raised = s.raised;
  if (result.good || s.raised) {
    if (!result.good)
      result.text = s.error;
    return result;
  }
  std::string name = wanted == "default" ? "" : " `" + std::string(wanted) + "`";
  std::string quoted = machine.quote().empty() ? "" : " (`" + std::string(machine.quote()) + "`)";
  result.text = "the chat template" + name + ", line " + std::to_string(machine.line()) + ": " + s.error + quoted;
  return result;
}

} // namespace heddle::rt::chat
