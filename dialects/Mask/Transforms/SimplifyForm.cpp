//===- SimplifyForm.cpp - the laws ----------------------------------------===//
//
// The rules of mask-simplify. Lattice laws (flattening, duplicates, half-lines of one direction,
// implication, common operands) keep the state of every tile; contradictions and lengths turn tiles
// empty or full. Cheap and frequent rules come first; each shortens the form or leaves it.
//
//===----------------------------------------------------------------------===//

#include "dialects/Mask/Transforms/SimplifyForm.h"

using namespace mlir;
using namespace heddle::mask;
using Kind = Form::Kind;

FormRef heddle::mask::constantForm(bool value) { return std::make_shared<Form>(Form{Kind::Constant, value}); }
FormRef heddle::mask::halfLineForm(Kind kind, Bound bound) {
  return std::make_shared<Form>(Form{kind, false, std::move(bound)});
}
FormRef heddle::mask::atomForm(Value mask, bool inverted) {
  return std::make_shared<Form>(Form{Kind::Atom, inverted, {}, mask});
}
FormRef heddle::mask::joinForms(Kind kind, std::vector<FormRef> operands) {
  return std::make_shared<Form>(Form{kind, false, {}, {}, std::move(operands)});
}

bool heddle::mask::same(const FormRef &x, const FormRef &y) {
  return x == y || (x->kind == y->kind && x->flag == y->flag && x->bound == y->bound && x->atom == y->atom &&
                    x->operands.size() == y->operands.size() &&
                    std::equal(x->operands.begin(), x->operands.end(), y->operands.begin(), same));
}

//===-- bounds -----------------------------------------------------------------------===//

namespace {
/// A bound as an expression of max and min, for comparing.
struct Lattice {
  enum { Leaf, Max, Min } kind;
  Term term;
  std::vector<Lattice> parts;
};
} // namespace

static Lattice latticeOf(const Term &t) { return {Lattice::Leaf, t, {}}; }
static Lattice latticeOf(int64_t n) { return latticeOf(Term{false, {}, n}); }
static Lattice latticeOf(ArrayRef<Term> group, Kind kind) {
  Lattice inner{kind == Kind::Below ? Lattice::Max : Lattice::Min, {}, {}};
  for (const Term &t : group)
    inner.parts.push_back(latticeOf(t));
  return inner;
}
static Lattice latticeOf(const Form &x) {
  Lattice outer{x.kind == Kind::Below ? Lattice::Min : Lattice::Max, {}, {}};
  for (const TermGroup &group : x.bound)
    outer.parts.push_back(latticeOf(group, x.kind));
  return outer;
}

/// Proves a <= b for every row; sound, not complete.
static bool atMost(const Lattice &a, const Lattice &b, const Facts &f) {
  auto left = [&](const Lattice &part) { return atMost(part, b, f); };
  auto right = [&](const Lattice &part) { return atMost(a, part, f); };
  if (a.kind == Lattice::Max)
    return llvm::all_of(a.parts, left);
  if (b.kind == Lattice::Min)
    return llvm::all_of(b.parts, right);
  if (a.kind == Lattice::Min)
    return llvm::any_of(a.parts, left);
  if (b.kind == Lattice::Max)
    return llvm::any_of(b.parts, right);
  return heddle::mask::atMost(a.term, b.term, f);
}

/// Drops groups that contain all terms of another group: they do not change the bound.
static Bound absorbed(const Bound &bound) {
  auto holds = [](const TermGroup &x, const TermGroup &y) {
    return llvm::all_of(y, [&](const Term &t) { return llvm::is_contained(x, t); });
  };
  Bound kept;
  for (const TermGroup &group : bound) {
    if (llvm::any_of(kept, [&](const TermGroup &o) { return holds(group, o); }))
      continue;
    llvm::erase_if(kept, [&](const TermGroup &o) { return holds(o, group); });
    kept.push_back(group);
  }
  return kept;
}

/// Converts a least of greatest terms to a greatest of least ones, or back, by distribution: a group
/// for every choice of one term from each group. isSmall() limits this to 70 groups; applied twice it
/// gives the same bound.
static Bound turned(const Bound &bound) {
  Bound out = {{}};
  for (const TermGroup &group : bound) {
    Bound next;
    for (const TermGroup &chosen : out)
      for (const Term &t : group) {
        next.push_back(chosen);
        if (!llvm::is_contained(next.back(), t))
          next.back().push_back(t);
      }
    out = absorbed(next);
  }
  return out;
}

