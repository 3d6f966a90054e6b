//===- Columns.h - The inputs that grow with a text --------------*- C++ -*-===//
//
// Ids, mask, positions and whatever else has a value a token: kept as
// [rows][capacity] for a whole generation, taken up front, copied without gaps
// for each call. A row's next position is counted here.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_GENERATE_COLUMNS_H
#define HEDDLE_RUNTIME_GENERATE_COLUMNS_H

#include "runtime/Generate/Prompt.h"

namespace heddle::rt {

/// Element `index` of `values` as a number; true is 1.
double numberAt(Type type, const void *values, int64_t index);
/// Writes a number as element `index`, in the type of the values.
void storeNumber(Type type, void *values, int64_t index, double value);

class Columns {
public:
  /// Takes the columns that `newPrompt`'s run, or `step` (may be null), reads, each with room for `newCapacity` tokens
  /// a row, and fills them with the prompt. `newRoles` and `newPrompt` must outlive this. Errors: not enough memory, an
  /// input that has not one value a token.
  Status make(const Roles &newRoles, const Prompt &newPrompt, const Entry *step, int64_t newCapacity);

  /// Gives the prompt the values of `given`, one a token, of the column of its name. An internal error if it has
  /// others.
  Status setPrompt(const Tensor &given);
  /// Writes column `length` - 1 of every row: ids[row], the next position, or the column's fill.
  void extend(int64_t length, const int64_t *ids);
  /// Every row's next position becomes what follows its first `length` columns.
  void count(int64_t length);
  /// Every row's next position goes back by `columns`.
  void stepBack(int64_t columns);
  /// Row i becomes what row from[i] was.
  Status reorder(const std::vector<int64_t> &from);

  /// Whether there is a column of this name.
  bool has(std::string_view name) const { return find(name) != nullptr; }
  /// Whether `value` may be left to its default: it has one, and its column holds nothing that differs from it.
  bool isDefault(const Value &value) const;
  /// The last `last` of the first `length` columns of `rows` rows, without gaps; valid until the next call. `name` must
  /// be that of a column.
  void *gather(std::string_view name, int64_t rows, int64_t last, int64_t length);

private:
  /// `values` is [rows][capacity]; `staging` has what a call takes.
  struct Column {
    std::string name;
    Type type = Type::I64;
    Buffer values, staging;
    double fill = 0;
    bool given = false; ///< by the prompt
  };

  Status add(const std::string &name, double fill, const Entry *step);
  void fillPositions(Column &positions, const Column *mask);
  const Column *find(std::string_view name) const;
  Column *find(std::string_view name);

  const Roles *roles = nullptr;
  const Prompt *prompt = nullptr;
  int64_t capacity = 0;
  std::vector<Column> columns;
  std::vector<int64_t> nextPosition; ///< of every row
  Buffer moved;                      ///< rows of a column, on their way
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_GENERATE_COLUMNS_H
