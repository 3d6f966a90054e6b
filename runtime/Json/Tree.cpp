// The tree is built, written and (as values hold vectors of values) freed with the depth that ReadLimits allows;
// writing goes over a stack of its own.
#include "runtime/Json/Tree.h"
#include "runtime/Core/Status.h"

namespace heddle::json {
namespace {

class Builder final : public Sink {
public:
  explicit Builder(Value &root) : root(root) {}

  bool null() override { return put({}); }
  bool boolean(bool b) override {
    Value value;
    value.kind = Value::Kind::Boolean;
    value.boolean = b;
    return put(std::move(value));
  }
  bool integer(int64_t i) override {
    Value value;
    value.kind = Value::Kind::Integer;
    value.integer = i;
    value.real = double(i);
    return put(std::move(value));
  }
  bool real(double r) override {
    Value value;
    value.kind = Value::Kind::Real;
    value.real = r;
    return put(std::move(value));
  }
  bool text(std::string t) override {
    Value value;
    value.kind = Value::Kind::Text;
    value.text = std::move(t);
    return put(std::move(value));
  }
  bool beginObject() override { return open(Value::Kind::Object); }
  bool name(std::string n) override {
    levels.back()->members.emplace_back(std::move(n), Value());
    return true;
  }
  bool endObject() override { return close(); }
  bool beginArray() override { return open(Value::Kind::Array); }
  bool endArray() override { return close(); }

private:
  Value *place() {
    if (levels.empty())
      return &root;
    if (levels.back()->is(Value::Kind::Object))
      return &levels.back()->members.back().second;
    return &levels.back()->items.emplace_back();
  }
  bool put(Value value) {
    *place() = std::move(value);
    return true;
  }
  bool open(Value::Kind kind) {
    Value *value = place();
    value->kind = kind;
    levels.push_back(value);
    return true;
  }
  bool close() {
    levels.pop_back();
    return true;
  }

  Value &root;
  std::vector<Value *> levels; ///< what is open, outermost first; each is the last child of the one before
};

void writeLeaf(const Value &value, std::string &to) {
  switch (value.kind) {
  case Value::Kind::Null: to += "null"; return;
  case Value::Kind::Boolean: to += value.boolean ? "true" : "false"; return;
  case Value::Kind::Integer: to += std::to_string(value.integer); return;
  case Value::Kind::Real: to += rt::format("%.17g", value.real); return;
  case Value::Kind::Text: to += rt::jsonString(value.text); return;
  case Value::Kind::Array:
  case Value::Kind::Object: return;
  }
}

} // namespace

const Value *Value::find(std::string_view name) const {
  for (const auto &[key, value] : members)
    if (key == name)
      return &value;
  return nullptr;
}

Fault readTree(std::string_view text, Value &value, const ReadLimits &limits) {
  value = Value();
  Builder builder(value);
  return read(text, builder, limits);
}

std::string write(const Value &value) {
  struct Open {
    const Value *value;
    size_t next;
  };
  std::string to;
  std::vector<Open> open;
  const Value *now = &value;
  for (;;) {
    if (now && (now->is(Value::Kind::Array) || now->is(Value::Kind::Object))) {
      to += now->is(Value::Kind::Array) ? '[' : '{';
      open.push_back({now, 0});
    } else if (now) {
      writeLeaf(*now, to);
    }
    if (open.empty())
      return to;
    Open &top = open.back();
    bool object = top.value->is(Value::Kind::Object);
    if (top.next == (object ? top.value->members.size() : top.value->items.size())) {
      to += object ? '}' : ']';
      open.pop_back();
      now = nullptr;
      continue;
    }
    if (top.next > 0)
      to += ',';
    if (object)
      to += rt::jsonString(top.value->members[top.next].first) + ":";
    now = object ? &top.value->members[top.next].second : &top.value->items[top.next];
    ++top.next;
  }
}

} // namespace heddle::json
