//===- FilterParts.h - Filters of numbers and of texts ----------*- C++ -*-===//
//
// What Filters.cpp, NumberFilters.cpp and TextFilters.cpp share. `a`: the
// arguments in the order of template_names.def.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_TEMPLATE_FILTERPARTS_H
#define HEDDLE_RUNTIME_TEMPLATE_FILTERPARTS_H

#include "runtime/Template/RenderState.h"

namespace heddle::rt::chat {

bool intFilter(Session &s, Value v, const Value *a, Value &out);
bool floatFilter(Session &s, Value v, const Value *a, Value &out);
bool roundFilter(Session &s, Value v, const Value *a, Value &out);

bool caseFilter(Session &s, Value v, Case how, Value &out);
bool titleFilter(Session &s, Value v, Value &out);
bool indentFilter(Session &s, Value v, const Value *a, Value &out);
bool replaceFilter(Session &s, Value v, const Value *a, Value &out);
bool trimFilter(Session &s, Value v, const Value *a, Value &out);
bool jsonFilter(Session &s, Value v, const Value *a, Value &out);

} // namespace heddle::rt::chat

#endif // HEDDLE_RUNTIME_TEMPLATE_FILTERPARTS_H
