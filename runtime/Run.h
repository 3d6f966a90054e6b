//===- Run.h - Tensors in, tensors out ----------------------------*- C++
//-*-===//
//
// Loading the inputs of an entry from a file, and one call of it.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_RUN_H
#define HEDDLE_RUNTIME_RUN_H

#include "runtime/Model.h"
#include "runtime/SafeTensors.h"

namespace heddle::rt {

/// Reads one input into a tensor of the declared type and full shape; leading
/// axes that the file does not have are repeated.
Status loadInput(const TensorFile &file, const FileTensor &item,
                 const Value &value, const Shape &shape, Tensor &tensor);

/// All tensors of the file must be inputs of `entry`; those without default
/// must be there, except the names in `derived`.
Status matchInputs(const TensorFile &file, const Entry &entry,
                   const std::vector<std::string> &derived,
                   std::vector<Given> &given);

/// Opens a file of inputs: the lengths it gives the dims, the tensors in card
/// order, with no data for one that is not in it.
Status loadInputs(const Model &model, const Entry &entry,
                  const std::string &path, std::vector<int64_t> &dims,
                  std::vector<Tensor> &inputs);

/// Results may replace older results, never what they are made of: the input,
/// the program itself, its weights; and `-` is standard output, no terminal.
Status checkOutput(const Model &model, const std::string &output,
                   const std::string &input);

/// An entry with all the memory that calls of it need, which may be many.
struct EntryCall {
  std::vector<Tensor> outputs;
  /// `inputs` in card order, with no data for one left out; they must live on.
  Status prepare(Model &model, const Entry &entry,
                 const std::vector<int64_t> &dims,
                 const std::vector<Tensor> &inputs);
  Status call();

private:
  Model *model = nullptr;
  const Entry *entry = nullptr;
  std::vector<int64_t> dims;
  std::vector<Buffer> states;
  Buffer arena;
  std::vector<void *> tensors;
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_RUN_H
