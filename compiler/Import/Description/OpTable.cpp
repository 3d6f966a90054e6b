// The rows of OpTable.h: ops, functions and activations of the language as data. The tables of language.md sections 3,
// 5 and 10 are printed from it.
#include "compiler/Import/Description/OpTable.h"

using namespace heddle;
using llvm::StringRef;

using Role = AttrRole;
using Type = AttrType;

// Attributes that several ops have.
static const AttrInfo weights = {"weights", Role::Weight, Type::Name, "none"};
static const AttrInfo weight = {"weight", Role::Weight, Type::Weight, "weights.weight"};
static const AttrInfo bias = {"bias", Role::Weight, Type::WeightOrOff, "true: weights.bias"};
static const AttrInfo axis = {"axis", Role::Required, Type::Integer, ""};
static const AttrInfo axes = {"axis", Role::Required, Type::Integers, ""};
static const AttrInfo keep = {"keep", Role::Optional, Type::Bool, "false"};
static const AttrInfo lastAxis = {"axis", Role::Optional, Type::Integer, "-1"};

static AttrInfo eps(StringRef value) { return {"eps", Role::Optional, Type::Real, value}; }

/// One row an op: name, operands, whether it takes any number, shapes, formula, the axis along which rows depend on
/// each other ("-": none), source, attributes. The texts are those of the page.
static std::vector<OpInfo> makeOps() {
  // clang-format off
  return {
      //===--- weights ---------------------------------------------------------===//
      {"linear", {"x"}, false, "[..., n] → [..., out]",
       "x Wᵀ + b; split: m = groups × Σparts × unit, result j takes its parts of every group", "-", "",
       {weights, weight, bias,
        {"layout", Role::Optional, Type::Choice, "out_in", {"out_in", "in_out"}},
        {"out", Role::Assert, Type::Integer, ""},
        {"split", Role::Optional, Type::Split, "none"},
        {"groups", Role::Optional, Type::Integer, "1, only with split"}}},
      {"embedding", {"ids"}, false, "i64[...] → [..., width]", "row of the table; an id outside is a run-time error", "-", "",
       {weights, weight,
        {"rows", Role::Assert, Type::Integer, ""},
        {"width", Role::Assert, Type::Integer, ""}}},
      {"parameter", {}, false, "→ as the weight", "the weight itself", "-", "",
       {weights, weight, {"shape", Role::Assert, Type::Integers, ""}}},
      {"conv", {"x"}, false, "[B, L..., c] → [B, L'..., out]", "cross-correlation, channels last; rank from the weight [m, c/groups, k...]", "L", "LeCun",
       {weights, weight, bias,
        {"stride", Role::Optional, Type::Integers, "1"},
        {"dilation", Role::Optional, Type::Integers, "1"},
        {"groups", Role::Optional, Type::Integer, "1"},
        {"padding", Role::Optional, Type::Padding, "0; a number, a list, or [[before, after]...]"},
        {"out", Role::Assert, Type::Integer, ""},
        {"taps", Role::Assert, Type::Integers, ""}}},
      {"experts", {"x", "gates"}, false, "[..., n], [..., count] → [..., m]",
       "Σₑ gates[..., e] · blockₑ(x); of gates that a top_k has chosen, 0 leaves an expert out", "-", "Shazeer 2017",
       {weights,
        {"count", Role::Required, Type::Integer, ""},
        {"block", Role::Required, Type::Name, ""},
        {"index", Role::Optional, Type::Name, "e, for use in weights"}}},
      {"bucket_bias", {}, false, "→ bias", "table[bucket(j-i), h]; logarithm in float32 as published", "", "Raffel 2019",
       {weights, weight,
        {"heads", Role::Required, Type::Integer, ""},
        {"buckets", Role::Required, Type::Integer, ""},
        {"max_distance", Role::Required, Type::Integer, ""},
        {"two_sided", Role::Optional, Type::Bool, "false"}}},
      //===--- norms -----------------------------------------------------------===//
      {"layer_norm", {"x"}, false, "same", "(x-μ)/√(σ²+eps)·w + b over the last axis", "-", "",
       {weights, weight, bias, eps("1e-5"), {"affine", Role::Optional, Type::Bool, "true: has a weight"}}},
      {"rms_norm", {"x"}, false, "same", "x/√(mean x²+eps)·(offset+w)", "-", "",
       {weights, weight, eps("1e-6"), {"offset", Role::Optional, Type::Real, "0"}}},
      {"group_norm", {"x"}, false, "same", "over all positions and the channels of a group", "T", "",
       {weights, weight, bias, {"groups", Role::Required, Type::Integer, ""}, eps("1e-5")}},
      {"batch_norm", {"x"}, false, "same", "with running_mean and running_var of the file", "-", "", {weights, eps("1e-5")}},
      {"l2_norm", {"x"}, false, "same", "x/max(‖x‖, eps) over the last axis", "-", "", {eps("1e-12")}},
      //===--- positions -------------------------------------------------------===//
      {"sinusoidal", {"positions"}, false, "[...] → [..., width]", "angle p·theta^(-2i/width); interleaved s c s c, halves s..s c..c", "-", "Vaswani 2017",
       {{"width", Role::Required, Type::Integer, ""},
        {"layout", Role::Optional, Type::Choice, "interleaved", {"interleaved", "halves"}},
        {"theta", Role::Optional, Type::Real, "10000"}}},
      {"rotary", {"x"}, false, "[B, T, heads·head_width] → same",
       "each head's first 2n features turn in pairs by position·frequencies[i], n = len(frequencies); the rest pass; formulas below", "-", "Su 2021",
       {{"positions", Role::Required, Type::Tensor, ""},
        {"frequencies", Role::Required, Type::Tensor, ""},
        {"head_width", Role::Required, Type::Integer, ""},
        {"style", Role::Optional, Type::Choice, "halves", {"halves", "pairs"}},
        {"amplitude", Role::Optional, Type::Number, "1, on cos and sin"}}},
      {"interpolate", {"x"}, false, "[B, H, W, c] → [B, size..., c]",
       "result i reads (i+½)/scale - ½; 2 taps or 4 (a = -¾); beyond an edge the edge", "H, W", "Keys 1981",
       {{"size", Role::Required, Type::Sizes, ""},
        {"method", Role::Optional, Type::Choice, "bilinear", {"bilinear", "bicubic"}},
        {"scale", Role::Optional, Type::Sizes, "size / old"}}},
      //===--- attention and biases --------------------------------------------===//
      {"attention", {"q", "k", "v"}, false, "[B, T, h·w], [B, S, g·w], [B, S, g·u] → [B, T, h·u]",
       "scores = scale·q·kᵀ → softcap → + bias → mask → softmax (exp(sink) joins the denominator) → ·v", "T over S, within the mask", "Vaswani 2017",
       {{"heads", Role::Required, Type::Integer, ""},
        {"kv_heads", Role::Optional, Type::Integer, "heads"},
        {"mask", Role::Optional, Type::Mask, "all"},
        {"bias", Role::Optional, Type::Bias, "none"},
        {"scale", Role::Optional, Type::Real, "1/√w"},
        {"softcap", Role::Optional, Type::Real, "none: c·tanh(s/c)"},
        {"sinks", Role::Optional, Type::Tensor, "none: [h]"},
        {"key_start", Role::Optional, Type::Size, "0"}}},
      {"alibi", {"heads or slopes"}, false, "a number, or [heads] → bias", "m_h·(j-i), or -m_h·|j-i| with symmetric", "", "Press 2021",
       {{"symmetric", Role::Optional, Type::Bool, "false"}}},
      {"alibi_slopes", {"heads"}, false, "a number → [heads]", "the [h] slopes of alibi as a tensor", "-", "Press 2021", {}},
      {"relative_dot", {"x", "table"}, false, "[B, rows, h·w], [n, w] or [n, h·w] → bias",
       "x_i·R[zero+(i-j)] per head, index clamped to the table; side key: x_j·R[...]", "", "Shaw 2018, Dai 2019, He 2020",
       {{"heads", Role::Required, Type::Integer, ""},
        {"zero", Role::Required, Type::Size, ""},
        {"side", Role::Optional, Type::Choice, "query", {"query", "key"}},
        {"bucket", Role::Optional, Type::Integers, "none; [size, far]: i-j is first mapped to DeBERTa's log buckets"}}},
      {"dense_bias", {"t"}, false, "[T, S], [B, T, S] or [B, H, T, S] → bias", "a tensor as a bias; axes of 1 are never expanded", "", "", {}},
      //===--- moving and reducing ---------------------------------------------===//
      {"matmul", {"a", "b"}, false, "[..., a, b], [..., b, c] → [..., a, c]", "between two values", "the contracted axis; rows of the second", "", {}},
      {"top_k", {"x"}, false, "same", "the k largest of the last axis stay, others become fill; ties: lower index; a NaN is the largest", "-", "",
       {{"k", Role::Required, Type::Integer, ""}, {"fill", Role::Optional, Type::Real, "0"}}},
      {"mean", {"x"}, false, "without axis", "over axis (a list too)", "the axis", "", {axes, keep}},
      {"sum", {"x"}, false, "without axis", "over axis (a list too)", "the axis", "", {axes, keep}},
      {"max", {"x"}, false, "without axis", "over axis (a list too)", "the axis", "", {axes, keep}},
      {"argmax", {"x"}, false, "i64, without axis", "over axis; the first of equals; a NaN is the largest", "the axis", "", {axis}},
      {"cumsum", {"x"}, false, "same", "Σ of rows up to this one", "the axis, backwards", "", {axis}},
      {"softmax", {"x"}, false, "same", "along axis", "the axis", "", {lastAxis}},
      {"log_softmax", {"x"}, false, "same", "along axis", "the axis", "", {lastAxis}},
      {"concat", {"x..."}, true, "→ longer along axis", "along axis; other axes broadcast", "- (moves)", "", {axis}},
      {"pad", {"x"}, false, "→ longer along axis", "rows of value along axis: `before` in front, `after` at the end", "- (moves)", "",
       {axis,
        {"before", Role::Optional, Type::Size, "0"},
        {"after", Role::Optional, Type::Size, "0"},
        {"value", Role::Optional, Type::Real, "0"}}},
      {"gather", {"x", "at"}, false, "[B, T, ...], [B] or [B, n] → [B, ...] or [B, n, ...]", "rows by position", "T", "", {}},
      {"rearrange", {"x"}, false, "→ other axes", "einops pattern, \"b t (h d) -> b h t d\"", "-", "",
       {{"pattern", Role::Required, Type::Text, ""},
        {"sizes", Role::Optional, Type::SizeMap, "none; lengths that cannot be divided out"}}},
  };
  // clang-format on
}

