// Runs calls: operands, the expansion of blocks, and how `defaults` are merged.
#include "compiler/Import/Ops/OpCall.h"

#include "llvm/ADT/STLExtras.h"

using namespace heddle;
using llvm::StringRef;
using llvm::Twine;
using K = Value::Kind;

//===--- defaults -------------------------------------------------------------===//

/// Evaluates an object of `defaults` (op or block → attribute → value) where it is and puts it in force.
void BodyRunner::pushDefaults(const JsonValue &given, const Scope &scope) {
  defaults.emplace_back();
  for (const JsonMember &op : given.members)
    for (const JsonMember &a : op.value.members)
      if (Value v = evaluator.value(a.value, scope); !v.isNull())
        defaults.back()[op.key][a.key] = v;
}

Value BodyRunner::defaultOf(StringRef op, StringRef attribute) const {
  for (const auto &of : llvm::reverse(defaults))
    if (auto it = of.find(std::string_view(op)); it != of.end())
      if (auto a = it->second.find(std::string_view(attribute)); a != it->second.end())
        return a->second;
  return Value::null();
}

//===--- calls ----------------------------------------------------------------===//

/// Evaluates the operands, then expands a block or imports an op. A block's `weights` is a scope for all that it reads,
/// unless the block has a parameter of that name.
std::vector<Value> BodyRunner::runCall(const CallSpec &call, const Scope &scope, const std::string &weights) {
  At at{call.loc, call.json};
  std::vector<Value> operands;
  for (const JsonValue *v : call.operands)
    operands.push_back(evaluator.operand(*v, scope));
  if (call.block) {
    std::string inner = weights;
    if (const AttrSpec *w = call.attribute("weights"); w && w->value->isString() && !call.block->parameter("weights")) {
      std::optional<std::string> filled = evaluator.fill(*w->value, scope);
      if (!filled)
        return std::vector<Value>(call.block->results.size(), Value::poison());
      inner = joinName(weights, *filled);
    }
    return runBlock(*call.block, std::move(operands), &call, scope, inner, at);
  }
  size_t wanted = call.op->operands.size();
  if (!call.op->isVariadic && operands.size() != wanted)
    return {}; // reported when the call was read
  OpCall op(*this, call, scope, weights, std::move(operands));
  return importOp(op);
}

/// Binds operands and parameters in an environment of the block's own, runs its body in it, and takes the results out
/// by name. A parameter comes from the call, else from `defaults`, else from the block; the block's own default may use
/// the parameters before it. One with `one_of` takes only those values, the first if none is given.
std::vector<Value> BodyRunner::runBlock(const BlockSpec &block, std::vector<Value> operands, const CallSpec *call,
                                        const Scope &scope, const std::string &weights, At at) {
  std::vector<Value> poison(block.results.size(), Value::poison());
  if (operands.size() != block.operands.size() || in.exhausted())
    return poison;
  if (session.places.depth() > 60) {
    in.error(Error::TooLarge, at, "blocks are nested more than 60 deep");
    return poison;
  }
  Environment local;
  for (auto [name, v] : llvm::zip(block.operands, operands))
    local.bind(name, v);
  Scope inside{&local, Scope::Kind::Block};
  for (const BlockParameter &p : block.parameters) {
    const AttrSpec *given = call ? call->attribute(p.name) : nullptr;
    Value v = given ? evaluator.value(*given->value, scope) : Value::null();
    if (v.isNull())
      v = defaultOf(block.name, p.name);
    if (v.isNull() && p.required) {
      in.error(Error::MissingAttribute, given ? At{given->value->loc, call->json} : at,
               Twine(block.name) + " needs the attribute " + quote(p.name));
      v = Value::poison();
    }
    if (!p.oneOf.empty() && !v.isBad()) { // an enumeration, the first is the default
      if (v.isNull())
        v = evaluator.literal(*p.oneOf[0]);
      std::vector<std::string> known;
      bool fits = false;
      for (const JsonValue *choice : p.oneOf) {
        known.push_back(choice->isString() ? choice->string : choice->text());
        fits |= equalConstants(evaluator.literal(*choice), v);
      }
      if (!fits) {
        in.error(Error::WrongAttribute, given ? At{given->value->loc, call->json} : at,
                 Twine(block.name) + ": " + p.name + " is " + llvm::join(known, " or ") + ", found " + v.show() +
                     (v.is(K::String) ? nearest(v.asString(), known) : ""));
        v = Value::poison();
      }
    } else if (v.isNull() && !p.required) {
      Places::Inside call(session.places, at, block.name);
      v = evaluator.value(*p.fallback, inside);
    }
    local.bind(p.name, std::move(v));
  }
  {
    Places::Inside here(session.places, at, block.name);
    run(block.body, inside, weights + "|");
  }

  std::vector<Value> results;
  for (const std::string &name : block.results) {
    const Value *v = local.find(name);
    if (!v && !session.sink.hasErrors())
      in.error(Error::NoOutput, at,
               Twine(block.name) + ": the result " + quote(name) + " is not bound under these attributes");
    results.push_back(v ? *v : Value::poison());
  }
  return results;
}
