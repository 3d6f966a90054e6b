//===- Model.h - An opened image ----------------------------------*- C++
//-*-===//
//
// Card, threads and weights of one compiled model, and calls of its entries.
// The functions here turn shapes of given tensors into dims, and dims into
// sizes.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_MODEL_H
#define HEDDLE_RUNTIME_MODEL_H

#include "heddle/image.h"
#include "runtime/Card.h"
#include "runtime/Pool.h"
#include "runtime/Tensor.h"

namespace heddle::rt {

class Model {
public:
  Model() = default;
  Model(const Model &) = delete;
  Model &operator=(const Model &) = delete;
  ~Model();

  /// Reads the card; what only looks at the model needs no more.
  Status open(const Image &image);
  /// Threads (0: one a core) and weights, once; refuses a processor without the
  /// features that the code was compiled for.
  Status start(unsigned threads);
  /// Whether tokenizer and weights are what was compiled (card and index are
  /// checked when it is opened); `blocks` is how many blocks the weights have.
  Status verify(unsigned threads, uint64_t &blocks);
  /// The second file of a model whose weights are not in the program; empty if
  /// they are.
  std::string weightsPath() const;

  /// What the user calls this program: the last part of its path.
  std::string name = "model";

  const Card &card() const { return theCard; }
  const Image &image() const { return theImage; }
  Pool &pool() { return thePool; }
  uint64_t weightBytes() const { return theImage.weightsSize; }

  Status call(const Entry &entry, const std::vector<int64_t> &dims,
              const std::vector<void *> &tensors, char *arena);

private:
  Status mapWeights();
  void prefetchWeights() const;

  Card theCard;
  Image theImage;
  Pool thePool;
  bool started = false;
  const void *weights = nullptr;
  void *mapped = nullptr;
  uint64_t mappedSize = 0;
};

/// An input by name with the shape that was given for it.
struct Given {
  const Value *value;
  Shape shape;
};

constexpr int64_t kUnknown = -1;

/// Fills what is unknown in `dims` from the shapes; axes align at the right,
/// and leading ones may be missing. Every axis must then agree, every bound
/// hold, and no dim stay unknown.
Status bindDims(const Card &card, const Entry &entry,
                const std::vector<Given> &given, std::vector<int64_t> &dims);

/// A text of `length` tokens against the bound of the last axis of `tokens`.
Status checkLength(const Card &card, const Entry &entry, const Value &tokens,
                   int64_t length);

/// The shape of `value` under `dims`.
Status shapeOf(const Value &value, const std::vector<int64_t> &dims,
               Shape &shape);

/// A size in bytes; `what` names it in the error.
Status bytesOf(const Form &form, const std::vector<int64_t> &dims,
               std::string_view what, uint64_t &bytes);
/// Bytes of arena that an entry needs for these dims and a team of `threads`.
Status arenaOf(const Entry &entry, std::vector<int64_t> dims, int64_t threads,
               uint64_t &bytes);

/// Names of all inputs, for messages.
std::vector<std::string> inputNames(const Entry &entry);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_MODEL_H