llvm::ArrayRef<OpInfo> heddle::allOps() {
  static const std::vector<OpInfo> ops = makeOps();
  return ops;
}

const OpInfo *heddle::findOp(StringRef name) {
  for (const OpInfo &op : allOps())
    if (op.name == name)
      return &op;
  return nullptr;
}

const AttrInfo *OpInfo::attribute(StringRef wanted) const {
  for (const AttrInfo &a : attributes)
    if (a.name == wanted)
      return &a;
  return nullptr;
}

static const FunctionInfo functions[] = {
    {"abs", 1, 1, "arithmetic", "|x|"},
    {"sqrt", 1, 1, "arithmetic", "√x"},
    {"exp", 1, 1, "arithmetic", "eˣ"},
    {"log", 1, 1, "arithmetic", "natural logarithm"},
    {"sin", 1, 1, "arithmetic", "of radians"},
    {"cos", 1, 1, "arithmetic", "of radians"},
    {"floor", 1, 1, "arithmetic", "of a constant an integer"},
    {"ceil", 1, 1, "arithmetic", "of a constant an integer"},
    {"min", 1, -1, "arithmetic", "mixes tensors and constants"},
    {"max", 1, -1, "arithmetic", "mixes tensors and constants"},
    {"clip", 3, 3, "arithmetic", "clip(x, lo, hi)"},
    {"int", 1, 1, "arithmetic", "towards zero"},
    {"real", 1, 1, "arithmetic", "of a list of numbers a tensor"},
    {"bf16", 1, 1, "arithmetic", "to bfloat16 and back"},
    {"relu", 1, 1, "activations", "max(x, 0)"},
    {"gelu", 1, 1, "activations", "x/2·(1 + erf(x/√2))"},
    {"gelu_tanh", 1, 1, "activations", "x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³)))"},
    {"quick_gelu", 1, 1, "activations", "x·sigmoid(1.702·x)"},
    {"silu", 1, 1, "activations", "x·sigmoid(x)"},
    {"sigmoid", 1, 1, "activations", "1/(1 + e⁻ˣ)"},
    {"tanh", 1, 1, "activations", "(eˣ - e⁻ˣ)/(eˣ + e⁻ˣ)"},
    {"activation", 2, 2, "activations", "activation(x, name)"},
    {"range", 1, 2, "sizes", "range(n), range(a, b) as i64"},
    {"size", 2, 2, "sizes", "size(x, axis)"},
    {"len", 1, 1, "sizes", "of a list"},
    {"each", 2, 2, "sizes", "each(x, n): a list of n as it is, one thing n times: keys that are a number or a list"},
};

