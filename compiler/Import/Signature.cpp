// Declares @run: its inputs with their types and defaults, and its outputs.
#include "compiler/Import/Description/DeclaredNames.h"
#include "compiler/Import/Description/DescriptionReader.h"
#include "compiler/Import/Evaluate/EmitTemplates.h"
#include "compiler/Import/Importer.h"
#include "compiler/Import/Weights/ModelWeights.h"
#include "dialects/Model/IR/Names.h"
#include "dialects/Model/IR/ReservedDims.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace heddle;
using heddle::model::ModelTensorType;
using heddle::model::Size;
using llvm::StringRef;
using llvm::Twine;
using K = Value::Kind;
using Element = Emitter::Element;

/// Splits the axes of "B,T,max(0,T//2)" at commas outside of parentheses.
static llvm::SmallVector<StringRef, 4> axesOf(StringRef text) {
  llvm::SmallVector<StringRef, 4> out;
  if (text.trim().empty())
    return out;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size()) {
      depth += (text[i] == '(') - (text[i] == ')');
      if (text[i] != ',' || depth)
        continue;
    }
    out.push_back(text.slice(begin, i).trim());
    begin = i + 1;
  }
  return out;
}

/// Splits "i64[B,T]" into "i64" and "B,T".
static std::optional<std::pair<StringRef, StringRef>> splitType(StringRef text) {
  text = text.trim();
  size_t open = text.find('[');
  if (open == StringRef::npos || !text.ends_with("]"))
    return std::nullopt;
  return std::pair(text.take_front(open).trim(), text.slice(open + 1, text.size() - 1));
}

/// Every axis that is a plain name and no constant declares a dim; those of the compiler's own are errors.
static void collectDims(Session &session, const InputSpec &input, StringRef type) {
  Emitter &in = session.in;
  Evaluator &evaluator = session.evaluator;
  if (auto parts = splitType(type))
    for (StringRef axis : axesOf(parts->second))
      if (isIdentifier(axis) && !evaluator.constants.find(axis)) {
        if (StringRef meaning = model::meaningOfReservedDim(axis); !meaning.empty())
          in.error(Error::ReservedDim, {input.type->loc, input.type},
                   Twine(quote(axis)) + " is a dim of the compiler's own (" + meaning + "); give yours another name");
        evaluator.dims.try_emplace(axis.str(), Value::size(Size::dim(axis)));
      }
}

/// The type "i64[B,T]" in the IR; its axes are expressions over constants and dims. Null after an error.
static mlir::Type readType(Session &session, const InputSpec &input, StringRef type) {
  Emitter &in = session.in;
  Evaluator &evaluator = session.evaluator;
  At at{input.type->loc, input.type};
  auto parts = splitType(type);
  mlir::Type element;
  if (parts)
    element = parts->first == "f32"    ? mlir::Type(in.builder.getF32Type())
              : parts->first == "i64"  ? mlir::Type(in.builder.getI64Type())
              : parts->first == "bool" ? mlir::Type(in.builder.getI1Type())
                                       : mlir::Type();
  if (!element) {
    StringRef meant = parts ? llvm::StringSwitch<StringRef>(parts->first.lower())
                                  .Cases({"int64", "int32", "i32", "int", "long"}, "i64")
                                  .Cases({"float32", "float", "float16", "f16", "bfloat16", "bf16", "f64"}, "f32")
                                  .Cases({"boolean", "i1"}, "bool")
                                  .Default("")
                            : "";
    in.error(Error::BadExpression, at,
             "a type expected, f32, i64 or bool with axes such as i64[B,T], found " + quote(type) +
                 (meant.empty() ? "" : "; did you mean " + quote((meant + "[" + parts->second + "]").str()) + "?"));
    return {};
  }
  llvm::SmallVector<Size> sizes;
  for (StringRef axis : axesOf(parts->second)) {
    Value v = evaluator.caught(evaluator.evaluate(session.expressions.ofText(axis, input.type->loc, input.type),
                                                  evaluator.fileScope, input.type),
                               at);
    if (v.isBad())
      return {};
    if (!v.is(K::Integer) && !v.is(K::Size)) {
      in.error(Error::WrongValue, at, "axis " + quote(axis) + " should be a length, is " + v.show());
      return {};
    }
    if (v.is(K::Integer) && (v.asInteger() < 0 || v.asInteger() > (int64_t(1) << 40))) {
      in.error(Error::OutOfRange, at, "axis " + quote(axis) + " has the length " + v.show());
      return {};
    }
    sizes.push_back(v.asSize());
  }
  if (std::string why = model::unfitShape(sizes, element); !why.empty()) {
    in.error(Error::OutOfRange, at, "the input " + why);
    return {};
  }
  return ModelTensorType::get(&in.context, sizes, element);
}

