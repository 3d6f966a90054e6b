//===- Models.h - small models, legal to cache and not ----------*- C++ -*-===//
//
// One small body for each rule of step.md: an embedding before and a head behind are given.
// Each is one idea about what may reach what.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TEST_CONVERSION_MODELTOENTRIES_MODELS_H
#define HEDDLE_TEST_CONVERSION_MODELTOENTRIES_MODELS_H

#include <string>
#include <vector>

namespace heddle::testing {

struct Model {
  std::string name;
  std::string body;   ///< statements, each ending with a comma
  std::string inputs; ///< beside ids and mask: "kinds", "n", "seen", "far"
  std::string why;    ///< of the refusal, a part of it; empty: legal
  bool guard = false; ///< a step may ask to begin again
};

inline std::string layer(const std::string &mask = "=causal and keys(mask)", const std::string &more = "") {
  return R"j({"q": {"linear": "x", "weights": "q"}}, {"k": {"linear": "x", "weights": "k"}}, {"v": {"linear": "x", "weights": "v"}},
            {"a": {"attention": ["q", "k", "v"], "mask": ")j" +
         mask + "\"" + more + R"j(}}, {"x": "=x + a"},)j";
}

inline std::vector<Model> models() {
  const std::string L = layer();
  auto again = [](const std::string &s) { return s + s; };
  // clang-format off
  return {
      // Legal.
      {"TwoCausalLayers", L + L, "", ""},
      {"Repeat", R"j({"repeat": 3, "index": "i", "weights": "layers.{i}", "body": [)j" + L.substr(0, L.size() - 1) + "]},", "", ""},
      {"RepeatWithHidden", R"j({"repeat": 3, "index": "i", "weights": "layers.{i}", "body": [{"y": "=x * 2"}, {"x": "=x + y * 0.1"},)j" +
                           L.substr(0, L.size() - 1) + "]},", "", ""},
      {"NothingReadsOldRows", layer("=keys(mask)"), "", ""},
      {"LastLayerNotCausal", L + layer("=keys(mask)"), "", ""},
      {"MeanAtTheEnd", L + R"j({"m": {"mean": "x", "axis": 1}}, {"logits": {"linear": "m", "weights": "head"}},)j", "", ""},
      {"MeanAndMaxAfterTheLastLayer", L + R"j({"m": {"mean": "x", "axis": 1, "keep": true}}, {"n": {"max": "x", "axis": 1, "keep": true}}, {"x": "=x + m + n"},)j", "", ""},
      {"LastTokenTellsAllAtTheEnd", L + R"j({"x": "=x + x[:, -1:]"},)j", "", ""},
      {"LastRowOnly", L + R"j({"y": "=x[:, -1]"}, {"logits": {"linear": "y", "weights": "head"}},)j", "", ""},
      {"FirstTokenTellsAll", L + R"j({"x": "=x + x[:, :1]"},)j" + L, "", ""},
      {"TokenShift", R"j({"z": {"parameter": [], "weight": "row"}}, {"y": {"concat": ["z", "=x[:, :-1]"], "axis": 1}}, {"y": {"linear": "y", "weights": "l"}}, {"x": "=x + y"},)j" + L, "", ""},
      {"TokenShiftByPad", again(R"j({"y": {"pad": "=x[:, :-2]", "axis": 1, "before": 2}}, {"x": "=x + y"},)j") + L, "", ""},
      {"CausalConvolution", R"j({"y": {"conv": "x", "padding": [[2, 0]], "weights": "c"}}, {"x": "=x + y"},)j" + L, "", ""},
      {"DilatedConvolution", R"j({"y": {"conv": "x", "padding": [[6, 0]], "dilation": 3, "weights": "c"}}, {"x": "=x + y"},)j" + L, "", ""},
      {"LinearAttentionByCumsum", R"j({"k": {"linear": "x", "weights": "k"}}, {"v": {"linear": "x", "weights": "v"}}, {"s": {"cumsum": "=k[:, :, :, null] * v[:, :, null, :]", "axis": 1}},
        {"y": {"sum": "=x[:, :, :, null] * s", "axis": 2}}, {"x": "=x + y * 0.1"},)j" + L, "", ""},
      {"Window", again(layer("=causal and keys(mask) and window(3, 0)")), "", ""},
      {"MaskChangesAtALength", again(layer("=causal and keys(mask) and (T > 9 ? window(2, 0) : all)")), "", "", true},
      {"BiasFromATableOfPositions", R"j({"u": "=range(T)"}, {"b": {"dense_bias": "=-abs(u[null, :] - u[:, null]) * 0.3"}},)j" +
        again(layer("=causal and keys(mask)", ", \"bias\": \"=b\"")), "", ""},
      {"BiasFromWhatBothTokensAre", R"j({"b": {"dense_bias": "=real(ids[:, null, null, :] == ids[:, null, :, null])"}},)j" +
        again(layer("=causal and keys(mask)", ", \"bias\": \"=b\"")), "", ""},
      {"Alibi", R"j({"b": {"alibi": 2}},)j" + again(layer("=causal and keys(mask)", ", \"bias\": \"=b\"")), "", ""},
      {"Documents", R"j({"d": {"cumsum": "=int(ids == 3)", "axis": 1}},)j" + layer("=causal and document(d) and keys(mask)") + L, "", ""},
      {"WindowOverLabels", R"j({"d": {"cumsum": "=int(ids == 3)", "axis": 1}},)j" + layer("=causal and window(1, 0, d) and keys(mask)") + L, "", ""},
      {"LatentsThatReadTheText", L + R"j({"z": {"parameter": [], "weight": "latent"}}, {"k": {"linear": "x", "weights": "k"}}, {"y": {"attention": ["=z + 0 * x[:, :1]", "k", "k"], "mask": "=keys(mask)"}},
        {"m": {"sum": "y", "axis": 1}}, {"logits": {"linear": "m", "weights": "head"}},)j", "", ""},
      {"LearnedRowsBeforeTheKeys", R"j({"z": {"parameter": [], "weight": "memory"}}, {"k": {"concat": ["z", "x"], "axis": 1}}, {"a": {"attention": ["x", "k", "k"], "mask": "=causal", "key_start": -4}}, {"x": "=x + a"},)j" + L, "", ""},
      {"InputThatGrowsByAConstant", R"j({"p": {"embedding": "kinds", "weights": "table"}}, {"x": "=x + p"},)j" + L + L, R"j("kinds": "i64[B,T]")j", ""},
      {"OwnRelativeScores", R"j({"r": {"sinusoidal": "=range(T)", "width": 8}}, {"b": {"relative_dot": ["x", "r"], "heads": 2, "zero": 0}},)j" +
        layer("=causal and keys(mask)", ", \"bias\": \"=b\"") + L, "", ""},
      {"CountedPositions", R"j({"n": {"cumsum": "mask", "axis": 1}}, {"p": {"embedding": "=mask ? n - 1 : 1", "weights": "table"}}, {"x": "=x + p"},)j" + L + L, "", ""},
      {"CountedKeysInTheScores", R"j({"n": {"cumsum": "mask", "axis": 1}}, {"b": {"dense_bias": "=bf16(0.3 * ((n - 1) * mask)[:, null, null, :])"}},)j" +
        again(layer("=causal and keys(mask)", ", \"bias\": \"=b\"")), "", ""},
      {"Memory", R"j({"f": {"embedding": "far", "weights": "table"}}, {"g": {"linear": "f", "weights": "l"}}, {"kk": {"linear": "g", "weights": "k"}},)j" + L +
        R"j({"q": {"linear": "x", "weights": "q"}}, {"a": {"attention": ["q", "kk", "g"], "mask": "=keys(far != 1)"}}, {"x": "=x + a"},)j" + L, R"j("far": "i64[B,S]")j", ""},
      {"MemoryInARepeat", R"j({"f": {"embedding": "far", "weights": "table"}}, {"repeat": 2, "index": "i", "weights": "e.{i}", "body": [)j"
        R"j({"f": {"linear": "f", "weights": "l"}}]}, {"repeat": 2, "index": "i", "weights": "layers.{i}", "body": [{"kk": {"linear": "f", "weights": "l"}},)j" + L +
        R"j({"a": {"attention": ["x", "kk", "f"], "mask": "=keys(far != 1)"}}, {"x": "=x + a"}]},)j", R"j("far": "i64[B,S]")j", ""},
      {"DynamicPositions", R"j({"f": "=1 / (1 + max(T, 9)) * real(range(2))"}, {"q": {"rotary": "x", "positions": "=range(T)", "frequencies": "=f", "head_width": 4}}, {"a": {"attention": ["q", "q", "x"], "mask": "=causal"}}, {"x": "=x + a"},)j" + L, "", "", true},

      // Not.
      {"BidirectionalFirstLayer", layer("=keys(mask)") + L, "", "its mask does not imply causal"},
      {"WindowAhead", layer("=keys(mask) and window(2, 1)") + L, "", "it reaches 1 ahead"},
      {"DenseNeverProved", R"j({"u": "=range(T)"},)j" + layer("=dense(u[null, :] <= u[:, null])") + L, "", "does not imply causal"},
      {"KeysOfAGlobalToken", layer("=causal or keys(ids == 3)") + L, "", "does not imply causal"},
      {"NormOverPositions", L + R"j({"x": {"group_norm": "x", "groups": 2, "weights": "n"}},)j" + L, "", "statistics over all positions"},
      {"MeanBetweenLayers", L + R"j({"m": {"mean": "x", "axis": 1, "keep": true}}, {"x": "=x + m"},)j" + L, "", "mean over the step axis changes with every token"},
      {"MaxBetweenLayers", L + R"j({"m": {"max": "x", "axis": 1, "keep": true}}, {"x": "=x + m"},)j" + L, "", "max over the step axis changes with every token"},
      {"LastTokenTellsAll", L + R"j({"x": "=x + x[:, -1:]"},)j" + L, "", "changes with every token"},
      {"Flip", R"j({"y": {"gather": ["x", "=T - 1 - range(T) + ids * 0"]}}, {"x": "=x + y"},)j" + L, "", "changes with every token"},
      {"ConvolutionAhead", R"j({"y": {"conv": "x", "padding": 1, "weights": "c"}}, {"x": "=x + y"},)j" + L, "", "conv looks 1 row ahead"},
      {"ConvolutionWithStride", R"j({"y": {"conv": "x", "padding": [[2, 0]], "stride": 2, "weights": "c"}}, {"k": {"linear": "y", "weights": "k"}}, {"a": {"attention": ["x", "k", "k"]}}, {"x": "=x + a"},)j" + L, "", "stride 2: not a row a token"},
      {"PositionsFromTheEnd", R"j({"p": {"embedding": "=T - 1 - range(T)", "weights": "table"}}, {"x": "=x + p"},)j" + L, "", "the length T"},
      {"DividedByTheLength", R"j({"x": "=x / sqrt(T)"},)j" + L, "", "the length T changes with every token"},
      {"NormOnATurnedAxis", R"j({"y": {"rearrange": "x", "pattern": "b t d -> b d t"}}, {"y": {"softmax": "y"}}, {"y": {"rearrange": "y", "pattern": "b d t -> b t d"}}, {"x": "=x + y"},)j" + L, "", "softmax along the step axis"},
      {"AttentionByHand", R"j({"y": {"rearrange": "x", "pattern": "b t d -> b d t"}}, {"s": {"matmul": ["x", "y"]}}, {"s": {"softmax": "s"}}, {"y": {"matmul": ["s", "x"]}}, {"x": "=x + y"},)j" + L, "", "say it with `attention`"},
      {"BlocksOfTheText", R"j({"y": {"rearrange": "x", "pattern": "b (n w) d -> b n w d", "sizes": {"w": 1}}}, {"y": {"sum": "y", "axis": 2}}, {"x": "=x + y"},)j" + L, "", "splits the step axis"},
      {"Rotation", R"j({"x": {"concat": ["=x[:, 1:]", "=x[:, :1]"], "axis": 1}},)j" + L, "", "a row's place changes"},
      {"InputWithoutRole", layer("=causal and dense(seen)") + L, R"j("seen": "bool[T,T]")j", "gives it no role"},
      {"GatherAnywhere", R"j({"w": {"gather": ["x", "=(range(T) + ids * 0) * 0 + 2"]}}, {"x": "=x + w"},)j" + L, "", "gather takes rows of any position"},
  };
  // clang-format on
}

} // namespace heddle::testing

#endif
