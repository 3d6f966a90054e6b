//===- Card.h - The description of a compiled model -------------*- C++ -*-===//
//
// The card is text inside the binary (card.md has the grammar): dims and
// their bounds, the roles of generation, and for every entry its dims, inputs,
// outputs, states and arena as size forms. It is parsed strictly once at
// start-up (CardParser.h); an error in it is an internal error of the compiler.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CORE_CARD_H
#define HEDDLE_RUNTIME_CORE_CARD_H

#include "heddle/settings.h"
#include "runtime/Core/Form.h"
#include "runtime/Core/Requirements.h"

#include <map>

namespace heddle::rt {

/// Element types of inputs and outputs; a bool is one byte.
enum class Type : uint8_t { F32, I64, Bool };
const char *typeName(Type type);
inline size_t typeSize(Type type) { return type == Type::F32 ? 4 : type == Type::I64 ? 8 : 1; }

/// An input or output of an entry.
struct Value {
  std::string name;
  Type type = Type::F32;
  std::vector<Form> axes;
  bool hasDefault = false;      ///< an input that may be left out
  bool optionalAll = false;     ///< an output that exists because all were asked for
  std::string typeText() const; ///< "i64[B, T]"
};

/// A block of memory that outlives a call, such as a cache of keys.
struct State {
  std::string name;
  Form bytes;
  /// Equal parts of the state in each of which every row of the batch has one
  /// piece, in order, so that rows can be moved; 0: no row has a piece.
  int64_t groups = 0;
  /// Of the states of `batch`. The piece of a text is so many equal parts, and in each its positions are in order, in
  /// blocks of so many bytes that hold `blockPositions` positions (of all parts together, where they take turns).
  int64_t parts = 0, blockBytes = 0, blockPositions = 0;
  int64_t ring = 0; ///< positions that are kept, where older ones are overwritten; 0: all are
};

/// A line of an entry's program for a device (LaunchLine.cpp reads it): a
/// kernel, or where repeats begin and end. Lines are executed in their order.
struct LaunchLine {
  enum class Kind : uint8_t { Launch, Repeat, Again };
  Kind kind = Kind::Launch;
  std::string kernel;
  /// Work items of a launch, or how often what follows is repeated.
  Form count;
  int64_t lanes = 32;             ///< threads an item takes: 32, a warp, or 1
  int64_t threads = 0;            ///< of a block
  bool optional = false;          ///< a launch that is left out where it has no items
  int64_t shared = 0;             ///< bytes of shared memory of a block, on the chips
  std::vector<std::string> chips; ///< that are named here; none: on all of them
  std::vector<int64_t> numbers;   ///< what the kernel is given next to what all kernels get
  std::string place;              ///< op and place of a launch, for messages; may be ""

  /// Reads what is behind `key`, which is launch, repeat or again, and appends it.
  /// `dims` are the entry's; errors name what was expected.
  static Status parse(std::string_view key, std::string_view text, const std::vector<std::string> &dims,
                      std::vector<LaunchLine> &lines);
  /// An error if a repeat is not ended.
  static Status checkEnded(const std::vector<LaunchLine> &lines);
};

/// What threads do up to a barrier. Only `bench --profile` reads the text (Profile.cpp).
struct Phase {
  std::string text, weight;
};

/// One function of the binary: `run`, `once`, `step` or `batch`.
struct Entry {
  std::string name;
  int index = 0; ///< into heddle_entries
  std::vector<std::string> dims;
  std::vector<Value> inputs, outputs;
  std::vector<State> states;
  std::vector<Requirement> requirements; ///< what lengths must be (checkLengths)
  Form arena;
  Form flops;    ///< multiplications and additions of one call
  Form integers; ///< of these, those of integers
  Form reads;    ///< bytes of weights and caches that one call reads, each once
  /// Where a text may get longer than `ring` positions, a call takes at most
  /// `longestPiece` new ones; 0: any number.
  int64_t longestPiece = 0, ring = 0;
  std::vector<Phase> phases;        ///< what a call is on the processor
  std::vector<LaunchLine> launches; ///< what a call is on a device
  std::vector<Form> lengths;        ///< what its kernels find after the dims
  bool hasArena = false, hasFlops = false, hasIntegers = false, hasReads = false;

  /// Index of a dim in `dims`, -1 if there is none of this name.
  int dim(std::string_view name) const;
  const Value *input(std::string_view name) const;
  int outputIndex(std::string_view name) const; ///< -1 if there is none
};

/// Settings that a card has (heddle/settings.h), each a list of numbers.
class Settings {
public:
  bool has(const Setting &setting) const { return values.count(setting.name); }
  /// The first number, or `otherwise` without the setting.
  double number(const Setting &setting, double otherwise) const;
  double number(const Setting &setting) const { return number(setting, setting.otherwise); }
  bool flag(const Setting &setting) const { return number(setting) != 0; }
  int64_t integer(const Setting &setting) const { return int64_t(number(setting)); }
  /// All numbers, none without the setting.
  std::vector<int64_t> integers(const Setting &setting) const;

