// Built from the events of a SAX parser, which is not recursive; the depth of the tree is bounded, as it is freed by
// recursion.
#include "compiler/Weights/Adapter/ConfigTree.h"
#include "compiler/Weights/Files/Problem.h"
#include "compiler/Weights/Safetensors/JsonCursor.h"
#include "heddle/utf8.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include <cmath>

namespace heddle {
namespace {

constexpr size_t mostLevels = 16, mostValues = 1'000'000;

class TreeReader : public JsonCursor {
public:
  TreeReader(llvm::StringRef text, llvm::StringRef file) : JsonCursor(text), file(file) {}

  absl::StatusOr<ConfigValue> run();

  bool null() { return add(ConfigValue::Kind::Null); }
  bool boolean(bool b) {
    return add(ConfigValue::Kind::Bool, [&](ConfigValue &v) { v.boolean = b; });
  }
  bool number_integer(int64_t i) { return number(double(i)); }
  bool number_unsigned(uint64_t u) { return number(double(u)); }
  bool number_float(double d, const std::string &) { return number(d); }
  bool string(std::string &s) {
    return add(ConfigValue::Kind::Text, [&](ConfigValue &v) { v.text = std::move(s); });
  }
  bool binary(std::vector<uint8_t> &) { return add(ConfigValue::Kind::Null); }
  bool key(std::string &name) {
    uint64_t at = tokenStart();
    advance();
    if (!seen.back().insert(name).second)
      return fail("the key `" + printable(name) + "` occurs twice", at);
    open.back()->members.push_back({std::move(name), at, {}});
    return true;
  }
  bool start_object(size_t) { return begin(ConfigValue::Kind::Object); }
  bool start_array(size_t) { return begin(ConfigValue::Kind::List); }
  bool end_object() { return end_array(); }
  bool end_array() {
    advance();
    open.pop_back();
    seen.pop_back();
    return true;
  }
  bool parse_error(size_t position, const std::string &, const Json::exception &error) {
    if (isNumberTooLarge(error))
      return fail("a number is too large", tokenStart());
    return problem ? false : fail("this is not JSON from here on", position ? position - 1 : 0);
  }

private:
  bool fail(std::string message, uint64_t at) {
    if (!problem)
      problem = WeightProblem{Error::BadAdapter,
                              "",
                              std::move(message),
                              printable(file, 4096),
                              at,
                              "",
                              "take the adapter_config.json that peft wrote"};
    return false;
  }
  bool number(double d) {
    return add(ConfigValue::Kind::Number, [&](ConfigValue &v) { v.number = d; });
  }
  ConfigValue *place() {
    if (open.empty())
      return &root;
    ConfigValue &in = *open.back();
    return in.is(ConfigValue::Kind::Object) ? &in.members.back().value : &in.items.emplace_back();
  }
  bool add(ConfigValue::Kind kind, llvm::function_ref<void(ConfigValue &)> fill = [](ConfigValue &) {}) {
    uint64_t at = tokenStart();
    advance();
    if (++values > mostValues)
      return fail("more than 1000000 values", at);
    ConfigValue &value = *place();
    value.kind = kind;
    value.byte = at;
    fill(value);
    return true;
  }
  bool begin(ConfigValue::Kind kind) {
    if (open.size() >= mostLevels)
      return fail("nested deeper than 16", tokenStart());
    ConfigValue *value = nullptr;
    if (!add(kind, [&](ConfigValue &v) { value = &v; }))
      return false;
    open.push_back(value);
    seen.emplace_back();
    return true;
  }

  std::string file;
  ConfigValue root;
  std::vector<ConfigValue *> open; ///< outermost first; each is the last child of the one before
  std::vector<llvm::StringSet<>> seen;
  size_t values = 0;
  std::optional<WeightProblem> problem;
};

absl::StatusOr<ConfigValue> TreeReader::run() {
  size_t bad = invalidUtf8(text);
  bool good = bad == std::string_view::npos || fail("this is not UTF-8", bad);
  good = good && parse(*this);
  if (good) {
    size_t rest = text.find_first_not_of(" \t\r\n", end());
    if (!root.is(ConfigValue::Kind::Object))
      good = fail("expected an object, got " + root.describe().str(), root.byte);
    else if (rest != llvm::StringRef::npos)
      good = fail("something follows the object", rest);
  }
  if (good)
    return std::move(root);
  if (!problem)
    fail("this is not JSON", end());
  return toStatus(*problem);
}

} // namespace

bool ConfigValue::isWhole() const {
  return is(Kind::Number) && number == std::floor(number) && std::fabs(number) <= 0x1p53;
}

llvm::StringRef ConfigValue::describe() const {
  switch (kind) {
  case Kind::Null: return "null";
  case Kind::Bool: return boolean ? "true" : "false";
  case Kind::Number: return "a number";
  case Kind::Text: return "a text";
  case Kind::List: return "a list";
  case Kind::Object: return "an object";
  }
  return "";
}

absl::StatusOr<ConfigValue> parseConfig(llvm::StringRef text, llvm::StringRef file) {
  return TreeReader(text, file).run();
}

} // namespace heddle