/// Makes the `model.default` of an input that may be left out: its region computes the value from what `env` has, and
/// must broadcast to the input's type. The result takes the input's place in `env`.
static void runDefault(BodyRunner &body, const InputSpec &input, mlir::Value argument, Environment &env) {
  Emitter &in = body.session.in;
  At at{input.fallback->loc, input.fallback};
  mlir::Operation *op =
      in.create(at, model::DefaultOp::getOperationName(), {argument}, {argument.getType()}, {}, /*regions=*/1);
  mlir::OpBuilder::InsertionGuard guard(in.builder);
  in.builder.setInsertionPointToEnd(&op->getRegion(0).emplaceBlock());
  Scope scope{&env, Scope::Kind::Body};
  Value v;
  if (input.fallbackCall) {
    std::vector<Value> results = body.runCall(*input.fallbackCall, scope, "");
    if (results.size() == 1)
      v = results[0];
    else if (!results.empty())
      in.error(Error::WrongCount, at, "one value expected, found " + Twine(results.size()));
  } else {
    v = body.session.evaluator.value(*input.fallback, scope);
  }
  auto type = llvm::cast<ModelTensorType>(argument.getType());
  Element e = type.getElementType().isF32()        ? Element::Real
              : type.getElementType().isInteger(1) ? Element::Bool
                                                   : Element::Integer;
  mlir::Value made = v.isBad() ? mlir::Value() : in.materialize(v, e, at);
  if (made) {
    std::string why;
    auto sizes = model::broadcast({tensorType(made), type}, &why);
    if (!sizes || *sizes != type.getSizes())
      in.error(Error::Misfit, at,
               "the default " + Twine(v.show()) + " does not stretch to " + Value::ofIr(K::Tensor, argument).show() +
                   (why.empty() ? "" : ": " + why));
  }
  in.create(at, model::YieldOp::getOperationName(),
            made ? llvm::ArrayRef<mlir::Value>(made) : llvm::ArrayRef<mlir::Value>(), {}, {});
  Value filled = Value::ofIr(K::Tensor, op->getResult(0));
  in.name(input.name, filled);
  env.bind(input.name, filled);
}

namespace {
/// An input that is there under these constants.
struct Active {
  const InputSpec *spec;
  std::string name, type;
};
} // namespace

/// The inputs whose `if` holds, with those that `repeat` written out as name.0, name.1, ..; also declares all dims,
/// which any type may use.
static std::vector<Active> activeInputs(Session &session, const Description &doc, Environment &env) {
  Emitter &in = session.in;
  Evaluator &evaluator = session.evaluator;
  std::vector<Active> active;
  for (const InputSpec &input : doc.inputs) {
    if (!input.type)
      continue;
    if (input.condition) {
      Value c = evaluator.value(*input.condition, evaluator.fileScope);
      if (!c.is(K::Bool)) {
        if (!c.isBad())
          in.error(Error::WrongValue, {input.condition->loc, input.condition},
                   "true or false expected, decided at import; found " + Twine(c.show()));
        env.bind(input.name, Value::poison());
        continue;
      }
      if (!c.asBool())
        continue;
    }
    // The type may be an expression that gives a text.
    std::string type = input.type->string;
    if (input.type->isExpression()) {
      Value t = evaluator.value(*input.type, evaluator.fileScope);
      if (!t.is(K::String)) {
        if (!t.isBad())
          in.error(Error::WrongValue, {input.type->loc, input.type},
                   "a type such as 'i64[B,T]' expected, found " + Twine(t.show()));
        env.bind(input.name, Value::poison());
        continue;
      }
      type = t.asString();
    }
    collectDims(session, input, type);
    if (!input.repeat) {
      active.push_back({&input, input.name, type});
      continue;
    }
    Value n = evaluator.value(*input.repeat, evaluator.fileScope);
    if (!n.is(K::Integer) || n.asInteger() < 0 || n.asInteger() > 10000) {
      if (!n.isBad())
        in.error(Error::OutOfRange, {input.repeat->loc, input.repeat},
                 "a number of inputs up to 10000 expected, found " + Twine(n.show()));
      continue;
    }
    for (int64_t i = 0; i < n.asInteger(); ++i)
      active.push_back({&input, input.name + "." + std::to_string(i), type});
  }
  return active;
}

