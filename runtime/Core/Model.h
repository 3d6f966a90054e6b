//===- Model.h - An opened image --------------------------------*- C++ -*-===//
//
// Model: card, threads and weights of one compiled model, and the machine that
// calls its entries. The functions below turn shapes of given tensors into dims,
// and dims into sizes; entry->dims and `dims` have the same order.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CORE_MODEL_H
#define HEDDLE_RUNTIME_CORE_MODEL_H

#include "heddle/image.h"
#include "runtime/Core/Backend.h"
#include "runtime/Core/Pool.h"
#include "runtime/Core/Tensor.h"

#include <memory>

namespace heddle::rt {

/// How a command wants its model to run.
struct StartOptions {
  unsigned threads = 0; ///< of this machine; 0: one for each core
  /// What --device says: "cpu", the number of a GPU or "emulator"; "": GPU 0 if
  /// the program has kernels (and if it has code for the processor too, "cpu"
  /// where there is no GPU that it can use), else "cpu". Behind a GPU may stand ":" and words of
  /// Device/Watch.h ("checked,timed"), after the emulator its options among them.
  std::string device;
};

class Model {
public:
  Model() = default;
  Model(const Model &) = delete;
  Model &operator=(const Model &) = delete;
  ~Model();

  /// Checks the seal and reads the card; `info` and `help` need no more.
  Status open(const Image &image);
  /// Maps the weights and takes the machine that the entries run on, once.
  /// Errors: the program has no code for that machine; the processor lacks a
  /// feature that the code was compiled for; no driver or no such GPU (H0801 to
  /// H0806); the side file of weights is missing or damaged.
  Status start(const StartOptions &options);
  Status start(unsigned threads) { return start(StartOptions{threads, {}}); }
  /// Checks tokenizer and weights against the seal (card and index are checked
  /// by `open`). `blocks` receives the number of blocks of the weights.
  Status verify(unsigned threads, uint64_t &blocks);
  /// Path of the side file, if the weights are not in the program; else "".
  std::string weightsPath() const;

  /// The name by which messages call this program: the last part of its path.
  std::string name = "model";

  const Card &card() const { return theCard; }
  /// Positions of the longest text that is taken and made: what `--context` says, else what the model was made for, and
  /// never more than it can have; none: any number.
  std::optional<int64_t> context() const;
  void setContext(int64_t positions) { askedContext = positions; }
  /// The card that has the launches, if there are any.
  const Card &kernelCard() const { return deviceCard ? *deviceCard : theCard; }
  const Image &image() const { return theImage; }
  /// The threads of this machine; a check of weights needs no backend.
  Pool &pool() { return thePool; }
  /// Where the entries run, once this is started.
  Backend &backend() { return *theBackend; }
  uint64_t weightBytes() const { return theImage.weightsSize; }

private:
  /// Makes the backend that `options` ask for, without starting it; `onHost` is
  /// whether it is this processor.
  Status chooseBackend(const StartOptions &options, bool &onHost);
  /// Makes this processor the backend.
  Status useHost();
  Status checkProcessor() const;
  Status mapWeights();
  void prefetchWeights() const;

  Card theCard;
  std::optional<int64_t> askedContext;
  std::optional<Card> deviceCard; ///< of a program for two targets
  Image theImage;
  Pool thePool;
  std::unique_ptr<Backend> theBackend;
  bool started = false;
  const void *weights = nullptr;
  void *mapped = nullptr;
  uint64_t mappedSize = 0;
};

/// An input and the shape of the tensor given for it.
struct Given {
  const Value *value;
  Shape shape;
};

constexpr int64_t kUnknown = -1;

/// Fills the unknown among `dims` from the shapes. Axes align at the right;
/// leading ones may be missing. Afterwards every axis must agree with its form,
/// every bound hold and no dim be unknown; else the error names the input.
Status bindDims(const Card &card, const Entry &entry, const std::vector<Given> &given, std::vector<int64_t> &dims);

/// The most positions of a text that the model can have; none: any number.
std::optional<int64_t> boundOfTexts(const Card &card);

/// An error if a prompt of `length` positions is longer than the context.
Status checkContext(const Model &model, int64_t length);

/// An error if a text of `length` tokens is longer than the bound of the last
/// axis of `tokens`.
Status checkLength(const Card &card, const Entry &entry, const Value &tokens, int64_t length);

/// The shape of `value` under `dims`.
Status shapeOf(const Value &value, const std::vector<int64_t> &dims, Shape &shape);

/// `form` under `dims` as bytes; `what` names it in the error.
Status bytesOf(const Form &form, const std::vector<int64_t> &dims, std::string_view what, uint64_t &bytes);
/// Bytes of arena for one call with these dims and `threads` threads.
Status arenaOf(const Entry &entry, std::vector<int64_t> dims, int64_t threads, uint64_t &bytes);

/// Names of all inputs, for messages.
std::vector<std::string> inputNames(const Entry &entry);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_CORE_MODEL_H