bool heddle::mask::isSmall(const Bound &bound) {
  int64_t choices = 1;
  TermGroup terms;
  for (const TermGroup &group : bound) {
    choices = std::min<int64_t>(choices * int64_t(group.size()), 1000);
    for (const Term &t : group)
      if (!llvm::is_contained(terms, t))
        terms.push_back(t);
  }
  return bound.size() <= 16 && choices <= 16 && terms.size() <= 8;
}

/// Drops terms and groups that others make redundant.
static Bound pruned(const Bound &bound, Kind kind, const Facts &f) {
  bool upper = kind == Kind::Below;
  // Drops members of a maximum that are at most another one, of a minimum those that are at least.
  auto keep = [](auto list, auto idle) {
    decltype(list) kept;
    for (size_t n = 0; n < list.size(); ++n) {
      bool gone = llvm::any_of(kept, [&](const auto &o) { return idle(list[n], o); });
      for (size_t m = n + 1; m < list.size(); ++m)
        gone |= idle(list[n], list[m]) && !idle(list[m], list[n]);
      if (!gone)
        kept.push_back(list[n]);
    }
    return kept;
  };
  Bound groups;
  for (const TermGroup &group : bound)
    groups.push_back(keep(group, [&](const Term &x, const Term &y) {
      return upper ? heddle::mask::atMost(x, y, f) : heddle::mask::atMost(y, x, f);
    }));
  return keep(groups, [&](const TermGroup &x, const TermGroup &y) {
    Lattice a = latticeOf(x, kind), b = latticeOf(y, kind);
    return upper ? atMost(b, a, f) : atMost(a, b, f);
  });
}

//===-- not, implication, contradiction ----------------------------------------------===//

FormRef heddle::mask::negate(const FormRef &x) {
  switch (x->kind) {
  case Kind::Constant: return constantForm(!x->flag);
  case Kind::Below: return halfLineForm(Kind::From, turned(x->bound));
  case Kind::From: return halfLineForm(Kind::Below, turned(x->bound));
  case Kind::Atom: return atomForm(x->atom, !x->flag);
  default:
    std::vector<FormRef> operands;
    for (const FormRef &o : x->operands)
      operands.push_back(negate(o));
    return joinForms(x->kind == Kind::And ? Kind::Or : Kind::And, std::move(operands));
  }
}

/// Proves that x implies y.
static bool implies(const FormRef &x, const FormRef &y, const Facts &f) {
  if (same(x, y) || (x->kind == Kind::Constant && !x->flag) || (y->kind == Kind::Constant && y->flag))
    return true;
  auto left = [&](const FormRef &o) { return implies(o, y, f); };
  auto right = [&](const FormRef &o) { return implies(x, o, f); };
  if (x->kind == Kind::Or)
    return llvm::all_of(x->operands, left);
  if (y->kind == Kind::And)
    return llvm::all_of(y->operands, right);
  if (x->kind == Kind::And)
    return llvm::any_of(x->operands, left);
  if (y->kind == Kind::Or)
    return llvm::any_of(y->operands, right);
  if (x->kind == Kind::Below && y->kind == Kind::Below)
    return atMost(latticeOf(*x), latticeOf(*y), f);
  if (x->kind == Kind::From && y->kind == Kind::From)
    return atMost(latticeOf(*y), latticeOf(*x), f);
  return false;
}

/// Proves that x and y never hold together.
static bool contradict(const FormRef &x, const FormRef &y, const Facts &f) {
  auto apart = [&](const FormRef &from, const FormRef &below) {
    return from->kind == Kind::From && below->kind == Kind::Below && atMost(latticeOf(*below), latticeOf(*from), f);
  };
  return implies(x, negate(y), f) || apart(x, y) || apart(y, x);
}

/// n, where x is known to hold.
static FormRef assume(const FormRef &n, const FormRef &x, const Facts &f) {
  if (implies(x, n, f))
    return constantForm(true);
  if (contradict(x, n, f))
    return constantForm(false);
  if (!n->isConnective())
    return n;
  std::vector<FormRef> operands;
  for (const FormRef &o : n->operands)
    operands.push_back(assume(o, x, f));
  return joinForms(n->kind, std::move(operands));
}

//===-- simplification -----------------------------------------------------------------===//

/// A half-line against the axis of keys: those past the last and before the first decide it.
static FormRef clip(const FormRef &x, const Facts &f) {
  if (x->kind == Kind::From)
    return negate(clip(negate(x), f));
  if (x->kind != Kind::Below)
    return x;
  Form below{Kind::Below, false, pruned(x->bound, Kind::Below, f)};
  if (f.fromZero && atMost(latticeOf(below), latticeOf(0), f))
    return constantForm(false);
  if (f.lastKey) {
    Lattice end = latticeOf(*f.lastKey + 1);
    llvm::erase_if(below.bound, [&](const TermGroup &group) { return atMost(end, latticeOf(group, Kind::Below), f); });
    if (below.bound.empty())
      return constantForm(true);
  }
  return std::make_shared<Form>(std::move(below));
}

