//===- Scopes.cpp - Which variable a name means ---------------------------===//

#include "compiler/Template/Scopes.h"

#include <functional>

namespace heddle::tpl {

Slot SlotTable::slotOf(uint32_t function, uint32_t scope, uint32_t name) {
  auto [found, isNew] = known.insert({{scope, name}, {function, counts[function]}});
  counts[function] += isNew;
  return found->second;
}

Slot Scope::define(uint32_t name, Start start) {
  if (refs.size() >= SlotTable::kMostNames && !refs.find(name)) {
    table->tooMany = true;
    return {};
  }
  Slot slot = table->slotOf(function, number, name);
  refs[name] = slot;
  starts[slot.number] = start;
  nameOf[slot.number] = name;
  return slot;
}

bool Scope::find(uint32_t name, Slot &slot) const {
  for (const Scope *scope = this; scope; scope = scope->parent)
    if (const Slot *found = scope->refs.find(name)) {
      slot = *found;
      return true;
    }
  return false;
}

void Scope::load(uint32_t name) {
  Slot slot;
  if (!find(name, slot))
    define(name, {Start::Given, {}});
}

void Scope::store(uint32_t name) {
  stores[name] = 1;
  if (refs.find(name))
    return;
  Slot outer;
  if (parent && parent->find(name, outer))
    define(name, {Start::Outer, outer});
  else
    define(name, {Start::Unset, {}});
}

Slot Scope::declareParameter(uint32_t name) {
  stores[name] = 1;
  return define(name, {Start::Parameter, {}});
}

/// Takes over what the branches of an `if` know; a name that not all of them set starts as the outer one.
void Scope::merge(const Scope *branches[3]) {
  std::map<uint32_t, int> set;
  for (int i = 0; i < 3; ++i)
    for (auto [name, one] : branches[i]->stores)
      if (one && !stores.find(name))
        ++set[name];
  const size_t names = refs.size(), storedNames = stores.size();
  for (int i = 0; i < 3; ++i) {
    const Scope &branch = *branches[i];
    if (branch.refs.size() == names && branch.stores.size() == storedNames)
      continue; // it names nothing new
    for (auto [name, slot] : branch.refs)
      refs[name] = slot;
    for (auto [slot, start] : branch.starts)
      starts[slot] = start;
    for (auto [slot, name] : branch.nameOf)
      nameOf[slot] = name;
    for (auto [name, one] : branch.stores)
      stores[name] = one;
  }
  for (auto [name, times] : set) {
    Slot slot, outer;
    if (times == 3 || !find(name, slot))
      continue;
    if (parent && parent->find(name, outer))
      starts[slot.number] = {Start::Outer, outer};
    else
      starts[slot.number] = {Start::Given, {}};
  }
}

void Scope::visit(const Expression &expression) {
  for (const Step &step : expression)
    if (step.op == kLoad)
      load(step.c);
}

void Scope::visit(const Target &target, bool parameter) {
  if (target.isTuple)
    for (const Target &item : target.items)
      visit(item, parameter);
  else if (target.isAttribute)
    load(target.name);
  else if (parameter)
    (void)declareParameter(target.name);
  else
    store(target.name);
}

void Scope::visit(const std::vector<Statement> &body) {
  for (const Statement &statement : body)
    if (!table->tooMany)
      visit(statement);
}

/// Statements with scopes of their own are looked at only as far as their outer parts go.
void Scope::visit(const Statement &s) {
  switch (s.kind) {
  case Statement::If: {
    visit(s.expression);
    Scope body = *this, elifs = *this, otherwise = *this;
    body.visit(s.body);
    elifs.visit(s.elifs);
    otherwise.visit(s.otherwise);
    const Scope *branches[3] = {&body, &elifs, &otherwise};
    merge(branches);
    break;
  }
  case Statement::Set:
    visit(s.expression);
    visit(s.target, false);
    break;
  case Statement::SetBlock: visit(s.target, false); break;
  case Statement::With:
    for (const Expression &value : s.values)
      visit(value);
    break;
  case Statement::Macro: store(s.text); break;
  case Statement::Print:
  case Statement::For:
  case Statement::Call:
  case Statement::Filter: visit(s.expression); break;
  case Statement::Text:
  case Statement::Break:
  case Statement::Continue: break;
  }
}

namespace {

/// Visits every name of a body in the order of Jinja's tree.
class NameWalk {
public:
  explicit NameWalk(std::function<void(uint32_t, bool)> see) : see(std::move(see)) {}

  void walk(const Expression &e) {
    for (const Step &step : e)
      if (step.op == kLoad)
        see(step.c, false);
  }
  void walk(const Target &t) {
    for (const Target &item : t.items)
      walk(item);
    if (!t.isTuple && !t.isAttribute)
      see(t.name, true);
  }
  void walk(const std::vector<Statement> &body) {
    for (const Statement &statement : body)
      walk(statement);
  }
  void walk(const Statement &s) {
    if (s.kind == Statement::For || s.kind == Statement::Set || s.kind == Statement::SetBlock)
      walk(s.target);
    if (s.kind != Statement::Filter)
      walk(s.expression);
    for (const Target &name : s.names)
      walk(name);
    for (const Expression &value : s.values)
      walk(value);
    walk(s.body);
    walk(s.elifs);
    walk(s.otherwise);
    walk(s.condition);
    if (s.kind == Statement::Filter)
      walk(s.expression);
  }

private:
  std::function<void(uint32_t, bool)> see;
};

} // namespace

std::set<uint32_t> usedNames(const std::vector<Statement> &body, std::set<uint32_t> names) {
  std::set<uint32_t> used;
  NameWalk walk([&](uint32_t name, bool set) {
    if (!set && names.count(name))
      used.insert(name);
    else
      names.erase(name);
  });
  walk.walk(body);
  return used;
}

bool assigns(const Statement &statement, uint32_t name) {
  bool found = false;
  NameWalk walk([&](uint32_t seen, bool set) { found |= set && seen == name; });
  walk.walk(statement);
  return found;
}

} // namespace heddle::tpl
