//===- Generate.cpp - greedy generation, recomputed and cached ------------===//
//
// Greedy generation in two ways that must agree token for token: computing the whole text
// again is what the description means, the cached step is what the compiler derived from
// it. Masks, positions and inputs that grow follow `generate` in language.md section 9; both
// turn a row padded on the right first, as a binary does.
//
//===----------------------------------------------------------------------===//

#include "compiler/Interpreter/TextLengths.h"
#include "dialects/Model/IR/InputDefaults.h"
#include "dialects/Model/IR/ReservedDims.h"
#include "mlir/IR/BuiltinAttributes.h"
#include <algorithm>
#include <cmath>
#include <optional>

using namespace mlir;
using namespace heddle;

namespace {
/// The names in `model.generate`.
struct Roles {
  std::string tokens, logits, mask, positions, source;
  std::map<std::string, double> extend;
  std::optional<int64_t> start;
  std::vector<int64_t> eos;
  int64_t pad = 0;
};

FailureOr<Roles> readRoles(ModuleOp module) {
  auto dict = module->getAttrOfType<DictionaryAttr>("model.generate");
  if (!dict)
    return emitError(module.getLoc(), "does not generate: it has no 'model.generate'");
  auto text = [&](StringRef role) {
    auto attr = dict.getAs<StringAttr>(role);
    return attr ? attr.str() : std::string();
  };
  Roles r{text("tokens"), text("logits"), text("mask"), text("positions"), text("source"), {}, {}, {}, 0};
  if (r.tokens.empty() || r.logits.empty())
    return emitError(module.getLoc(), "'model.generate' must name tokens and logits");
  if (auto extend = dict.getAs<DictionaryAttr>("extend"))
    for (NamedAttribute a : extend)
      if (std::optional<double> value = model::numberOf(a.getValue()))
        r.extend[a.getName().str()] = *value;
  if (auto start = dict.getAs<IntegerAttr>("start"))
    r.start = start.getInt();
  if (auto eos = dict.getAs<IntegerAttr>("eos"))
    r.eos.push_back(eos.getInt());
  if (auto several = dict.getAs<ArrayAttr>("eos"))
    for (IntegerAttr one : several.getAsRange<IntegerAttr>())
      r.eos.push_back(one.getInt());
  if (auto pad = dict.getAs<IntegerAttr>("pad"))
    r.pad = pad.getInt();
  else if (!r.eos.empty())
    r.pad = r.eos.front();
  return r;
}

func::FuncOp entryOf(ModuleOp module, StringRef name) { return module.lookupSymbol<func::FuncOp>(name); }

bool takes(func::FuncOp entry, StringRef input) {
  for (unsigned i = 0; i < entry.getNumArguments(); ++i)
    if (auto name = entry.getArgAttrOfType<StringAttr>(i, "model.name"); name && name.getValue() == input)
      return true;
  return false;
}

/// Appends a column to `t` [B, n].
template <typename Number> void appendColumn(Tensor &t, ArrayRef<Number> column) {
  int64_t batches = t.shape[0], n = t.shape[1];
  Tensor out = Tensor::zeros(t.kind, {batches, n + 1});
  auto append = [&](auto &to, const auto &from) {
    for (int64_t b = 0; b < batches; ++b) {
      std::copy_n(&from[b * n], n, &to[b * (n + 1)]);
      to[b * (n + 1) + n] = column[b];
    }
  };
  t.kind == Tensor::Kind::Real ? append(out.reals, t.reals) : append(out.ints, t.ints);
  t = std::move(out);
}

void appendColumn(Tensor &t, const std::vector<int64_t> &column) { appendColumn(t, ArrayRef(column)); }

/// Columns [from, to) of `t` [B, n].
Tensor columns(const Tensor &t, int64_t from, int64_t to) {
  Tensor out = Tensor::zeros(t.kind, {t.shape[0], to - from});
  for (int64_t b = 0; b < t.shape[0]; ++b)
    for (int64_t i = from; i < to; ++i) {
      int64_t at = b * (to - from) + i - from, of = b * t.shape[1] + i;
      if (t.kind == Tensor::Kind::Real)
        out.reals[at] = t.reals[of];
      else
        out.ints[at] = t.ints[of];
    }
  return out;
}

/// The positions of a masked text: cumsum(mask) - 1, and 1 where masked.
Tensor positionsOf(const Tensor &mask) {
  Tensor out = Tensor::zeros(Tensor::Kind::Int, mask.shape);
  for (int64_t b = 0, at = 0; b < mask.shape[0]; ++b)
    for (int64_t i = 0, sum = 0; i < mask.shape[1]; ++i, ++at) {
      sum += int64_t(mask.real(at));
      out.ints[at] = mask.real(at) == 0 ? 1 : sum - 1;
    }
  return out;
}

/// The text so far: all inputs that have a column for each token.
class Text {
public:
  Roles roles;
  Tensors fixed; // inputs that do not grow
  Tensor ids;    // [B, n]
  std::optional<Tensor> mask;
  std::map<std::string, Tensor> grows;

