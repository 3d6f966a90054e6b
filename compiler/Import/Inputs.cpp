// The signature of @run: inputs with their types and defaults, outputs, and what the module
// says about itself.
#include "compiler/Import/EmitTemplates.h"
#include "compiler/Import/Importer.h"
#include "compiler/Import/DescriptionReader.h"
#include "dialects/Model/IR/ReservedDims.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

using namespace heddle;
using heddle::model::ModelTensorType;
using heddle::model::Size;
using llvm::StringRef;
using llvm::Twine;
using K = Value::Kind;

/// The axes of "B,T,max(0,T//2)": split at commas outside parentheses.
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

/// "i64[B,T]" -> "i64", "B,T".
static std::optional<std::pair<StringRef, StringRef>> splitType(StringRef text) {
  text = text.trim();
  size_t open = text.find('[');
  if (open == StringRef::npos || !text.ends_with("]"))
    return std::nullopt;
  return std::pair(text.take_front(open).trim(), text.slice(open + 1, text.size() - 1));
}

void Importer::collectDims(const InputSpec &input, StringRef type) {
  if (auto parts = splitType(type))
    for (StringRef axis : axesOf(parts->second))
      if (isIdentifier(axis) && !evaluator.constants.find(axis)) {
        if (findFunction(axis) || isNamedMask(axis))
          in.error({input.type->loc, input.type}, quote(axis) + " is the name of a function or mask, not of a dim");
        if (StringRef meaning = model::meaningOfReservedDim(axis); !meaning.empty()) {
          auto &said = in.error({input.type->loc, input.type}, Twine(quote(axis)) + " is a dim of the compiler's own (" + meaning +
                                                                   "); give yours another name");
          said.code = "H0301";
        }
        evaluator.dims.try_emplace(axis.str(), Value::size(Size::dim(axis)));
      }
}

mlir::Type Importer::readType(const InputSpec &input, StringRef type) {
  At at{input.type->loc, input.type};
  auto parts = splitType(type);
  mlir::Type element;
  if (parts)
    element = parts->first == "f32"   ? mlir::Type(in.builder.getF32Type())
              : parts->first == "i64" ? mlir::Type(in.builder.getI64Type())
              : parts->first == "bool" ? mlir::Type(in.builder.getI1Type())
                                       : mlir::Type();
  if (!element) {
    in.error(at, "a type expected, f32, i64 or bool with axes such as i64[B,T], found " + quote(type));
    return {};
  }
  llvm::SmallVector<Size> sizes;
  for (StringRef axis : axesOf(parts->second)) {
    Value v = evaluator.caught(evaluator.evaluate(expressions.ofText(axis, input.type->loc, input.type), evaluator.fileScope, input.type), at);
    if (v.isBad())
      return {};
    if (!v.is(K::Integer) && !v.is(K::Size)) {
      in.error(at, "axis " + quote(axis) + " should be a length, is " + v.show());
      return {};
    }
    if (v.is(K::Integer) && (v.asInteger() < 0 || v.asInteger() > (int64_t(1) << 40))) {
      in.error(at, "axis " + quote(axis) + " has the length " + v.show());
      return {};
    }
    sizes.push_back(v.asSize());
  }
  return ModelTensorType::get(&in.context, sizes, element);
}