/// Half-lines of one direction as one: in a conjunction lists of groups are joined, in a
/// disjunction their turned lists. They stay apart where that would take many terms.
static void mergeHalfLines(std::vector<FormRef> &operands, Kind connective, Kind kind, const Facts &f) {
  std::vector<FormRef> rest;
  FormRef merged;
  for (const FormRef &o : operands) {
    if (o->kind != kind) {
      rest.push_back(o);
      continue;
    }
    if (!merged) {
      merged = o;
      continue;
    }
    bool turn = connective == Kind::Or;
    Bound joined = turn ? turned(merged->bound) : merged->bound, other = turn ? turned(o->bound) : o->bound;
    joined.append(other.begin(), other.end());
    if (!isSmall(joined)) {
      rest.push_back(o);
      continue;
    }
    Bound bound = pruned(turn ? turned(joined) : joined, kind, f);
    if (isSmall(bound))
      merged = clip(halfLineForm(kind, std::move(bound)), f);
    else
      rest.push_back(o);
    if (merged->kind != kind) { // decided by the lengths
      rest.push_back(merged);
      merged = nullptr;
    }
  }
  if (merged)
    rest.insert(rest.begin(), merged);
  operands = std::move(rest);
}

/// (a AND x) OR (a AND y) = a AND (x OR y), and its dual; null where nothing is common.
static FormRef factored(Kind kind, Kind dual, const std::vector<FormRef> &operands) {
  if (operands.size() < 2 || !llvm::all_of(operands, [&](const FormRef &o) { return o->kind == dual; }))
    return nullptr;
  auto holds = [](const FormRef &o, const FormRef &part) {
    return llvm::any_of(o->operands, [&](const FormRef &p) { return same(p, part); });
  };
  std::vector<FormRef> common, rest;
  for (const FormRef &part : operands.front()->operands)
    if (llvm::all_of(operands, [&](const FormRef &o) { return holds(o, part); }))
      common.push_back(part);
  if (common.empty())
    return nullptr;
  for (const FormRef &o : operands) {
    std::vector<FormRef> own;
    for (const FormRef &part : o->operands)
      if (llvm::none_of(common, [&](const FormRef &p) { return same(p, part); }))
        own.push_back(part);
    rest.push_back(joinForms(dual, std::move(own)));
  }
  common.push_back(joinForms(kind, std::move(rest)));
  return joinForms(dual, std::move(common));
}

FormRef heddle::mask::simplify(const FormRef &x, const Facts &f) {
  if (!x->isConnective())
    return clip(x, f);
  bool conjunction = x->kind == Kind::And;
  Kind dual = conjunction ? Kind::Or : Kind::And;
  std::vector<FormRef> flat, operands;
  for (const FormRef &o : x->operands) {
    FormRef s = simplify(o, f);
    if (s->kind == x->kind)
      flat.insert(flat.end(), s->operands.begin(), s->operands.end());
    else
      flat.push_back(s);
  }
  mergeHalfLines(flat, x->kind, Kind::Below, f);
  mergeHalfLines(flat, x->kind, Kind::From, f);
  for (const FormRef &o : flat) {
    if (o->kind == Kind::Constant && o->flag != conjunction)
      return o; // absorbs
    if (o->kind != Kind::Constant && llvm::none_of(operands, [&](const FormRef &p) { return same(p, o); }))
      operands.push_back(o);
  }
  for (size_t n = 0; n < operands.size(); ++n)
    for (size_t m = 0; m < n; ++m)
      if (conjunction ? contradict(operands[n], operands[m], f)
                      : contradict(negate(operands[n]), negate(operands[m]), f))
        return constantForm(!conjunction);
  // Context: what one operand settles inside another goes; absorption is the simplest case.
  for (size_t n = 0; n < operands.size(); ++n)
    for (size_t m = 0; m < operands.size(); ++m) {
      if (n == m || operands[m]->kind != dual)
        continue;
      FormRef settled = assume(operands[m], conjunction ? operands[n] : negate(operands[n]), f);
      if (!same(settled, operands[m])) {
        operands[m] = settled;
        return simplify(joinForms(x->kind, std::move(operands)), f);
      }
    }
  if (FormRef out = factored(x->kind, dual, operands))
    return simplify(out, f);
  if (operands.size() == 1)
    return operands.front();
  return operands.empty() ? constantForm(conjunction) : joinForms(x->kind, std::move(operands));
}
