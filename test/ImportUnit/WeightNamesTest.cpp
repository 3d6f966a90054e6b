// From what is asked for to what is in the file (language.md section 7).
#include "compiler/Import/Weights/WeightNames.h"
#include "compiler/Import/Json/Diagnostics.h"

#include <gtest/gtest.h>

using namespace heddle;

namespace {
struct Names {
  PlainWeightTable table;
  WeightNames::Spec spec;
  DiagnosticSink sink;
  std::string why;

  explicit Names(std::vector<std::string> names) {
    for (auto &n : names)
      table.tensors[n] = {{2}, WeightTable::Element::Real};
  }
  std::string get(const std::string &asked) {
    WeightNames all(table, spec, "w", sink);
    auto found = all.get(asked, why);
    return found ? found->name : "";
  }
  std::string messages() {
    std::string out;
    llvm::raw_string_ostream os(out);
    sink.print(os);
    return out;
  }
};
} // namespace

TEST(WeightNames, EntriesEndOnWhatABlockAskedFor) {
  Names n({"h.0.fc1.weight", "fc1.weight", "mlp.c_fc.weight", "moe.gate.weight", "e.w1.weight"});
  n.spec.names = {{"ff.up", "fc1"}, {"up", "c_fc"}, {"gate", "w1"}};
  EXPECT_EQ(n.get("h.0|ff|up.weight"), "h.0.fc1.weight"); // all behind h.0 is the block's
  EXPECT_EQ(n.get("ff|up.weight"), "fc1.weight");         // begins in the body, ends in the block
  EXPECT_EQ(n.get("mlp|up.weight"), "mlp.c_fc.weight");
  EXPECT_EQ(n.get("moe.gate.weight"), "moe.gate.weight"); // no block asked
  EXPECT_EQ(n.get("e|gate.weight"), "e.w1.weight");
}

TEST(WeightNames, PrefixOnEitherSpelling) {
  Names n({"transformer.ln_f.weight", "lm_head.weight"});
  n.spec.prefix = "transformer.";
  EXPECT_EQ(n.get("ln_f.weight"), "transformer.ln_f.weight");
  EXPECT_EQ(n.get("lm_head.weight"), "lm_head.weight");
  n.table.tensors["ln_f.weight"] = {{2}, WeightTable::Element::Real};
  EXPECT_EQ(n.get("ln_f.weight"), "");
  EXPECT_NE(n.why.find("both in the file"), std::string::npos);
}

TEST(WeightNames, TiedIsReadFromTheOther) {
  Names n({"wte.weight"});
  n.spec.tied.push_back({"lm_head.weight", "wte.weight", nullptr});
  EXPECT_EQ(n.get("lm_head.weight"), "wte.weight");
}

TEST(WeightNames, ATiedCopyMustBeACopy) {
  Names n({"wte.weight", "lm_head.weight"});
  n.spec.tied.push_back({"lm_head.weight", "wte.weight", nullptr});
  n.table.different.push_back({"lm_head.weight", "wte.weight"});
  WeightNames all(n.table, n.spec, "w", n.sink);
  ASSERT_TRUE(all.get("lm_head.weight", n.why));
  all.finish();
  EXPECT_NE(n.messages().find("differs from wte.weight"), std::string::npos) << n.messages();
}

TEST(WeightNames, ACopyThatDiffersStandsForItselfWhereTheDescriptionSaysSo) {
  Names n({"wte.weight", "lm_head.weight"});
  n.spec.tied.push_back({"lm_head.weight", "wte.weight", nullptr});
  n.spec.own = true;
  EXPECT_EQ(n.get("lm_head.weight"), "wte.weight"); // equal
  n.table.different.push_back({"lm_head.weight", "wte.weight"});
  EXPECT_EQ(n.get("lm_head.weight"), "lm_head.weight");
  n.table.tensors.erase("lm_head.weight");
  EXPECT_EQ(n.get("lm_head.weight"), "wte.weight"); // absent
}

TEST(WeightNames, OlderSpellings) {
  Names n({"a.LayerNorm.gamma", "b.LayerNorm.weight"});
  n.spec.renamed = {{"*.LayerNorm.gamma", "*.LayerNorm.weight", nullptr}};
  EXPECT_EQ(n.get("a.LayerNorm.weight"), "a.LayerNorm.gamma");
  EXPECT_EQ(n.get("b.LayerNorm.weight"), "b.LayerNorm.weight");
  n.table.tensors["b.LayerNorm.gamma"] = {{2}, WeightTable::Element::Real};
  n.get("b.LayerNorm.weight");
  EXPECT_NE(n.messages().find("older spelling"), std::string::npos);
}

TEST(WeightNames, LeftOverIsAnErrorUnlessIgnored) {
  Names n({"a.weight", "h.0.attn.bias", "extra.weight"});
  n.spec.ignored = {"*.attn.bias", ""};
  WeightNames all(n.table, n.spec, "w", n.sink);
  all.get("a.weight", n.why);
  all.finish();
  EXPECT_NE(n.messages().find("1 tensor is not used by the description: extra.weight"), std::string::npos)
      << n.messages();
}

TEST(WeightNames, MissingNamesTheNearest) {
  Names n({"encoder.norm.weight"});
  EXPECT_EQ(n.get("encoder.nrom.weight"), "");
  EXPECT_NE(n.why.find("did you mean 'encoder.norm.weight'?"), std::string::npos) << n.why;
}