/// Creates the function with its arguments and binds them, then computes defaults, each of which may use the inputs
/// that must be given and the defaults before it. The top-level `defaults` are in force from here on.
Signature heddle::declareInputs(Session &session, const Description &doc, BodyRunner &body, Environment &env) {
  Emitter &in = session.in;
  llvm::SmallVector<mlir::Type> types;
  std::vector<Active> typed;
  Environment seen; // what defaults may use: the inputs that must be given, and the defaults before them
  for (Active &a : activeInputs(session, doc, env)) {
    mlir::Type t = readType(session, *a.spec, a.type);
    if (!t) {
      env.bind(a.name, Value::poison());
      seen.bind(a.name, Value::poison());
      continue;
    }
    types.push_back(t);
    typed.push_back(std::move(a));
  }

  At top{doc.root.loc, &doc.root};
  auto run = mlir::func::FuncOp::create(in.location(top), "run", in.builder.getFunctionType(types, {}));
  in.builder.insert(run);
  Signature made{run, {}};
  mlir::Block *entry = run.addEntryBlock();
  in.builder.setInsertionPointToEnd(entry);
  for (auto [i, a] : llvm::enumerate(typed)) {
    run.setArgAttr(i, "model.name", in.builder.getStringAttr(a.name));
    if (a.spec->fallback)
      run.setArgAttr(i, "model.default", in.builder.getUnitAttr());
    entry->getArgument(i).setLoc(model::withName(a.name, in.location({a.spec->loc, a.spec->json})));
    made.inputs.push_back(a.name);
    env.bind(a.name, Value::ofIr(K::Tensor, entry->getArgument(i)));
  }
  if (doc.defaults)
    body.pushDefaults(*doc.defaults, session.evaluator.fileScope);
  for (auto [i, a] : llvm::enumerate(typed))
    if (!a.spec->fallback)
      seen.bind(a.name, Value::ofIr(K::Tensor, entry->getArgument(i)));
  for (auto [i, a] : llvm::enumerate(typed))
    if (a.spec->fallback) {
      runDefault(body, *a.spec, entry->getArgument(i), seen);
      if (const Value *v = seen.find(a.spec->name)) {
        env.bind(a.name, *v);
        seen.bind(a.name, *v);
      }
    }
  return made;
}

/// Collects the outputs in the order of the description and returns them from @run. A name that is not bound under
/// these constants, or is null, is left out; a pattern "hidden.*" counts with --outputs=all only.
std::optional<std::vector<std::string>> heddle::writeOutputs(Session &session, const Description &doc,
                                                             mlir::func::FuncOp run, const Environment &env,
                                                             const ModelWeights &weights) {
  Emitter &in = session.in;
  llvm::SmallVector<mlir::Value> values;
  std::vector<std::string> names;
  std::set<std::string> done;
  bool poisoned = false;
  auto add = [&](const std::string &name, const JsonValue &where) {
    const Value *v = env.find(name);
    if (!v || !done.insert(name).second)
      return;
    if (std::string why = whyNoName(name); !why.empty()) { // of a name with {expression} in it
      in.error(Error::NotAName, {where.loc, &where}, "the output " + quote(name) + " cannot have this name: " + why);
      poisoned = true;
      return;
    }
    if (v->isNull()) // bound to null: not there
      return;
    if (v->is(K::Poison) && weights.leavesOut(name, session.sink))
      return;
    At at{where.loc, &where};
    if (v->is(K::Mask) || v->is(K::Bias) || v->is(K::List) || v->is(K::Object) || v->is(K::String)) {
      in.error(Error::WrongValue, at, "the output " + quote(name) + " is " + v->show() + "; a tensor expected");
      poisoned = true;
      return;
    }
    mlir::Value ir = in.materialize(*v, at);
    if (!ir) {
      poisoned = true;
      return;
    }
    values.push_back(ir);
    names.push_back(name);
  };
  if (doc.outputs)
    for (const JsonValue &o : doc.outputs->items) {
      if (!o.isString())
        continue;
      if (StringRef(o.string).contains('*')) {
        if (session.options.outputsAll)
          for (const std::string &name : env.names())
            if (globMatch(name, o.string))
              add(name, o);
      } else {
        add(o.string, o);
      }
    }
  if (values.empty() && !poisoned && !session.sink.hasErrors() && doc.outputs)
    in.error(Error::NoOutput, {doc.outputs->loc, doc.outputs}, "no output is bound under these constants");
  if (session.sink.hasErrors() || poisoned)
    return std::nullopt;
  llvm::SmallVector<mlir::Type> types;
  for (mlir::Value v : values)
    types.push_back(v.getType());
  mlir::func::ReturnOp::create(in.builder, in.location({doc.outputs->loc, doc.outputs}), values);
  run.setFunctionType(in.builder.getFunctionType(run.getArgumentTypes(), types));
  for (auto [i, name] : llvm::enumerate(names))
    run.setResultAttr(i, "model.name", in.builder.getStringAttr(name));
  return names;
}