llvm::ArrayRef<FunctionInfo> heddle::allFunctions() {
  static const std::vector<FunctionInfo> all = [] {
    std::vector<FunctionInfo> all(std::begin(functions), std::end(functions));
    for (const MaskLeaf &leaf : maskLeaves())
      all.push_back(leaf.info);
    return all;
  }();
  return all;
}

const FunctionInfo *heddle::findFunction(StringRef name) {
  for (const FunctionInfo &f : allFunctions())
    if (f.name == name)
      return &f;
  return nullptr;
}

// clang-format off
static const std::pair<StringRef, StringRef> activations[] = {
    {"relu", "relu"},           {"gelu", "gelu"},
    {"gelu_tanh", "gelu_tanh"}, {"quick_gelu", "quick_gelu"},
    {"silu", "silu"},           {"sigmoid", "sigmoid"},
    {"tanh", "tanh"},           {"relu2", "relu2"},
    {"softplus", "softplus"},   {"linear", "linear"},
    {"gelu_new", "gelu_tanh"},  {"gelu_pytorch_tanh", "gelu_tanh"},
    {"gelu_fast", "gelu_tanh"}, {"gelu_python", "gelu"},
    {"swish", "silu"},
};
// clang-format on

StringRef heddle::canonicalActivation(StringRef name) {
  for (auto &a : activations)
    if (a.first == name)
      return a.second;
  return "";
}

std::vector<StringRef> heddle::activationNames() {
  std::vector<StringRef> out;
  for (auto &a : activations)
    out.push_back(a.first);
  return out;
}

bool heddle::isNamedMask(StringRef name) { return name == "causal" || name == "all"; }
