//===- Columns.cpp - The inputs that grow with a text ---------------------===//
//
// Values are stored in the type of the input; positions follow the mask where
// the prompt gives none.
//
//===----------------------------------------------------------------------===//
#include "runtime/Generate/Columns.h"
#include "runtime/Core/Host.h"

#include <algorithm>
#include <cstring>

namespace heddle::rt {

void storeNumber(Type type, void *values, int64_t index, double value) {
  if (type == Type::F32)
    static_cast<float *>(values)[index] = float(value);
  else if (type == Type::I64)
    static_cast<int64_t *>(values)[index] = int64_t(value);
  else
    static_cast<bool *>(values)[index] = value != 0;
}

double numberAt(Type type, const void *values, int64_t index) {
  if (type == Type::F32)
    return static_cast<const float *>(values)[index];
  if (type == Type::I64)
    return double(static_cast<const int64_t *>(values)[index]);
  return static_cast<const bool *>(values)[index];
}

const Columns::Column *Columns::find(std::string_view name) const {
  for (const Column &column : columns)
    if (column.name == name)
      return &column;
  return nullptr;
}

Columns::Column *Columns::find(std::string_view name) {
  return const_cast<Column *>(static_cast<const Columns *>(this)->find(name));
}

/// Adds one column: the prompt's values, else `fill`; none if no entry has such an input.
Status Columns::add(const std::string &name, double fill, const Entry *step) {
  const Value *value = prompt->run->input(name);
  if (!value && step)
    value = step->input(name);
  if (!value)
    return {}; // nothing reads it
  Column column;
  column.name = name;
  column.type = value->type;
  column.fill = fill;
  int64_t count = 0;
  if (__builtin_mul_overflow(prompt->rows, capacity, &count))
    return outOfResources("the batch does not fit in memory");
  uint64_t bytes = uint64_t(count) * typeSize(column.type);
  HEDDLE_TRY(Buffer::make(bytes, "the text", column.values));
  HEDDLE_TRY(Buffer::make(bytes, "the text", column.staging));
  const Tensor *given = prompt->find(name);
  column.given = given != nullptr;
  if (given && given->count() != prompt->rows * prompt->length)
    return unsupported("input " + quote(name) + " does not hold one value a token of the batch");
  for (int64_t row = 0; row < prompt->rows; ++row)
    for (int64_t i = 0; i < prompt->length; ++i)
      storeNumber(column.type, column.values.data(), row * capacity + i,
                  given ? numberAt(column.type, given->data.data(), row * prompt->length + i) : fill);
  columns.push_back(std::move(column));
  return {};
}

Status Columns::make(const Roles &newRoles, const Prompt &newPrompt, const Entry *step, int64_t newCapacity) {
  roles = &newRoles;
  prompt = &newPrompt;
  capacity = newCapacity;
  columns.clear();
  HEDDLE_TRY(add(roles->tokens, 0, step));
  if (!roles->mask.empty())
    HEDDLE_TRY(add(roles->mask, 1, step));
  if (!roles->positions.empty())
    HEDDLE_TRY(add(roles->positions, 0, step));
  if (Column *positions = find(roles->positions))
    fillPositions(*positions, find(roles->mask));
  for (const auto &[name, fill] : roles->extend)
    HEDDLE_TRY(add(name, fill, step));
  return {};
}

Status Columns::setPrompt(const Tensor &given) {
  Column *column = find(given.name);
  if (!column || given.type != column->type || given.count() != prompt->rows * prompt->length)
    return internalError("the default of " + quote(given.name) + " has not one value a token");
  for (int64_t row = 0; row < prompt->rows; ++row)
    for (int64_t i = 0; i < prompt->length; ++i)
      storeNumber(column->type, column->values.data(), row * capacity + i,
                  numberAt(given.type, given.data.data(), row * prompt->length + i));
  column->given = true;
  return {};
}

/// Positions of the prompt: cumsum(mask) - 1, and 1 where masked, unless the
/// prompt gave them. `nextPosition` becomes what follows in every row.
void Columns::fillPositions(Column &positions, const Column *mask) {
  nextPosition.assign(prompt->rows, 0);
  for (int64_t row = 0; row < prompt->rows; ++row) {
    int64_t &next = nextPosition[row];
    for (int64_t i = 0; i < prompt->length; ++i) {
      int64_t at = row * capacity + i;
      bool real = !mask || numberAt(mask->type, mask->values.data(), at) != 0;
      if (positions.given)
        next = int64_t(numberAt(positions.type, positions.values.data(), at)) + 1;
      else
        storeNumber(positions.type, positions.values.data(), at, real ? double(next++) : 1.0);
    }
  }
  // A mask that was given makes positions that differ from the default ones.
  positions.given |= mask && mask->given;
}

void Columns::count(int64_t length) {
  const Column *positions = find(roles->positions), *mask = find(roles->mask);
  const Tensor *given = positions ? prompt->find(positions->name) : nullptr;
  for (int64_t row = 0; positions && row < prompt->rows; ++row) {
    int64_t next = 0;
    for (int64_t i = 0; i < length; ++i) {
      int64_t at = row * capacity + i;
      if (given)
        next = int64_t(numberAt(positions->type, positions->values.data(), at)) + 1;
      else
        next += !mask || numberAt(mask->type, mask->values.data(), at) != 0;
    }
    nextPosition[row] = next;
  }
}

void Columns::stepBack(int64_t columns) {
  for (int64_t &next : nextPosition)
    next -= columns;
}

void Columns::extend(int64_t length, const int64_t *ids) {
  for (Column &column : columns)
    for (int64_t row = 0; row < prompt->rows; ++row) {
      int64_t at = row * capacity + length - 1;
      double value = column.fill;
      if (column.name == roles->tokens) {
        column.values.as<int64_t>()[at] = ids[row];
        continue;
      }
      if (column.name == roles->positions)
        value = double(nextPosition[row]++);
      storeNumber(column.type, column.values.data(), at, value);
    }
}

Status Columns::reorder(const std::vector<int64_t> &from) {
  size_t most = 0;
  for (Column &column : columns)
    most = std::max(most, size_t(capacity) * typeSize(column.type));
  if (moved.size() < most * from.size())
    HEDDLE_TRY(Buffer::make(most * from.size(), "the beams", moved));
  for (Column &column : columns)
    permuteRows(column.values.as<char>(), capacity * typeSize(column.type), from, moved.as<char>());
  std::vector<int64_t> positions = nextPosition;
  for (size_t row = 0; row < positions.size(); ++row)
    nextPosition[row] = positions[from[row]];
  return {};
}

bool Columns::isDefault(const Value &value) const {
  const Column *column = find(value.name);
  return value.hasDefault && column && !column->given && value.name != roles->tokens;
}

void *Columns::gather(std::string_view name, int64_t rows, int64_t last, int64_t length) {
  Column &column = *find(name);
  size_t size = typeSize(column.type);
  for (int64_t row = 0; row < rows; ++row)
    memcpy(column.staging.as<char>() + row * last * size,
           column.values.as<char>() + (row * capacity + length - last) * size, last * size);
  return column.staging.data();
}

} // namespace heddle::rt
