// How values are shown in messages, and equality of constants.
#include "compiler/Import/Evaluate/Value.h"

#include "compiler/Import/Json/Diagnostics.h"
#include "dialects/Model/IR/Model.h"
#include "llvm/Support/Format.h"

using namespace heddle;

llvm::StringRef Value::describe() const {
  switch (k) {
  case Kind::Poison: return "nothing";
  case Kind::Absent: return "a key that is absent";
  case Kind::Null: return "null";
  case Kind::Bool: return "true or false";
  case Kind::Integer: return "an integer";
  case Kind::Real: return "a real number";
  case Kind::String: return "a string";
  case Kind::List: return "a list";
  case Kind::Object: return "an object";
  case Kind::Size: return "a length";
  case Kind::Constant:
  case Kind::Tensor: return "a tensor";
  case Kind::Mask: return "a mask";
  case Kind::Bias: return "a bias";
  }
  return "a value";
}

std::string Value::show() const {
  std::string out;
  llvm::raw_string_ostream os(out);
  switch (k) {
  case Kind::Bool: return i ? "true" : "false";
  case Kind::Integer: return std::to_string(i);
  case Kind::Real: os << llvm::format("%g", r); return out;
  case Kind::String: return quote(*s);
  case Kind::Size: return form->str();
  case Kind::List:
    for (const Value &v : *items) {
      out += (out.empty() ? "" : ", ") + v.show();
      if (out.size() > 100)
        return "[" + out + ", ...]";
    }
    return "[" + out + "]";
  case Kind::Constant:
    for (int64_t d : table->shape)
      out += (out.empty() ? "" : ", ") + std::to_string(d);
    return "a tensor [" + out + "]";
  case Kind::Tensor:
    if (auto type = llvm::dyn_cast<model::ModelTensorType>(ir.getType())) {
      for (const model::Size &d : type.getSizes())
        out += (out.empty() ? "" : ", ") + d.str();
      return "a tensor [" + out + "]";
    }
    return "a tensor";
  default: return describe().str();
  }
}

bool heddle::equalConstants(const Value &a, const Value &b) {
  if (a.isNumber() && b.isNumber())
    return a.is(Value::Kind::Integer) && b.is(Value::Kind::Integer) ? a.asInteger() == b.asInteger()
                                                                    : a.asReal() == b.asReal();
  if (a.kind() != b.kind())
    return false;
  switch (a.kind()) {
  case Value::Kind::Bool: return a.asBool() == b.asBool();
  case Value::Kind::String: return a.asString() == b.asString();
  case Value::Kind::Null: return true;
  case Value::Kind::Size: return a.asSize() == b.asSize();
  case Value::Kind::List:
    return a.asList().size() == b.asList().size() &&
           std::equal(a.asList().begin(), a.asList().end(), b.asList().begin(), equalConstants);
  default: return false;
  }
}