void Importer::readInputs(Environment &env) {
  struct Active {
    const InputSpec *spec;
    std::string name, type;
  };
  std::vector<Active> active;
  for (const InputSpec &input : doc->inputs) {
    if (!input.type)
      continue;
    if (input.condition) {
      Value c = evaluator.value(*input.condition, evaluator.fileScope);
      if (!c.is(K::Bool)) {
        if (!c.isBad())
          in.error({input.condition->loc, input.condition}, "true or false expected, decided at import; found " + Twine(c.show()));
        env.bind(input.name, Value::poison());
        continue;
      }
      if (!c.asBool())
        continue;
    }
    std::string type = input.type->string;
    if (input.type->isExpression()) {
      Value t = evaluator.value(*input.type, evaluator.fileScope);
      if (!t.is(K::String)) {
        if (!t.isBad())
          in.error({input.type->loc, input.type}, "a type such as 'i64[B,T]' expected, found " + Twine(t.show()));
        env.bind(input.name, Value::poison());
        continue;
      }
      type = t.asString();
    }
    collectDims(input, type);
    if (!input.repeat) {
      active.push_back({&input, input.name, type});
      continue;
    }
    Value n = evaluator.value(*input.repeat, evaluator.fileScope);
    if (!n.is(K::Integer) || n.asInteger() < 0 || n.asInteger() > 10000) {
      if (!n.isBad())
        in.error({input.repeat->loc, input.repeat}, "a number of inputs up to 10000 expected, found " + Twine(n.show()));
      continue;
    }
    for (int64_t i = 0; i < n.asInteger(); ++i)
      active.push_back({&input, input.name + "." + std::to_string(i), type});
  }

  llvm::SmallVector<mlir::Type> types;
  std::vector<Active> typed;
  for (Active &a : active) {
    mlir::Type t = readType(*a.spec, a.type);
    if (!t) {
      env.bind(a.name, Value::poison());
      continue;
    }
    types.push_back(t);
    typed.push_back(std::move(a));
  }

  At top{doc->root.loc, &doc->root};
  auto run = mlir::func::FuncOp::create(in.location(top), "run", in.builder.getFunctionType(types, {}));
  in.builder.insert(run);
  function = run;
  mlir::Block *entry = run.addEntryBlock();
  in.builder.setInsertionPointToEnd(entry);
  for (auto [i, a] : llvm::enumerate(typed)) {
    run.setArgAttr(i, "model.name", in.builder.getStringAttr(a.name));
    if (a.spec->fallback)
      run.setArgAttr(i, "model.default", in.builder.getUnitAttr());
    entry->getArgument(i).setLoc(in.location({a.spec->loc, a.spec->json}));
    activeInputs.push_back(a.name);
    env.bind(a.name, Value::ofIr(K::Tensor, entry->getArgument(i)));
  }
  pushDefaults(doc->defaults, evaluator.fileScope);
  // Defaults may use the inputs that must be given, and the defaults before them.
  Environment seen;
  for (auto [i, a] : llvm::enumerate(typed))
    if (!a.spec->fallback)
      seen.bind(a.name, Value::ofIr(K::Tensor, entry->getArgument(i)));
  for (auto [i, a] : llvm::enumerate(typed))
    if (a.spec->fallback) {
      runDefault(*a.spec, entry->getArgument(i), seen);
      if (const Value *v = seen.find(a.spec->name)) {
        env.bind(a.name, *v);
        seen.bind(a.name, *v);
      }
    }
}

void Importer::runDefault(const InputSpec &input, mlir::Value argument, Environment &env) {
  At at{input.fallback->loc, input.fallback};
  mlir::Operation *op = in.create(at, model::DefaultOp::getOperationName(), {argument},
                               {argument.getType()}, {}, /*regions=*/1);
  mlir::OpBuilder::InsertionGuard guard(in.builder);
  in.builder.setInsertionPointToEnd(&op->getRegion(0).emplaceBlock());
  Scope scope{&env, Scope::Kind::Body};
  Value v;
  if (input.fallbackCall) {
    std::vector<Value> results = runCall(*input.fallbackCall, scope, "");
    if (results.size() == 1)
      v = results[0];
    else if (!results.empty())
      in.error(at, "one value expected, found " + Twine(results.size()));
  } else {
    v = evaluator.value(*input.fallback, scope);
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
      in.error(at, "the default " + Twine(v.show()) + " does not stretch to " +
                    Value::ofIr(K::Tensor, argument).show() + (why.empty() ? "" : ": " + why));
  }
  in.create(at, model::YieldOp::getOperationName(), made ? llvm::ArrayRef<mlir::Value>(made) : llvm::ArrayRef<mlir::Value>(), {}, {});
  env.bind(input.name, Value::ofIr(K::Tensor, op->getResult(0)));
}