  static FailureOr<Text> begin(ModuleOp module, const Tensors &inputs);
  /// Gives the prompt the defaults of missing inputs that `extend` continues.
  LogicalResult addDefaults(ModuleOp module, ReadParameter readParameter, InterpretOptions options);

  int64_t length() const { return ids.shape[1]; }
  int64_t batches() const { return ids.shape[0]; }
  /// Rotates each row to the right by its padding at the end, so that all texts end in the last column.
  void padLeft();
  void grow(ArrayRef<int64_t> tokens) {
    appendColumn(ids, tokens);
    if (mask)
      appendColumn(*mask, std::vector<int64_t>(batches(), 1));
    for (auto &[name, t] : grows)
      appendColumn<double>(t, std::vector<double>(batches(), roles.extend[name]));
  }
};

/// Separates the inputs of a module into those that grow and those that do not;
/// without tokens the text begins with the start token. Rows are padded on the left then.
FailureOr<Text> Text::begin(ModuleOp module, const Tensors &inputs) {
  FailureOr<Roles> roles = readRoles(module);
  if (failed(roles))
    return failure();
  Text text{*roles, inputs, {}, {}, {}};
  if (auto given = inputs.find(roles->tokens); given != inputs.end()) {
    text.ids = given->second;
    if (text.ids.rank() != 2 || text.ids.kind != Tensor::Kind::Int || text.ids.shape[1] == 0)
      return emitError(module.getLoc()) << "'" << roles->tokens << "' must be i64 [B, T] with a token at least";
  } else {
    auto source = inputs.find(roles->source);
    if (source == inputs.end() || source->second.rank() == 0 || !roles->start)
      return emitError(module.getLoc()) << "neither '" << roles->tokens << "' nor a source to start from is given";
    int64_t batches = source->second.shape[0];
    text.ids = Tensor::ofInts({batches, 1}, std::vector<int64_t>(batches, *roles->start));
  }
  text.fixed.erase(roles->tokens);
  auto growing = [&](StringRef name) -> FailureOr<std::optional<Tensor>> {
    auto given = text.fixed.find(name.str());
    if (name.empty() || given == text.fixed.end())
      return std::optional<Tensor>();
    std::optional<Tensor> t = std::move(given->second);
    text.fixed.erase(given);
    if (ArrayRef(t->shape) != ArrayRef(text.ids.shape))
      return emitError(module.getLoc()) << "'" << name << "' must be as long as the tokens, "
                                        << showShape(text.ids.shape) << ", but is " << showShape(t->shape);
    return t;
  };
  FailureOr<std::optional<Tensor>> mask = growing(roles->mask);
  if (failed(mask))
    return failure();
  text.mask = std::move(*mask);
  if (text.mask && !roles->positions.empty())
    text.fixed.erase(roles->positions); // derived from the mask at every step
  for (auto &[name, value] : roles->extend) {
    FailureOr<std::optional<Tensor>> t = growing(name);
    if (failed(t))
      return failure();
    if (*t)
      text.grows[name] = std::move(**t);
  }
  text.padLeft();
  return text;
}

LogicalResult Text::addDefaults(ModuleOp module, ReadParameter readParameter, InterpretOptions options) {
  func::FuncOp run = entryOf(module, "run");
  SmallVector<std::string> names = run ? model::extendedDefaults(run) : SmallVector<std::string>();
  llvm::erase_if(names, [&](const std::string &name) { return grows.count(name); });
  if (names.empty())
    return success();
  OwningOpRef<func::FuncOp> defaults = model::defaultsOf(run, names);
  FailureOr<Dims> dims = bindDims(run, {{roles.tokens, ids}}, {});
  Tensors all = fixed, feed;
  all[roles.tokens] = ids;
  if (mask) {
    all[roles.mask] = *mask;
    all[roles.positions] = positionsOf(*mask);
  }
  for (auto &[name, t] : grows)
    all[name] = t;
  for (auto &[name, t] : all)
    if (takes(*defaults, name))
      feed[name] = t;
  if (failed(dims))
    return failure();
  FailureOr<Tensors> got = interpret(*defaults, feed, *dims, nullptr, readParameter, options);
  if (failed(got))
    return failure();
  for (auto &[name, t] : *got)
    grows[name] = std::move(t);
  return success();
}

void Text::padLeft() {
  if (!mask)
    return;
  int64_t n = length();
  for (int64_t b = 0; b < batches(); ++b) {
    int64_t end = n;
    while (end > 0 && mask->real(b * n + end - 1) == 0)
      --end;
    if (end == 0 || end == n) // nothing but padding, or none at the end
      continue;
    auto turn = [&](Tensor &t) {
      auto row = [&](auto &values) { std::rotate(&values[b * n], &values[b * n + end], values.data() + (b + 1) * n); };
      t.kind == Tensor::Kind::Real ? row(t.reals) : row(t.ints);
    };
    turn(ids);
    for (auto &[name, t] : grows)
      turn(t);
    turn(*mask);
  }
}

/// The loop: chooses the largest logit until there are enough tokens. `logitsOf` returns
/// [B, V] for the text so far.
FailureOr<Generated> choose(ModuleOp module, Text &text, const Tensors &inputs, const GenerateOptions &options,
                            llvm::function_ref<FailureOr<Tensor>()> logitsOf) {
  Generated out;
  auto given = inputs.find(text.roles.tokens);
  out.ids = given != inputs.end() ? given->second : text.ids;
  std::vector<bool> finished(text.batches(), false);
  for (int64_t step = 0; step < options.newTokens; ++step) {
    FailureOr<Tensor> logits = logitsOf();
    if (failed(logits))
      return failure();
    std::vector<int64_t> next;
    int64_t vocabulary = logits->shape.back();
    for (int64_t b = 0; b < text.batches(); ++b) {
      const double *row = &logits->reals[b * vocabulary];
      const double *odd = std::find_if(row, row + vocabulary, [](double x) { return std::isnan(x); });
      if (odd != row + vocabulary && !finished[b])
        return emitError(module.getLoc()) << "the logit of id " << odd - row << " is NaN, for new token " << step + 1
                                          << " of row " << b << ": no token can be chosen";
      int64_t best = std::max_element(row, row + vocabulary) - row; // the first of equals
      next.push_back(finished[b] ? text.roles.pad : best);
      if (!options.ignoreEos && llvm::is_contained(text.roles.eos, best))
        finished[b] = true;
    }
    out.logits.push_back(std::move(*logits));
    text.grow(next);
    appendColumn(out.ids, next);
    if (llvm::all_of(finished, [](bool done) { return done; }))
      break;
  }
  // If all rows end early, they are filled up as one that ends before the others is.
  for (int64_t made = out.logits.size(); made < options.newTokens; ++made)
    appendColumn(out.ids, std::vector<int64_t>(text.batches(), text.roles.pad));
  return out;
}
/// Greedy generation by the whole model on the whole text at every step: the reference for `cached`.
FailureOr<Generated> recompute(ModuleOp module, const Tensors &inputs, ReadParameter readParameter,
                               const GenerateOptions &options) {
  func::FuncOp run = entryOf(module, "run");
  FailureOr<Text> text = Text::begin(module, inputs);
  if (failed(text) || failed(text->addDefaults(module, readParameter, options.interpret)))
    return failure();
  if (!run)
    return emitError(module.getLoc(), "has no function @run");
  return choose(module, *text, inputs, options, [&]() -> FailureOr<Tensor> {
    Tensors feed = text->fixed;
    const Roles &roles = text->roles;
    feed[roles.tokens] = text->ids;
    if (text->mask) {
      feed[roles.mask] = *text->mask;
      if (!roles.positions.empty())
        feed[roles.positions] = positionsOf(*text->mask);
    }
    for (auto &[name, t] : text->grows)
      feed[name] = t;
    FailureOr<Tensors> got = interpret(run, feed, {}, nullptr, readParameter, options.interpret);
    if (failed(got))
      return failure();
    auto logits = got->find(roles.logits);
    if (logits == got->end() || logits->second.rank() < 2 || logits->second.rank() > 3)
      return emitError(run.getLoc()) << "does not give '" << roles.logits << "' of [B, T, V] or [B, V]";
    const Tensor &all = logits->second;
    if (all.rank() == 2)
      return all;
    int64_t rows = all.shape[1], vocabulary = all.shape[2];
    Tensor last = Tensor::zeros(Tensor::Kind::Real, {text->batches(), vocabulary});
    for (int64_t b = 0; b < text->batches(); ++b)
      std::copy_n(&all.reals[(b * rows + rows - 1) * vocabulary], vocabulary, &last.reals[b * vocabulary]);
    return last;
  });
}

/// Greedy generation by @once and @step with states, as a binary does it.
FailureOr<Generated> cached(ModuleOp module, const Tensors &inputs, ReadParameter readParameter,
                            const GenerateOptions &options) {
  func::FuncOp once = entryOf(module, "once"), step = entryOf(module, "step");
  FailureOr<Text> text = Text::begin(module, inputs);
  if (failed(text) || failed(text->addDefaults(module, readParameter, options.interpret)))
    return failure();
  if (!step)
    return emitError(module.getLoc(), "has no function @step");
  const Roles &roles = text->roles;
  States states;
  Dims dims{{model::kCapacityDim.str(), text->length() + options.newTokens}};
  auto pick = [&](func::FuncOp entry) {
    Tensors feed;
    for (auto &[name, t] : text->fixed)
      if (takes(entry, name))
        feed[name] = t;
    return feed;
  };
  if (once) {
    // Dims of the source alone (its length) are also dims of the states of @step.
    FailureOr<Dims> bound = bindDims(once, pick(once), dims);
    if (failed(bound) || failed(interpret(once, pick(once), *bound, &states, readParameter, options.interpret)))
      return failure();
    dims = std::move(*bound);
  }
  int64_t past = 0;
  auto advance = [&]() -> FailureOr<Tensors> {
    Tensors feed = pick(step);
    int64_t now = text->length();
    auto give = [&](const std::string &name, const Tensor &t) {
      if (takes(step, name))
        feed[name] = columns(t, past, now);
    };
    Tensor seen = text->mask ? *text->mask
                             : Tensor::ofInts({text->batches(), now}, std::vector<int64_t>(text->batches() * now, 1));
    give(roles.tokens, text->ids);
    give(roles.mask, seen);
    give(roles.positions, positionsOf(seen));
    for (auto &[name, value] : roles.extend)
      give(name, text->grows.count(name) ? text->grows[name]
                                         : Tensor::ofInts({text->batches(), now},
                                                          std::vector<int64_t>(text->batches() * now, int64_t(value))));
    Dims all = dims;
    all[model::kPastDim.str()] = past;
    all[model::kNewDim.str()] = now - past;
    FailureOr<Tensors> got = interpret(step, feed, all, &states, readParameter, options.interpret);
    past = now;
    return got;
  };
  return choose(module, *text, inputs, options, [&]() -> FailureOr<Tensor> {
    FailureOr<Tensors> got = advance();
    auto refill = succeeded(got) ? got->find("refill") : Tensors::iterator();
    if (succeeded(got) && refill != got->end() && refill->second.count() == 1 && refill->second.real(0) != 0) {
      past = 0; // the step asked for a refill: compute the whole text again
      got = advance();
    }
    if (failed(got))
      return failure();
    auto logits = got->find(roles.logits);
    if (logits == got->end() || logits->second.rank() != 2)
      return emitError(step.getLoc()) << "does not give '" << roles.logits << "' of [B, V]";
    return logits->second;
  });
}

/// Either of both, for the rows of one length at a time.
template <typename Way>
FailureOr<Generated> byLength(ModuleOp module, const Tensors &inputs, const GenerateOptions &options, Way generate) {
  FailureOr<std::vector<RowGroup>> groups = groupsByLength(module, inputs);
  if (failed(groups))
    return failure();
  if (groups->size() == 1 && groups->front().rows.empty())
    return generate(groups->front().inputs);
  std::vector<Generated> made;
  for (const RowGroup &group : *groups) {
    FailureOr<Generated> one = generate(group.inputs);
    if (failed(one))
      return failure();
    made.push_back(std::move(*one));
  }
  auto tokens = cast<StringAttr>(module->getAttrOfType<DictionaryAttr>("model.generate").get("tokens"));
  return mergedGroups(*groups, made, inputs.at(tokens.str()), options.newTokens);
}
} // namespace

FailureOr<Generated> heddle::generateRecomputing(ModuleOp module, const Tensors &inputs, ReadParameter readParameter,
                                                 const GenerateOptions &options) {
  return byLength(module, inputs, options,
                  [&](const Tensors &own) { return recompute(module, own, readParameter, options); });
}

FailureOr<Generated> heddle::generateCached(ModuleOp module, const Tensors &inputs, ReadParameter readParameter,
                                            const GenerateOptions &options) {
  return byLength(module, inputs, options,
                  [&](const Tensors &own) { return cached(module, own, readParameter, options); });
}
