// Texts made to break a reader: each ends in a message.
#include "test/ImportUnit/Support.h"

#include <gtest/gtest.h>
#include <random>

using namespace heddle::test;

static Case text(const std::string &t) {
  Case c;
  c.text = t;
  return c;
}

TEST(Hostile, WrongKindsEverywhere) {
  for (const char *value : {"1", "null", "[]", "{}", "\"x\"", "true", "[[[]]]", "{\"a\": {\"b\": []}}", "-1e30"})
    for (const char *key : {"heddle", "like", "name", "family", "config", "dims", "inputs", "weights", "defaults",
                            "blocks", "body", "outputs", "generate"}) {
      std::string t = "{\"heddle\": 1, \"" + std::string(key) + "\": " + value + "}";
      if (std::string(key) == "heddle")
        t = "{\"heddle\": " + std::string(value) + "}";
      Outcome o = import(text(t));
      EXPECT_FALSE(o.ok) << t;
      EXPECT_NE(o.messages.find("error"), std::string::npos) << t;
    }
}

TEST(Hostile, WrongKindsInTheBody) {
  for (const char *s : {"1",
                        "{}",
                        "[]",
                        "{\"repeat\": 2}",
                        "{\"body\": 1}",
                        "{\"body\": [], \"else\": 3, \"if\": 1}",
                        "{\"x\": 1}",
                        "{\"x\": []}",
                        "{\"x\": {}}",
                        "{\"x\": {\"linear\": null}}",
                        "{\"x\": {\"linear\": [1, 2]}}",
                        "{\"x\": {\"linear\": {\"linear\": \"x\"}}}",
                        "{\"x\": {\"attend\": []}}",
                        "{\"x\": {\"experts\": [\"a\", \"a\"], \"count\": 2, \"block\": \"nope\"}}",
                        "{\"\": \"=a\"}",
                        "{\",\": \"=a\"}",
                        "{\"{}\": \"=a\"}",
                        "{\"a.{[}\": \"=a\"}",
                        "{\"repeat\": 3, \"body\": [{\"x\": \"=y\"}]}",
                        "{\"repeat\": 1e3, \"body\": []}",
                        "{\"x\": {\"concat\": [], \"axis\": 0}}",
                        "{\"x\": {\"matmul\": [\"a\", 3]}}",
                        "{\"x\": {\"rearrange\": \"a\", \"pattern\": \"((\"}}",
                        "{\"x\": {\"pad\": \"a\", \"axis\": 99}}",
                        "{\"x\": {\"conv\": \"a\", \"weight\": \"=a\", \"bias\": false, \"stride\": 0}}",
                        "{\"x\": \"=a[:, :, 9]\"}",
                        "{\"x\": \"=T // 0 * a\"}",
                        "{\"x\": \"=(T * 9999999999999) * a\"}",
                        "{\"x\": \"=blocks(0, [])\"}",
                        "{\"x\": {\"sinusoidal\": \"a\", \"width\": -2}}",
                        "{\"x\": \"=window(1, 99999999999)\"}",
                        "{\"x\": \"=size(a, 7)\"}",
                        "{\"x\": {\"alibi_slopes\": 99999999}}",
                        "{\"x\": {\"top_k\": \"a\", \"k\": 0}}"}) {
    Outcome o = import(text("{\"heddle\": 1, \"inputs\": {\"a\": \"f32[B,T,4]\"}, \"body\": [" + std::string(s) +
                            "], \"outputs\": [\"x\", \"a\"]}"));
    EXPECT_FALSE(o.ok) << s << "\n" << o.ir;
    EXPECT_NE(o.messages.find("error"), std::string::npos) << s;
  }
}

TEST(Hostile, BlocksThatDouble) {
  std::string blocks;
  for (int i = 0; i < 40; ++i) {
    std::string next = i == 39 ? "\"=x\"" : "{\"b" + std::to_string(i + 1) + "\": \"x\"}";
    blocks += std::string(i ? "," : "") + "\"b" + std::to_string(i) +
              "\": {\"operands\": [\"x\"], \"body\": [{\"y\": " + next + "}, {\"x\": " + next +
              "}, {\"y\": \"=x + y\"}], \"result\": \"y\"}";
  }
  Outcome o = import(text("{\"heddle\": 1, \"inputs\": {\"a\": \"f32[B]\"}, \"blocks\": {" + blocks +
                          "}, \"body\": [{\"x\": {\"b0\": \"a\"}}], \"outputs\": [\"x\"]}"));
  EXPECT_FALSE(o.ok);
  EXPECT_NE(o.messages.find("error"), std::string::npos);
}

TEST(Hostile, RandomDamage) {
  std::mt19937 random(1);
  std::string good = encoder().text;
  for (int round = 0; round < 300; ++round) {
    std::string bad = good;
    for (int k = 0; k < 3; ++k) {
      size_t at = random() % bad.size();
      switch (random() % 4) {
      case 0: bad.erase(at, random() % 8); break;
      case 1: bad.insert(at, 1, "{}[]\":,=.()*0x'"[random() % 15]); break;
      case 2: bad[at] = static_cast<char>(random() % 256); break;
      default: bad.insert(at, bad.substr(random() % bad.size(), random() % 30)); break;
      }
    }
    Case c = encoder();
    c.text = bad;
    Outcome o = import(c);
    EXPECT_NE(o.ok, o.exitCode != 0) << bad << o.messages;
  }
}
