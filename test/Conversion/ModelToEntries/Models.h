//===- Models.h - small models, legal to cache and not ----------*- C++ -*-===//
//
// The bodies of reference/language/step.py: an embedding before and a head behind are given.
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
  return R"({"q": {"linear": "x", "weights": "q"}}, {"k": {"linear": "x", "weights": "k"}}, {"v": {"linear": "x", "weights": "v"}},
            {"a": {"attention": ["q", "k", "v"], "mask": ")" + mask + "\"" + more + R"(}}, {"x": "=x + a"},)";
}

inline std::vector<Model> models() {
  const std::string L = layer();
  auto again = [](const std::string &s) { return s + s; };
  return {
      // Legal.
      {"TwoCausalLayers", L + L, "", ""},
      {"Repeat", R"({"repeat": 3, "index": "i", "weights": "layers.{i}", "body": [)" + L.substr(0, L.size() - 1) + "]},", "", ""},
      {"RepeatWithHidden", R"({"repeat": 3, "index": "i", "weights": "layers.{i}", "body": [{"y": "=x * 2"}, {"x": "=x + y * 0.1"},)" +
                           L.substr(0, L.size() - 1) + "]},", "", ""},
      {"NothingReadsOldRows", layer("=keys(mask)"), "", ""},
      {"LastLayerNotCausal", L + layer("=keys(mask)"), "", ""},
      {"MeanAtTheEnd", L + R"({"m": {"mean": "x", "axis": 1}}, {"logits": {"linear": "m", "weights": "head"}},)", "", ""},
      {"MeanAndMaxAfterTheLastLayer", L + R"({"m": {"mean": "x", "axis": 1, "keep": true}}, {"n": {"max": "x", "axis": 1, "keep": true}}, {"x": "=x + m + n"},)", "", ""},
      {"LastTokenTellsAllAtTheEnd", L + R"({"x": "=x + x[:, -1:]"},)", "", ""},
      {"LastRowOnly", L + R"({"y": "=x[:, -1]"}, {"logits": {"linear": "y", "weights": "head"}},)", "", ""},
      {"FirstTokenTellsAll", L + R"({"x": "=x + x[:, :1]"},)" + L, "", ""},
      {"TokenShift", R"({"z": {"parameter": [], "weight": "row"}}, {"y": {"concat": ["z", "=x[:, :-1]"], "axis": 1}}, {"y": {"linear": "y", "weights": "l"}}, {"x": "=x + y"},)" + L, "", ""},
      {"TokenShiftByPad", again(R"({"y": {"pad": "=x[:, :-2]", "axis": 1, "before": 2}}, {"x": "=x + y"},)") + L, "", ""},
      {"CausalConvolution", R"({"y": {"conv": "x", "padding": [[2, 0]], "weights": "c"}}, {"x": "=x + y"},)" + L, "", ""},
      {"DilatedConvolution", R"({"y": {"conv": "x", "padding": [[6, 0]], "dilation": 3, "weights": "c"}}, {"x": "=x + y"},)" + L, "", ""},
      {"LinearAttentionByCumsum", R"({"k": {"linear": "x", "weights": "k"}}, {"v": {"linear": "x", "weights": "v"}}, {"s": {"cumsum": "=k[:, :, :, null] * v[:, :, null, :]", "axis": 1}},
        {"y": {"sum": "=x[:, :, :, null] * s", "axis": 2}}, {"x": "=x + y * 0.1"},)" + L, "", ""},
      {"Window", again(layer("=causal and keys(mask) and window(3, 0)")), "", ""},
      {"MaskChangesAtALength", again(layer("=causal and keys(mask) and (T > 9 ? window(2, 0) : all)")), "", "", true},
      {"BiasFromATableOfPositions", R"({"u": "=range(T)"}, {"b": {"dense_bias": "=-abs(u[null, :] - u[:, null]) * 0.3"}},)" +
        again(layer("=causal and keys(mask)", ", \"bias\": \"=b\"")), "", ""},
      {"BiasFromWhatBothTokensAre", R"({"b": {"dense_bias": "=real(ids[:, null, null, :] == ids[:, null, :, null])"}},)" +
        again(layer("=causal and keys(mask)", ", \"bias\": \"=b\"")), "", ""},
      {"Alibi", R"({"b": {"alibi": 2}},)" + again(layer("=causal and keys(mask)", ", \"bias\": \"=b\"")), "", ""},
      {"Documents", R"({"d": {"cumsum": "=int(ids == 3)", "axis": 1}},)" + layer("=causal and document(d) and keys(mask)") + L, "", ""},
      {"WindowOverLabels", R"({"d": {"cumsum": "=int(ids == 3)", "axis": 1}},)" + layer("=causal and window(1, 0, d) and keys(mask)") + L, "", ""},
      {"LatentsThatReadTheText", L + R"({"z": {"parameter": [], "weight": "latent"}}, {"k": {"linear": "x", "weights": "k"}}, {"y": {"attention": ["=z + 0 * x[:, :1]", "k", "k"], "mask": "=keys(mask)"}},
        {"m": {"sum": "y", "axis": 1}}, {"logits": {"linear": "m", "weights": "head"}},)", "", ""},
      {"LearnedRowsBeforeTheKeys", R"({"z": {"parameter": [], "weight": "memory"}}, {"k": {"concat": ["z", "x"], "axis": 1}}, {"a": {"attention": ["x", "k", "k"], "mask": "=causal", "key_start": -4}}, {"x": "=x + a"},)" + L, "", ""},
      {"InputThatGrowsByAConstant", R"({"p": {"embedding": "kinds", "weights": "table"}}, {"x": "=x + p"},)" + L + L, R"("kinds": "i64[B,T]")", ""},
      {"OwnRelativeScores", R"({"r": {"sinusoidal": "=range(T)", "width": 8}}, {"b": {"relative_dot": ["x", "r"], "heads": 2, "zero": 0}},)" +
        layer("=causal and keys(mask)", ", \"bias\": \"=b\"") + L, "", ""},
      {"CountedPositions", R"({"n": {"cumsum": "mask", "axis": 1}}, {"p": {"embedding": "=mask ? n - 1 : 1", "weights": "table"}}, {"x": "=x + p"},)" + L + L, "", ""},
      {"Memory", R"({"f": {"embedding": "far", "weights": "table"}}, {"g": {"linear": "f", "weights": "l"}}, {"kk": {"linear": "g", "weights": "k"}},)" + L +
        R"({"q": {"linear": "x", "weights": "q"}}, {"a": {"attention": ["q", "kk", "g"], "mask": "=keys(far != 1)"}}, {"x": "=x + a"},)" + L, R"("far": "i64[B,S]")", ""},
      {"MemoryInARepeat", R"({"f": {"embedding": "far", "weights": "table"}}, {"repeat": 2, "index": "i", "weights": "e.{i}", "body": [)" +
        R"({"f": {"linear": "f", "weights": "l"}}]}, {"repeat": 2, "index": "i", "weights": "layers.{i}", "body": [{"kk": {"linear": "f", "weights": "l"}},)" + L +
        R"({"a": {"attention": ["x", "kk", "f"], "mask": "=keys(far != 1)"}}, {"x": "=x + a"}]},)", R"("far": "i64[B,S]")", ""},
      {"DynamicPositions", R"({"f": "=1 / (1 + max(T, 9)) * real(range(2))"}, {"q": {"rotary": "x", "positions": "=range(T)", "frequencies": "=f", "head_width": 4}}, {"a": {"attention": ["q", "q", "x"], "mask": "=causal"}}, {"x": "=x + a"},)" + L, "", "", true},

      // Not.
      {"BidirectionalFirstLayer", layer("=keys(mask)") + L, "", "its mask does not imply causal"},
      {"WindowAhead", layer("=keys(mask) and window(2, 1)") + L, "", "it reaches 1 ahead"},
      {"DenseNeverProved", R"({"u": "=range(T)"},)" + layer("=dense(u[null, :] <= u[:, null])") + L, "", "does not imply causal"},
      {"KeysOfAGlobalToken", layer("=causal or keys(ids == 3)") + L, "", "does not imply causal"},
      {"NormOverPositions", L + R"({"x": {"group_norm": "x", "groups": 2, "weights": "n"}},)" + L, "", "statistics over all positions"},
      {"MeanBetweenLayers", L + R"({"m": {"mean": "x", "axis": 1, "keep": true}}, {"x": "=x + m"},)" + L, "", "mean over the step axis changes with every token"},
      {"MaxBetweenLayers", L + R"({"m": {"max": "x", "axis": 1, "keep": true}}, {"x": "=x + m"},)" + L, "", "max over the step axis changes with every token"},
      {"LastTokenTellsAll", L + R"({"x": "=x + x[:, -1:]"},)" + L, "", "changes with every token"},
      {"Flip", R"({"y": {"gather": ["x", "=T - 1 - range(T) + ids * 0"]}}, {"x": "=x + y"},)" + L, "", "changes with every token"},
      {"ConvolutionAhead", R"({"y": {"conv": "x", "padding": 1, "weights": "c"}}, {"x": "=x + y"},)" + L, "", "conv looks 1 row ahead"},
      {"ConvolutionWithStride", R"({"y": {"conv": "x", "padding": [[2, 0]], "stride": 2, "weights": "c"}}, {"k": {"linear": "y", "weights": "k"}}, {"a": {"attention": ["x", "k", "k"]}}, {"x": "=x + a"},)" + L, "", "is not a row a token"},
      {"PositionsFromTheEnd", R"({"p": {"embedding": "=T - 1 - range(T)", "weights": "table"}}, {"x": "=x + p"},)" + L, "", "the length T"},
      {"DividedByTheLength", R"({"x": "=x / sqrt(T)"},)" + L, "", "the length T changes with every token"},
      {"NormOnATurnedAxis", R"({"y": {"rearrange": "x", "pattern": "b t d -> b d t"}}, {"y": {"softmax": "y"}}, {"y": {"rearrange": "y", "pattern": "b d t -> b t d"}}, {"x": "=x + y"},)" + L, "", "softmax along the step axis"},
      {"AttentionByHand", R"({"y": {"rearrange": "x", "pattern": "b t d -> b d t"}}, {"s": {"matmul": ["x", "y"]}}, {"s": {"softmax": "s"}}, {"y": {"matmul": ["s", "x"]}}, {"x": "=x + y"},)" + L, "", "say it with `attention`"},
      {"BlocksOfTheText", R"({"y": {"rearrange": "x", "pattern": "b (n w) d -> b n w d", "sizes": {"w": 1}}}, {"y": {"sum": "y", "axis": 2}}, {"x": "=x + y"},)" + L, "", "splits the step axis"},
      {"Rotation", R"({"x": {"concat": ["=x[:, 1:]", "=x[:, :1]"], "axis": 1}},)" + L, "", "a row's place changes"},
      {"InputWithoutRole", layer("=causal and dense(seen)") + L, R"("seen": "bool[T,T]")", "gives it no role"},
      {"GatherAnywhere", R"({"w": {"gather": ["x", "=(range(T) + ids * 0) * 0 + 2"]}}, {"x": "=x + w"},)" + L, "", "gather takes rows of any position"},
  };
}

} // namespace heddle::testing

#endif
