// Rules S02 to S24 as a table: for each rule files that break it, the place that the
// message must point at, and files on the allowed side of the same line.
#include "compiler/Weights/Safetensors/SafetensorsHeader.h"
#include "test/Weights/Support.h"

using namespace heddle;
using namespace heddle::test;

namespace {

struct Broken {
  const char *what;
  int rule;
  std::string header;
  size_t data;
  /// Text in the header that the byte of the message must point at; empty: not checked.
  std::string at;
  const char *tensor = "";
};

struct Fine {
  const char *what;
  int rule;
  std::string header;
  size_t data;
};

std::string repeat(const std::string &text, size_t count) {
  std::string result;
  for (size_t i = 0; i < count; ++i)
    result += text;
  return result;
}

const std::string one = R"("dtype":"F32","shape":[1],"data_offsets":[0,4])";

std::string tensor(const std::string &type, const std::string &shape, const std::string &offsets) {
  return R"({"t":{"dtype":")" + type + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
}

std::string many(size_t count) {
  std::string header = "{";
  for (size_t i = 0; i < count; ++i)
    header += (i ? ",\"" : "\"") + std::to_string(i) + R"(":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  return header + "}";
}

std::vector<Broken> brokenHeaders() {
  // clang-format off
  return {
      {"overlong UTF-8", 3, "{\"a\xC0\x80\":{}}", 0, "\xC0"},
      {"a surrogate in UTF-8", 3, "{\"\xED\xA0\x80\":{}}", 0, "\xED"},
      {"cut UTF-8 at the end", 3, "{}\xE2\x82", 0, "\xE2"},
      {"a space first", 4, " {}", 0, " "},
      {"a byte order mark first", 4, "\xEF\xBB\xBF{}", 0, "\xEF"},
      {"an array", 4, "[]", 0, "["},
      {"an empty header", 4, "", 0, ""},
      {"a newline behind", 5, "{}\n", 0, "\n"},
      {"NUL behind", 5, std::string("{}  \0", 5), 0, std::string("\0", 1)},
      {"a second object behind", 5, "{} {}", 0, "{}"},
      {"too deep", 6, R"({"t":{"x":[[[]]]}})", 0, "[]]]"},
      {"very deep", 6, "{\"t\":" + repeat("[", 100000), 0, ""},
      {"NaN", 6, R"({"t":{"shape":[NaN]}})", 0, "NaN", "t"},
      {"Infinity", 6, R"({"t":{"shape":[Infinity]}})", 0, "Infinity", "t"},
      {"-Infinity", 6, R"({"t":{"shape":[-Infinity]}})", 0, "-Infinity", "t"},
      {"no closing brace", 6, R"({"t":{)" + one + "}", 4, ""},
      {"a trailing comma", 6, R"({"t":{)" + one + "},}", 4, "}"},
      {"a comment", 6, "{/**/}", 0, ""},
      {"a single quote", 6, "{'t':{}}", 0, ""},
      {"a lone surrogate escape", 6, R"({"\ud800":{}})", 0, ""},
      {"a raw control byte", 6, "{\"a\nb\":{}}", 0, ""},
      {"NUL between", 6, std::string("{\0}", 3), 0, ""},
      {"a leading zero", 6, tensor("F32", "[01]", "[0,4]"), 4, "", "t"},
      {"twice the same name", 7, R"({"t":{)" + one + R"(},"t":{)" + one + "}}", 4,
       R"("t":{)" + one + "}}", "t"},
      {"the same name escaped", 7, R"({"a":{)" + one + R"(},"\u0061":{)" + one + "}}", 4,
       R"("\u0061)", "a"},
      {"metadata twice", 7, R"({"__metadata__":{},"__metadata__":{}})", 0,
       R"("__metadata__":{}})"},
      {"metadata twice, escaped", 7, R"({"__metadata__":{},"\u005f_metadata__":{}})", 0,
       R"("\u005f)"},
      {"dtype twice", 8, R"({"t":{"dtype":"F32",)" + one + "}}", 4,
       "\"dtype\":\"F32\",\"shape\"", "t"},
      {"shape twice", 8, R"({"t":{"shape":[1],)" + one + "}}", 4, "\"shape\":[1],\"data",
       "t"},
      {"data_offsets twice", 8, R"({"t":{"data_offsets":[0,4],)" + one + "}}", 4,
       "\"data_offsets\":[0,4]}", "t"},
      {"a metadata key twice", 8, R"({"__metadata__":{"a":"x","\u0061":"y"}})", 0,
       R"("\u0061)"},
      {"metadata with a number", 9, R"({"__metadata__":{"a":1}})", 0, "1"},
      {"metadata with null", 9, R"({"__metadata__":{"a":null}})", 0, "null"},
      {"metadata with an object", 9, R"({"__metadata__":{"a":{}}})", 0, "{}}"},
      {"metadata with an array", 9, R"({"__metadata__":{"a":[]}})", 0, "[]"},
      {"metadata that is a string", 9, R"({"__metadata__":"x"})", 0, "\"x\""},
      {"metadata that is a number", 9, R"({"__metadata__":1.5})", 0, "1.5"},
      {"an unknown field", 10, R"({"t":{"device":"cpu",)" + one + "}}", 4, "\"device\"",
       "t"},
      {"no dtype", 10, R"({"t":{"shape":[1],"data_offsets":[0,4]}})", 4, "\"t\"", "t"},
      {"no shape", 10, R"({"t":{"dtype":"F32","data_offsets":[0,4]}})", 4, "\"t\"", "t"},
      {"no data_offsets", 10, R"({"t":{"dtype":"F32","shape":[1]}})", 4, "\"t\"", "t"},
      {"a tensor that is an array", 10, R"({"t":[]})", 0, "[]"},
      {"a tensor that is a string", 10, R"({"t":"x"})", 0, "\"x\""},
      {"an unknown dtype", 11, tensor("Q31", "[1]", "[0,4]"), 4, "\"Q31\"", "t"},
      {"a lower case dtype", 11, tensor("f32", "[1]", "[0,4]"), 4, "\"f32\"", "t"},
      {"a dtype that is a number", 11, R"({"t":{"dtype":32}})", 0, "32", "t"},
      {"a valid dtype that is not supported", 11, tensor("F8_E4M3FNUZ", "[4]", "[0,4]"), 4,
       "\"F8_E4M3FNUZ\"", "t"},
      {"a negative dimension", 12, tensor("F32", "[-1]", "[0,4]"), 4, "-1", "t"},
      {"minus zero", 12, tensor("F32", "[-0]", "[0,0]"), 0, "-0", "t"},
      {"a fraction", 12, tensor("F32", "[1.0]", "[0,4]"), 4, "1.0", "t"},
      {"an exponent", 12, tensor("F32", "[1e0]", "[0,4]"), 4, "1e0", "t"},
      {"2^63", 12, tensor("F32", "[9223372036854775808]", "[0,4]"), 4, "9223", "t"},
      {"2^64", 12, tensor("F32", "[18446744073709551616]", "[0,4]"), 4, "1844", "t"},
      {"more than a double holds", 12, tensor("F32", "[1e400]", "[0,4]"), 4, "1e400", "t"},
      {"seventeen dimensions", 12,
       tensor("F32", "[1" + repeat(",1", 16) + "]", "[0,4]"), 4, "1],", "t"},
      {"a string as dimension", 12, tensor("F32", "[\"1\"]", "[0,4]"), 4, "\"1\"", "t"},
      {"a nested shape", 12, tensor("F32", "[[1]]", "[0,4]"), 4, "[1]", "t"},
      {"a shape that is a number", 12, tensor("F32", "1", "[0,4]"), 4, "1", "t"},
      {"a product of 2^63", 13, tensor("U8", "[4611686018427387904,2]", "[0,4]"), 4, "[4",
       "t"},
      {"a product of 2^64 = 0", 13, tensor("U8", "[4294967296,4294967296]", "[0,0]"), 0,
       "[4", "t"},
      {"an overflow beside a zero", 13,
       tensor("U8", "[0,4294967296,4294967296]", "[0,0]"), 0, "[0,4", "t"},
      {"2^63-1 elements of 8 bytes", 14, tensor("F64", "[9223372036854775807]", "[0,4]"),
       4, "[9", "t"},
      {"2^61 elements of 8 bytes: 0 in 64 bits", 14,
       tensor("F64", "[2305843009213693952]", "[0,0]"), 0, "[2", "t"},
      {"three elements of 4 bits", 14, tensor("F4", "[3]", "[0,2]"), 2, "[3]", "t"},
      {"two elements of 6 bits", 14, tensor("F6_E2M3", "[2]", "[0,2]"), 2, "[2]", "t"},
      {"one offset", 15, tensor("F32", "[1]", "[4]"), 4, "[4]", "t"},
      {"no offset", 15, tensor("F32", "[1]", "[]"), 4, "[]", "t"},
      {"three offsets", 15, tensor("F32", "[1]", "[0,4,4]"), 4, "4]}", "t"},
      {"a negative offset", 15, tensor("F32", "[1]", "[-4,0]"), 4, "-4", "t"},
      {"a fractional offset", 15, tensor("F32", "[1]", "[0,4.0]"), 4, "4.0", "t"},
      {"an offset of 2^64", 15, tensor("F32", "[1]", "[0,18446744073709551616]"), 4,
       "1844", "t"},
      {"offsets that are an object", 15, tensor("F32", "[1]", "{}"), 4, "{}}", "t"},
      {"an end before its beginning", 16, tensor("F32", "[1]", "[4,0]"), 4, "[4,0]", "t"},
      {"an end one byte outside", 17, tensor("F32", "[2]", "[0,8]"), 7, "[0,8]", "t"},
      {"an end at 2^64-1", 17, tensor("F32", "[1]", "[0,18446744073709551615]"), 4, "[0,",
       "t"},
      {"one byte too few", 18, tensor("F32", "[1]", "[0,3]"), 4, "[0,3]", "t"},
      {"one byte too many", 18, tensor("F32", "[1]", "[0,5]"), 5, "[0,5]", "t"},
      {"a gap at the beginning", 19, tensor("F32", "[1]", "[4,8]"), 8, "", "t"},
      {"a gap in the middle", 19,
       R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
       R"("b":{"dtype":"U8","shape":[2],"data_offsets":[3,5]}})",
       5, "", "b"},
      {"an overlap", 19,
       R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
       R"("b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
       3, "", "b"},
      {"two names for the same bytes", 19,
       R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
       R"("b":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})",
       2, "", "b"},
      {"a byte behind the last tensor", 20, tensor("F32", "[1]", "[0,4]"), 5, "", "t"},
      {"data without tensors", 20, "{}", 1, ""},
      {"an empty tensor inside another", 21,
       R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
       R"("b":{"dtype":"U8","shape":[0],"data_offsets":[2,2]}})",
       4, "", "b"},
      {"NUL in a name", 23, R"({"a\u0000b":{)" + one + "}}", 4, "\"a"},
      {"a name of 4097 bytes", 23,
       "{\"" + std::string(4097, 'n') + "\":{" + one + "}}", 4, "\"nn"},
      {"one tensor too many", 24, many(101), 0, "\"100\""},
  };
  // clang-format on
}

