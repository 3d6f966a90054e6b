// One row a way of storing. A row names the tensor that holds the codes and those that may be next to it; where the
// codes bear the ordinary name `X.weight` what is next to them, or their type, tells.
#include "compiler/Weights/Coded/CodedMethods.h"
#include "compiler/Weights/Coded/CodedTensor.h"
#include "compiler/Weights/Files/Problem.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

namespace heddle {
namespace {

struct Way {
  llvm::StringLiteral method;                 ///< quant_method of config.json
  llvm::StringLiteral codes;                  ///< how the name of the codes ends
  llvm::ArrayRef<llvm::StringLiteral> beside; ///< how those of the other pieces end
  bool (*fits)(const CodedPieces &pieces, const StoredTensor &codes);
  OpenCoded *open;
};

bool always(const CodedPieces &, const StoredTensor &) { return true; }
bool isI32(const CodedPieces &, const StoredTensor &codes) { return codes.type() != StoredType::U8; }
bool isU8(const CodedPieces &, const StoredTensor &codes) { return codes.type() == StoredType::U8; }
/// A matrix of ordinary numbers that has a scale next to it is none of ours, and its scale is read by nothing.
bool hasScale(const CodedPieces &pieces, const StoredTensor &codes) {
  bool narrow = width(codes.type()) == 1 && codes.type() != StoredType::Bool;
  return narrow && (pieces.find(".weight_scale") || pieces.find(".weight_scale_inv"));
}
bool hasState(const CodedPieces &pieces, const StoredTensor &) { return isFourBits(pieces); }
bool hasFactors(const CodedPieces &pieces, const StoredTensor &) { return pieces.find(".SCB"); }

constexpr llvm::StringLiteral gptqPieces[] = {".qzeros", ".scales", ".g_idx"};
constexpr llvm::StringLiteral awqPieces[] = {".qzeros", ".scales"};
constexpr llvm::StringLiteral packedPieces[] = {".weight_scale", ".weight_zero_point", ".weight_shape", ".weight_g_idx",
                                                ".weight_global_scale"};
constexpr llvm::StringLiteral plainPieces[] = {".weight_scale", ".weight_scale_inv", ".weight_zero_point",
                                               ".weight_g_idx", ".weight_shape"};
constexpr llvm::StringLiteral fourBitPieces[] = {
    ".weight.absmax",           ".weight.quant_map",     ".weight.quant_state.bitsandbytes__nf4",
    ".weight.nested_quant_map", ".weight.nested_absmax", ".weight.quant_state.bitsandbytes__fp4"};
constexpr llvm::StringLiteral eightBitPieces[] = {".SCB", ".weight_format"};
constexpr llvm::StringLiteral mxfp4Pieces[] = {"_scales"};

constexpr Way ways[] = {
    {"gptq", ".qweight", gptqPieces, always, openGptq},
    {"awq", ".qweight", awqPieces, always, openAwq},
    {"compressed-tensors", ".weight_packed", packedPieces, isI32, openPacked},
    {"compressed-tensors", ".weight_packed", packedPieces, isU8, openNvfp4},
    {"compressed-tensors", ".weight", plainPieces, hasScale, openPlain},
    {"fp8", ".weight", plainPieces, hasScale, openPlain},
    {"bitsandbytes", ".weight", fourBitPieces, hasState, openFourBits},
    {"bitsandbytes", ".weight", eightBitPieces, hasFactors, openEightBits},
    {"mxfp4", "_blocks", mxfp4Pieces, always, openMxfp4},
};

/// Scales of activations, which are rounded finer here or not at all, and of caches, which are not.
constexpr llvm::StringLiteral unneededNames[] = {".input_scale",  ".input_zero_point",  ".input_global_scale",
                                                 ".output_scale", ".output_zero_point", ".activation_scale",
                                                 ".k_scale",      ".v_scale",           ".q_scale",
                                                 ".k_zero_point", ".v_zero_point",      ".kv_scale"};

bool endsInOne(llvm::StringRef name, llvm::ArrayRef<llvm::StringLiteral> suffixes) {
  return llvm::any_of(suffixes, [&](llvm::StringRef suffix) { return name.ends_with(suffix); });
}

/// The name that the matrix has in the ordinary checkpoint.
std::string offeredBy(const Way &way, llvm::StringRef module) {
  return way.codes.starts_with("_") ? module.str() : module.str() + ".weight";
}

} // namespace

llvm::StringRef codedMethods() { return "gptq, awq, compressed-tensors, fp8, bitsandbytes, mxfp4"; }

llvm::StringRef methodOfName(llvm::StringRef tensor) {
  if (tensor.ends_with(".qweight"))
    return "gptq";
  if (tensor.ends_with(".weight_packed"))
    return "compressed-tensors";
  if (tensor.contains(".weight.quant_state.bitsandbytes__"))
    return "bitsandbytes";
  if (tensor.ends_with(".weight_scale_inv"))
    return "fp8";
  return "";
}

absl::StatusOr<CodedView> viewCoded(llvm::ArrayRef<StoredTensor> tensors, const CodedPieces::Find &find,
                                    const CodedScheme &scheme) {
  CodedView view;
  llvm::StringSet<> taken;
  auto take = [&](const StoredTensor &tensor) {
    if (taken.insert(tensor.name()).second)
      view.pieces.push_back(tensor.name());
  };
  for (const StoredTensor &tensor : tensors)
    for (const Way &way : ways) {
      llvm::StringRef module = tensor.name();
      if (way.method != scheme.method || !module.consume_back(way.codes) || module.empty())
        continue;
      CodedPieces pieces(module.str(), offeredBy(way, module), find);
      if (!way.fits(pieces, tensor))
        continue;
      if (const StoredTensor *wide = find(pieces.offered); wide && wide->record != tensor.record)
        return wrongPiece(*wide, "`" + printable(tensor.name()) + "` is in the files, too: one matrix in two ways",
                          "remove the one that is not meant");
      absl::StatusOr<std::unique_ptr<CodedTensor>> matrix = way.open(pieces, tensor, scheme);
      if (!matrix.ok())
        return matrix.status();
      view.matrices.push_back(*std::move(matrix));
      take(tensor);
      for (llvm::StringRef suffix : way.beside)
        if (const StoredTensor *piece = pieces.find(suffix))
          take(*piece);
      break;
    }
  for (const StoredTensor &tensor : tensors) {
    if (taken.contains(tensor.name()))
      continue;
    if (endsInOne(tensor.name(), unneededNames)) {
      view.unneeded.push_back(tensor.name());
      continue;
    }
    // A piece whose codes are not there.
    for (const Way &way : ways)
      for (llvm::StringRef suffix : way.beside) {
        llvm::StringRef module = tensor.name();
        if (way.method == scheme.method && module.consume_back(suffix) && !module.empty() &&
            !find(offeredBy(way, module)) && !find(module.str() + way.codes.str()))
          return wrongPiece(
              tensor, "`" + printable(module.str() + way.codes.str()) + "` is missing, to which this tensor belongs",
              "the files are incomplete: download all of them again");
      }
  }
  return view;
}

} // namespace heddle
