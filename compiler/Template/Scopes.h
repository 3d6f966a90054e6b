//===- Scopes.h - Which variable a name means -------------------*- C++ -*-===//
//
// Names become slots by Jinja's own rules (its idtracking): every scope knows
// before its code is made which names it sets, and a name that it sets starts
// as the outer one, or as what the caller gave. Scopes of one function share
// its slots; a macro reaches those of the functions around it.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_TEMPLATE_SCOPES_H
#define HEDDLE_COMPILER_TEMPLATE_SCOPES_H

#include "compiler/Template/Parser.h"

#include <algorithm>
#include <map>
#include <set>

namespace heddle::tpl {

/// A map by number that is cheap to copy: scopes are copied for every branch of an `if`.
template <typename T> class FlatMap {
public:
  using Entry = std::pair<uint32_t, T>;
  T &operator[](uint32_t key) {
    auto at = place(key);
    if (at == entries.end() || at->first != key)
      at = entries.insert(at, {key, T()});
    return at->second;
  }
  const T *find(uint32_t key) const {
    auto at = const_cast<FlatMap *>(this)->place(key);
    return at != entries.end() && at->first == key ? &at->second : nullptr;
  }
  auto begin() const { return entries.begin(); }
  auto end() const { return entries.end(); }
  size_t size() const { return entries.size(); }

private:
  auto place(uint32_t key) {
    return std::lower_bound(entries.begin(), entries.end(), key,
                            [](const Entry &e, uint32_t k) { return e.first < k; });
  }
  std::vector<Entry> entries;
};

struct Slot {
  uint32_t function = 0, number = 0;
};

/// How a slot gets its value where its scope begins.
struct Start {
  enum Kind : uint8_t { Parameter, Given, Outer, Unset } kind = Unset;
  Slot outer;
};

/// Hands out slots: one for each name of a scope.
class SlotTable {
public:
  uint32_t newFunction() {
    counts.push_back(0);
    return uint32_t(counts.size() - 1);
  }
  uint32_t newScope() { return scopes++; }
  Slot slotOf(uint32_t function, uint32_t scope, uint32_t name);
  uint32_t count(uint32_t function) const { return counts[function]; }

  /// The most names of a scope: scopes are copied for every `if`.
  static constexpr size_t kMostNames = 500;
  bool tooMany = false;

private:
  std::map<std::pair<uint32_t, uint32_t>, Slot> known; ///< by scope and name
  std::vector<uint32_t> counts;
  uint32_t scopes = 0;
};

/// The names of one scope; copied for the branches of an `if`, which share its slots.
class Scope {
public:
  Scope(SlotTable &table, const Scope *parent, uint32_t function)
      : parent(parent), function(function), table(&table), number(table.newScope()) {}

  const Scope *parent;
  uint32_t function;
  FlatMap<Start> starts;    ///< by slot
  FlatMap<uint32_t> nameOf; ///< of a slot

  bool find(uint32_t name, Slot &slot) const;
  void load(uint32_t name);
  void store(uint32_t name);
  Slot declareParameter(uint32_t name);
  /// Slots in this order, before any other of the scope.
  void reserve(uint32_t name) { (void)table->slotOf(function, number, name); }

  // What a statement outside of this scope's own body does to its names.
  void visit(const std::vector<Statement> &body);
  void visit(const Statement &statement);
  void visit(const Expression &expression);
  void visit(const Target &target, bool parameter);

private:
  Slot define(uint32_t name, Start start);
  void merge(const Scope *branches[3]);

  SlotTable *table;
  uint32_t number;
  FlatMap<Slot> refs;
  FlatMap<char> stores;
};

/// Which of `names` the body loads before it sets them, as Jinja looks for `loop`, `caller`, `kwargs`, `varargs`.
std::set<uint32_t> usedNames(const std::vector<Statement> &body, std::set<uint32_t> names);
/// Whether anything in it assigns to `name`.
bool assigns(const Statement &statement, uint32_t name);

} // namespace heddle::tpl

#endif // HEDDLE_COMPILER_TEMPLATE_SCOPES_H