  std::map<std::string, std::vector<double>, std::less<>> values;
};

/// The names of the inputs and outputs that generation uses, and its defaults.
struct Roles {
  bool present = false;
  std::string tokens, logits, mask, positions, source;
  std::map<std::string, double> extend; ///< input -> what a new column holds
  std::vector<int64_t> eos;
  std::optional<int64_t> start, pad;
  bool padsLeft = false;          ///< without a mask: a row with the id of padding in front of it is what it is alone
  std::optional<int64_t> context; ///< positions of the longest text that the model was made for
  Settings settings;              ///< defaults of generation
  std::vector<std::string> stops; ///< texts that end a text
  std::map<std::string, int64_t> languages, tasks; ///< name -> id of its token
};

/// A weight of 16 bits whose words are ordered otherwise on a device: of panels
/// [panels][depth][width] of words, [depth / 4][panels * width][4].
struct Regroup {
  int64_t offset = 0, depth = 0, panels = 0, width = 0;
  uint64_t bytes() const { return 4 * uint64_t(depth) * uint64_t(panels) * uint64_t(width); }
};

/// Matrices that are laid out as codes of so many bits with a scale for each `group` features.
struct CodesLine {
  int64_t bits = 0, group = 0, matrices = 0, bytes = 0;
  bool dots = false;  ///< rows are rounded to 8 bits and integers multiplied
  int64_t rows = 128; ///< features of a row that share a scale
};

/// How a text becomes a vector, where the model's directory or --pool says it (runtime/Encode/Vectors.h).
struct VectorRules {
  std::vector<std::string> pooling;                         ///< none: nothing says it
  std::vector<std::pair<std::string, std::string>> prompts; ///< names and texts
  std::string defaultPrompt;                                ///< the name of one of them, or ""
  std::string similarity = "cosine";                        ///< or dot, euclidean, manhattan
  int64_t length = 0;                                       ///< tokens of a text, 0: not said
  bool lower = false, includePrompt = true, normalize = false;

  std::string poolingText() const; ///< "cls+mean"
};

struct Card {
  std::string text, name, target, maskedRows, license;
  std::string dtype = "f32";  ///< of storage: "f32", "bf16", "f16"
  bool dots = false;          ///< both factors of products with weights are bf16
  bool attentionDots = false; ///< both factors of scores and of weighted values are bf16
  std::vector<CodesLine> codes;
  std::vector<std::string> needs;                                   ///< CPU features
  std::vector<std::pair<std::string, std::optional<int64_t>>> dims; ///< bounds
  Roles roles;
  Settings picture, sound;           ///< how a file becomes the model's input
  std::vector<std::string> adapters; ///< merged into the weights, "DIR:SCALE", in order
  std::vector<std::string> labels;   ///< of the classes, in order
  /// What the chat template understands: system, parts, arguments, tool_turn, turn_end.
  std::vector<std::pair<std::string, std::string>> chat;
  std::vector<std::string> lookups; ///< tables and what their rows are chosen by
  std::string whyNoSlots;           ///< of a program that was asked for an entry `batch` and has none; else ""
  std::string kind;                 ///< what the logits of a classifier mean
  VectorRules vectors;              ///< of a directory of sentence-transformers
  int64_t parameters = 0;           ///< numbers among the weights; 0: not said
  std::vector<Entry> entries;
  std::vector<std::string> devices; ///< chips that there are images for
  std::vector<Regroup> regroups;    ///< ascending, none over another

  static Status parse(const char *text, Card &card);
  /// A text may hold a card for the processor and after it one for GPUs, of
  /// one model; `device` stays empty where there is no second.
  static Status parse(const char *text, Card &card, std::optional<Card> &device);
  /// Takes what is the target's own from the card of the same model for another
  /// one: memory, states and launches. What a model is called and what its
  /// inputs and outputs are stays where it is.
  void adopt(const Card &other);

  /// The model's own texts, in the order in which the compiler digests them for
  /// the seal (targets/Card/CardText.h).
  std::vector<std::string> texts() const;

  const Entry *entry(std::string_view name) const;
  /// What `chat` says of `trait`, or "".
  std::string chatTrait(std::string_view trait) const;
  std::optional<int64_t> bound(std::string_view dim) const;
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_CORE_CARD_H
