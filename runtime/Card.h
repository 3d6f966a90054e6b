//===- Card.h - The description of a compiled model ---------------*- C++
//-*-===//
//
// The card is text inside the binary (README.md has the grammar): dims and
// their bounds, the roles of generation, and for every entry its dims, inputs,
// outputs, states and arena as size forms. It is parsed strictly once at
// start-up.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CARD_H
#define HEDDLE_RUNTIME_CARD_H

#include "runtime/Form.h"

#include <map>

namespace heddle::rt {

enum class Type : uint8_t { F32, I64, Bool };
const char *typeName(Type type);
inline size_t typeSize(Type type) {
  return type == Type::F32 ? 4 : type == Type::I64 ? 8 : 1;
}

struct Value {
  std::string name;
  Type type = Type::F32;
  std::vector<Form> axes;
  bool hasDefault = false; ///< an input that may be left out
  bool optionalAll =
      false; ///< an output that exists because all were asked for
  std::string typeText() const; ///< "i64[B, T]"
};

struct State {
  std::string name;
  Form bytes;
  /// Every row of the batch has one piece in each of `groups` equal parts; 0:
  /// the state does not belong to rows.
  int64_t groups = 0;
};

struct Entry {
  std::string name;
  int index = 0; ///< into heddle_entries
  std::vector<std::string> dims;
  std::vector<Value> inputs, outputs;
  std::vector<State> states;
  Form arena;
  Form flops; ///< multiplications and additions of one call
  /// Where the text may get longer than `ring` positions, a call takes at most
  /// `longestPiece` new ones; 0: any number.
  int64_t longestPiece = 0, ring = 0;
  bool hasArena = false, hasFlops = false;

  int dim(std::string_view name) const;
  const Value *input(std::string_view name) const;
  int outputIndex(std::string_view name) const; ///< -1 if there is none
};

/// Named lists of numbers, as the files beside the weights say them.
class Settings {
public:
  bool has(const char *name) const { return values.count(name); }
  /// The first number, or `otherwise` where nothing was said.
  double number(const char *name, double otherwise) const;
  std::vector<int64_t> integers(const char *name) const;

  std::map<std::string, std::vector<double>, std::less<>> values;
};

/// Which inputs play which part when the model generates.
struct Roles {
  bool present = false;
  std::string tokens, logits, mask, positions, source;
  std::map<std::string, double> extend; ///< input -> what a new column holds
  std::vector<int64_t> eos;
  std::optional<int64_t> start, pad;
  Settings settings;                    ///< defaults of generation
  std::vector<std::string> stops;       ///< texts that end a text
  std::map<std::string, int64_t> languages, tasks; ///< name -> id of its token
};

struct Card {
  std::string text, name, target, maskedRows, license;
  std::string dtype = "f32"; ///< of storage: "f32", "bf16", "f16"
  bool dots = false; ///< both factors of products are bf16
  std::vector<std::string> needs; ///< CPU features
  std::vector<std::pair<std::string, std::optional<int64_t>>> dims; ///< bounds
  Roles roles;
  Settings picture, sound;         ///< how a file becomes the model's input
  std::vector<std::string> labels; ///< of the classes, in order
  std::string kind;                ///< what the logits of a classifier mean
  int64_t parameters = 0;          ///< numbers among the weights; 0: not said
  std::vector<Entry> entries;

  static Status parse(const char *text, Card &card);

  const Entry *entry(std::string_view name) const;
  std::optional<int64_t> bound(std::string_view dim) const;
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_CARD_H