std::vector<Fine> fineHeaders() {
  // clang-format off
  return {
      {"all of UTF-8 in a name", 3, "{\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\":{" + one + "}}", 4},
      {"nothing but braces", 4, "{}", 0},
      {"spaces behind", 5, "{}" + std::string(5000, ' '), 0},
      {"space between", 6, "{ \"t\" :\t{\n" + one + "\r\n}\n}", 4},
      {"brackets in a name", 6, R"({"[[[[[[\"]":{)" + one + "}}", 4},
      {"names that differ in case", 7,
       R"({"t":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},)"
       R"("T":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})", 0},
      {"the same key in metadata and outside", 8, R"({"__metadata__":{"t":"t"},"t":{)" + one + "}}", 4},
      {"empty metadata", 9, R"({"__metadata__":{}})", 0},
      {"metadata last, with strings", 9, R"({"t":{)" + one + R"(},"__metadata__":{"format":"pt","":""}})", 4},
      {"fields in another order", 10, R"({"t":{"data_offsets":[0,4],"dtype":"F32","shape":[1]}})", 4},
      {"BOOL", 11, tensor("BOOL", "[4]", "[0,4]"), 4},
      {"a scalar", 12, tensor("F32", "[]", "[0,4]"), 4},
      {"sixteen dimensions", 12, tensor("F32", "[1" + repeat(",1", 15) + "]", "[0,4]"), 4},
      {"2^63-1 beside a zero", 12, tensor("U8", "[0,9223372036854775807]", "[0,0]"), 0},
      {"a product of 2^62 beside a zero", 13, tensor("U8", "[2147483648,2147483648,0]", "[0,0]"), 0},
      {"a product below the limit beside a zero", 14, tensor("F64", "[288230376151711743,0]", "[0,0]"), 0},
      {"two equal offsets", 15, tensor("F32", "[0]", "[0,0]"), 0},
      {"an empty range", 16, tensor("F32", "[3,0]", "[0,0]"), 0},
      {"an end at the end", 17, tensor("F32", "[2]", "[0,8]"), 8},
      {"the size to the byte", 18, tensor("I16", "[3]", "[0,6]"), 6},
      {"two tensors in the other order", 19,
       R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[2,4]},)"
       R"("b":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", 4},
      {"the last byte is a tensor's", 20, tensor("U8", "[1]", "[0,1]"), 1},
      {"empty tensors on every seam", 21,
       R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},)"
       R"("b":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
       R"("c":{"dtype":"U8","shape":[0],"data_offsets":[2,2]},)"
       R"("d":{"dtype":"U8","shape":[0],"data_offsets":[2,2]}})", 2},
      {"an unaligned tensor", 22,
       R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
       R"("b":{"dtype":"F32","shape":[1],"data_offsets":[1,5]}})", 5},
      {"a name of 4096 bytes", 23, "{\"" + std::string(4096, 'n') + "\":{" + one + "}}", 4},
      {"an empty name", 23, R"({"":{)" + one + "}}", 4},
      {"as many tensors as allowed", 24, many(100), 0},
  };
  // clang-format on
}

HeaderLimits testLimits() {
  HeaderLimits limits;
  limits.tensors = 100;
  return limits;
}

TEST(SafetensorsRules, EveryViolationIsRefusedByItsRuleAndPlace) {
  for (const Broken &c : brokenHeaders()) {
    SCOPED_TRACE(std::string("S") + std::to_string(c.rule) + ": " + c.what);
    auto result = parseSafetensorsHeader(c.header, 8 + c.header.size() + c.data, "m.safetensors", testLimits());
    ASSERT_FALSE(result.ok());
    WeightProblem problem = refusal(result.status());
    std::string rule = (c.rule < 10 ? "0" : "") + std::to_string(c.rule);
    EXPECT_EQ(problem.rule, "S" + rule) << text(result.status());
    // A type that exists but is not read is no damage, so it has the code of what is not supported.
    bool supported = problem.code != Error::StoredTypeUnsupported;
    EXPECT_EQ(codeOf(problem.code), supported ? "H02" + rule : "H0505");
    EXPECT_EQ(supported, c.what != std::string("a valid dtype that is not supported"));
    EXPECT_EQ(problem.file, "m.safetensors");
    ASSERT_TRUE(problem.byte.has_value());
    EXPECT_LE(*problem.byte, 8 + c.header.size() + c.data);
    EXPECT_EQ(problem.tensor, c.tensor) << text(result.status());
    if (!c.at.empty()) {
      ASSERT_GE(*problem.byte, 8u);
      EXPECT_EQ(c.header.substr(*problem.byte - 8, c.at.size()), c.at) << text(result.status());
    }
  }
}

TEST(SafetensorsRules, EveryBoundaryIsAccepted) {
  for (const Fine &c : fineHeaders()) {
    SCOPED_TRACE(std::string("S") + std::to_string(c.rule) + ": " + c.what);
    auto result = parseSafetensorsHeader(c.header, 8 + c.header.size() + c.data, "m.safetensors", testLimits());
    EXPECT_OK(result.status());
  }
}

TEST(SafetensorsRules, EveryRuleHasBothSides) {
  // S01, S02, S25 and S26 are not about headers; their tests are in the other files.
  for (int rule = 3; rule <= 24; ++rule) {
    bool broken = false, fine = false;
    for (const Broken &c : brokenHeaders())
      broken |= c.rule == rule;
    for (const Fine &c : fineHeaders())
      fine |= c.rule == rule;
    // S22 allows everything.
    EXPECT_TRUE(broken || rule == 22) << rule;
    EXPECT_TRUE(fine) << rule;
  }
}

TEST(SafetensorsRules, S02LengthOfTheHeader) {
  auto length = [](uint64_t claimed, uint64_t fileBytes) {
    return safetensorsHeaderLength(lengthWord(claimed), fileBytes, "m", {});
  };
  EXPECT_EQ(refusal(length(100'000'001, 1ull << 40).status()).rule, "S02");
  EXPECT_EQ(refusal(length(UINT64_MAX, 100).status()).rule, "S02");
  EXPECT_EQ(refusal(length(UINT64_MAX - 7, 100).status()).rule, "S02");
  EXPECT_EQ(refusal(length(93, 100).status()).rule, "S02");
  EXPECT_EQ(*length(92, 100), 92u);
  EXPECT_EQ(*length(100'000'000, 100'000'008), 100'000'000u);
  EXPECT_EQ(refusal(safetensorsHeaderLength("abcdefg", 7, "m").status()).rule, "S01");
  EXPECT_EQ(*length(0, 8), 0u);
}

TEST(SafetensorsRules, S11SaysWhichTypesAreValidButUnsupported) {
  std::string header = tensor("F8_E4M3FNUZ", "[4]", "[0,4]");
  auto result = parseSafetensorsHeader(header, 8 + header.size() + 4, "m");
  EXPECT_EQ(result.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_NE(text(result.status()).find("valid in safetensors"), std::string::npos);
  header = tensor("Q31", "[4]", "[0,4]");
  result = parseSafetensorsHeader(header, 8 + header.size() + 4, "m");
  EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
  // A broken file is called broken, whatever its types.
  header = tensor("F8_E4M3", "[5]", "[0,4]");
  result = parseSafetensorsHeader(header, 8 + header.size() + 4, "m");
  EXPECT_EQ(refusal(result.status()).rule, "S18");
}

TEST(SafetensorsRules, S22TakesWhatIsNotAligned) {
  std::string header = R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                       R"("b":{"dtype":"F32","shape":[1],"data_offsets":[1,5]}})";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  auto result = parseSafetensorsHeader(header, 8 + header.size() + 5, "m");
  ASSERT_OK(result.status());
  EXPECT_EQ(result->find("b")->bytes, 4u);
  header += " ";
  result = parseSafetensorsHeader(header, 8 + header.size() + 5, "m");
  ASSERT_OK(result.status());
  EXPECT_EQ(result->find("b")->bytes, 4u);
}

TEST(SafetensorsRules, S23NamesCannotSteerATerminal) {
  std::string header = R"({"\u001b[2J\u202e":{"dtype":"F32","shape":[1],"data_offsets":[0,3]}})";
  auto result = parseSafetensorsHeader(header, 8 + header.size() + 4, "m\x1b.x");
  ASSERT_FALSE(result.ok());
  std::string message = text(result.status());
  EXPECT_EQ(message.find('\x1b'), std::string::npos);
  EXPECT_NE(message.find("\\x1B[2J\\xE2"), std::string::npos) << message;
}

TEST(SafetensorsHeader, HoldsWhatTheFileSays) {
  std::string header = R"({"__metadata__":{"format":"pt","a":"b"},)"
                       R"("z":{"dtype":"I16","shape":[2,3],"data_offsets":[4,16]},)"
                       R"("a":{"dtype":"F32","shape":[],"data_offsets":[0,4]}})";
  auto result = parseSafetensorsHeader(header, 8 + header.size() + 16, "m");
  ASSERT_OK(result.status());
  ASSERT_EQ(result->tensors.size(), 2u);
  EXPECT_EQ(result->tensors[0].name, "a");
  EXPECT_EQ(result->tensors[1].name, "z");
  const TensorRecord *z = result->find("z");
  ASSERT_NE(z, nullptr);
  EXPECT_EQ(z->type, StoredType::I16);
  EXPECT_EQ(z->shape, llvm::ArrayRef<int64_t>({2, 3}));
  EXPECT_EQ(z->byte, 8 + header.size() + 4);
  EXPECT_EQ(z->bytes, 12u);
  EXPECT_EQ(z->elements(), 6u);
  EXPECT_EQ(header.substr(z->headerByte - 8, 3), "\"z\"");
  EXPECT_EQ(result->find("y"), nullptr);
  ASSERT_EQ(result->metadata.size(), 2u);
  EXPECT_EQ(result->metadata[0].second, "pt");
}

} // namespace
