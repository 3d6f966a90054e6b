// The table of everything that the language knows: ops with their operands and attributes, functions of expressions,
// activations, masks. The checks, the importer, the JSON Schema and the tables of language.md are made from it.
#ifndef HEDDLE_COMPILER_IMPORT_DESCRIPTION_OPTABLE_H
#define HEDDLE_COMPILER_IMPORT_DESCRIPTION_OPTABLE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <vector>

namespace heddle {

/// What an attribute is for; a column of the page.
enum class AttrRole {
  Required,
  Optional,
  Assert, // has no effect but a check: what the weight or the result must be
  Weight, // names weights
};

/// What an attribute may be, as far as its form says it; the schema and the spelling checks follow from it.
enum class AttrType {
  Integer,
  Real,
  Bool,
  Choice,
  Integers,
  Size,
  Sizes,
  Text,
  Name,
  Weight,
  WeightOrOff,
  Tensor,
  Number,
  Mask,
  Bias,
  Split,
  Padding,
  SizeMap,
};

/// An attribute of an op.
struct AttrInfo {
  llvm::StringRef name;
  AttrRole role;
  AttrType type;
  llvm::StringRef fallback; // as the reference page prints it; the first choice of a Choice
  std::vector<llvm::StringRef> choices = {};
};

/// An op of the language.
struct OpInfo {
  static constexpr int variadic = -1;

  llvm::StringRef name;
  std::vector<llvm::StringRef> operands;
  bool isVariadic;
  llvm::StringRef shapes; // operands → results
  llvm::StringRef formula, mixes, source;
  std::vector<AttrInfo> attributes;

  const AttrInfo *attribute(llvm::StringRef name) const;
  bool readsWeights() const { return attribute("weights") != nullptr; }
};

/// A function of expressions, or a leaf of masks (group "masks").
struct FunctionInfo {
  llvm::StringRef name;
  int least, most; // arguments; most -1: any number
  llvm::StringRef group, about;
};

llvm::ArrayRef<OpInfo> allOps();
const OpInfo *findOp(llvm::StringRef name);

llvm::ArrayRef<FunctionInfo> allFunctions();
const FunctionInfo *findFunction(llvm::StringRef name);

/// The spelling of `model.unary` for a published name of an activation; "" if it is unknown, "linear" for the
/// identity.
llvm::StringRef canonicalActivation(llvm::StringRef name);
std::vector<llvm::StringRef> activationNames();

/// Whether it is `causal` or `all`, the masks that are names.
bool isNamedMask(llvm::StringRef name);

class MaskCall;
class Value;

/// A leaf of masks in the language, such as window(..): what it means, and how its op is made from the arguments.
struct MaskLeaf {
  FunctionInfo info;
  Value (*make)(MaskCall &call); ///< the mask, or poison after an error
};
/// The table of the leaves (Ops/MaskLeaves.cpp).
llvm::ArrayRef<MaskLeaf> maskLeaves();

} // namespace heddle

#endif // HEDDLE_COMPILER_IMPORT_DESCRIPTION_OPTABLE_H
