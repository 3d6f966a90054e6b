//===- EntryInputs.h - Inputs from files ------------------------*- C++ -*-===//
//
// The inputs of an entry from files.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CORE_ENTRYINPUTS_H
#define HEDDLE_RUNTIME_CORE_ENTRYINPUTS_H

#include "runtime/Core/Args.h"
#include "runtime/Core/Model.h"
#include "runtime/Core/TensorFile.h"

namespace heddle::rt {

/// Whether `word` is NAME=@FILE, one tensor of a command line; then splits it.
bool splitGiven(const std::string &word, std::string &name, std::string &path);

/// How many words NAME=@FILE a command line may have.
constexpr size_t kMostTensorWords = 1000;

/// Opens the tensors of a command line: the file of --input, and the words NAME=@FILE. An error for any other word.
Status openGiven(const Args &args, TensorFile &file);

/// Reads one input into a tensor of the declared type and the full `shape`;
/// leading axes that the file does not have are repeated.
Status loadInput(const TensorFile &file, const FileTensor &item, const Value &value, const Shape &shape,
                 Tensor &tensor);

/// An input of its full shape with invented contents.
Status benchInput(const Value &value, const std::vector<int64_t> &dims, Tensor &tensor);

/// Pairs the tensors of a file with the inputs of `entry`. One array without a
/// name is the only input that must be given. An error if the entry has no input
/// of a name, or if an input without default is missing, except the names in
/// `derived`.
Status matchInputs(TensorFile &file, const Entry &entry, const std::vector<std::string> &derived,
                   std::vector<Given> &given);

/// Reads inputs: `dims` as their shapes give them, `inputs` in card order,
/// without data where the file has none.
Status loadInputs(const Model &model, const Entry &entry, TensorFile &file, std::vector<int64_t> &dims,
                  std::vector<Tensor> &inputs);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_CORE_ENTRYINPUTS_H