void Importer::writeOutputs(Environment &env) {
  auto run = llvm::cast<mlir::func::FuncOp>(function);
  llvm::SmallVector<mlir::Value> values;
  std::vector<std::string> names;
  std::set<std::string> done;
  bool poisoned = false;
  auto add = [&](const std::string &name, const JsonValue &where) {
    const Value *v = env.find(name);
    if (!v || !done.insert(name).second)
      return;
    if (v->isNull()) // bound to null: not there
      return;
    At at{where.loc, &where};
    if (v->is(K::Mask) || v->is(K::Bias) || v->is(K::List) || v->is(K::Object) || v->is(K::String)) {
      in.error(at, "the output " + quote(name) + " is " + v->show() + "; a tensor expected");
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
  if (doc->outputs)
    for (const JsonValue &o : doc->outputs->items) {
      if (!o.isString())
        continue;
      if (StringRef(o.string).contains('*')) {
        if (options.outputsAll)
          for (const std::string &name : env.names())
            if (globMatch(name, o.string))
              add(name, o);
      } else {
        add(o.string, o);
      }
    }
  if (values.empty() && !poisoned && !sink.hasErrors() && doc->outputs)
    in.error({doc->outputs->loc, doc->outputs}, "no output is bound under these constants");
  incomplete = poisoned;
  if (sink.hasErrors() || incomplete)
    return;
  llvm::SmallVector<mlir::Type> types;
  for (mlir::Value v : values)
    types.push_back(v.getType());
  mlir::func::ReturnOp::create(in.builder, in.location({doc->outputs->loc, doc->outputs}), values);
  run.setFunctionType(in.builder.getFunctionType(run.getArgumentTypes(), types));
  for (auto [i, name] : llvm::enumerate(names))
    run.setResultAttr(i, "model.name", in.builder.getStringAttr(name));
  boundOutputs = names;
}

//===--- the module -----------------------------------------------------------===//

void Importer::writeModuleAttributes() {
  mlir::Operation *op = module->getOperation();
  std::string name = doc->name;
  if (name.empty() && isFamily && config.json.find("model_type"))
    name = config.json.find("model_type")->string;
  if (name.empty())
    name = llvm::sys::path::stem(options.path.empty() || options.text ? "model" : options.path).str();
  op->setAttr("model.name", in.builder.getStringAttr(name));

  if (isFamily) // its users read outputs by the mask that they gave
    op->setAttr("model.padding_unread", in.builder.getUnitAttr());

  std::map<std::string, int64_t> bounds;
  if (doc->dims)
    for (const JsonMember &m : doc->dims->members) {
      Value v = evaluator.value(m.value, evaluator.fileScope);
      if (v.is(K::Integer) && v.asInteger() >= 0)
        bounds[m.key] = v.asInteger();
      else if (!v.isNull() && !v.isBad())
        in.error({m.value.loc, &m.value}, "an upper bound expected, found " + Twine(v.show()));
    }
  for (auto &[dim, bound] : options.bounds) {
    if (!evaluator.dims.count(dim)) {
      std::vector<std::string> known;
      for (auto &d : evaluator.dims)
        known.push_back(d.first);
      sink.errorInFile("--bound", "", "no dim " + quote(dim) + nearest(dim, known));
      continue;
    }
    auto it = bounds.try_emplace(dim, bound).first;
    it->second = std::min(it->second, bound);
  }
  llvm::SmallVector<mlir::NamedAttribute> dimAttrs;
  for (auto &[dim, bound] : bounds)
    if (evaluator.dims.count(dim))
      dimAttrs.push_back(in.intAttr(dim, bound));
  op->setAttr("model.dims", in.builder.getDictionaryAttr(dimAttrs));

  llvm::SmallVector<mlir::Attribute> files;
  if (table)
    for (const std::string &f : table->files())
      files.push_back(in.builder.getStringAttr(f));
  op->setAttr("model.weights", in.builder.getArrayAttr(files));

  // Roles, where the head that generates is the one that was chosen.
  const JsonValue *g = doc->generate;
  const JsonValue *logits = g ? g->find("logits") : nullptr;
  if (!logits || !llvm::is_contained(boundOutputs, logits->string))
    return;
  if (const JsonValue *condition = g->find("if"))
    if (Value v = evaluator.value(*condition, evaluator.fileScope); v.is(K::Bool) && !v.asBool())
      return;
  llvm::SmallVector<mlir::NamedAttribute> roles;
  for (StringRef role : {"tokens", "logits", "mask", "positions", "source"})
    if (const JsonValue *v = g->find(role)) {
      // Which input it is may depend on the head; null: none.
      Value name = evaluator.value(*v, evaluator.fileScope);
      if (name.isNull() || name.isBad())
        continue;
      bool known = name.is(K::String) && llvm::is_contained(role == "logits" ? boundOutputs : activeInputs, name.asString());
      if (known)
        roles.push_back(in.textAttr(role, name.asString()));
      else if (v->isExpression())
        in.error({v->loc, v}, "the name of an input or output expected, found " + Twine(name.show()));
    }
  auto constant = [&](const JsonValue &v, bool several) -> mlir::Attribute {
    Value c = evaluator.value(v, evaluator.fileScope);
    if (c.isNull() || c.isBad())
      return {};
    if (c.is(K::List)) {
      llvm::SmallVector<mlir::Attribute> ids;
      for (const Value &id : c.asList())
        if (id.is(K::Integer))
          ids.push_back(in.builder.getI64IntegerAttr(id.asInteger()));
      if (ids.size() == c.asList().size() && !ids.empty())
        return several && ids.size() > 1 ? mlir::Attribute(in.builder.getArrayAttr(ids)) : ids.front();
    }
    if (c.is(K::Integer))
      return in.builder.getI64IntegerAttr(c.asInteger());
    in.error({v.loc, &v}, "a token id expected, found " + Twine(c.show()));
    return {};
  };
  for (StringRef role : {"start", "eos", "pad"})
    if (const JsonValue *v = g->find(role))
      if (mlir::Attribute a = constant(*v, role == "eos"))
        roles.push_back(in.attr(role, a));
  if (const JsonValue *extend = g->find("extend")) {
    llvm::SmallVector<mlir::NamedAttribute> inputs;
    for (const JsonMember &m : extend->members)
      if (llvm::is_contained(activeInputs, m.key))
        if (mlir::Attribute a = constant(m.value, false))
          inputs.push_back(in.attr(m.key, a));
    roles.push_back(in.attr("extend", in.builder.getDictionaryAttr(inputs)));
  }
  op->setAttr("model.generate", in.builder.getDictionaryAttr(roles));
}
