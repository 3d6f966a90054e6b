//===- EntryInputs.h - Inputs from files ------------------------*- C++ -*-===//
//
// The inputs of an entry from a safetensors file.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CORE_ENTRYINPUTS_H
#define HEDDLE_RUNTIME_CORE_ENTRYINPUTS_H

#include "runtime/Core/Model.h"
#include "runtime/Core/SafeTensors.h"

namespace heddle::rt {

/// Reads one input into a tensor of the declared type and the full `shape`;
/// leading axes that the file does not have are repeated.
Status loadInput(const TensorFile &file, const FileTensor &item, const Value &value, const Shape &shape,
                 Tensor &tensor);

/// An input of its full shape with invented contents.
Status benchInput(const Value &value, const std::vector<int64_t> &dims, Tensor &tensor);

/// Pairs the tensors of a file with the inputs of `entry`. An error if the
/// entry has no input of a name, or if an input without default is missing,
/// except the names in `derived`.
Status matchInputs(const TensorFile &file, const Entry &entry, const std::vector<std::string> &derived,
                   std::vector<Given> &given);

/// Reads a file of inputs: `dims` as its shapes give them, `inputs` in card
/// order, without data where the file has none.
Status loadInputs(const Model &model, const Entry &entry, const std::string &path, std::vector<int64_t> &dims,
                  std::vector<Tensor> &inputs);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_CORE_ENTRYINPUTS_H
