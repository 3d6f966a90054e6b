// A description that works, in memory, and what becomes of it after an edit.
#ifndef HEDDLE_TEST_IMPORTUNIT_SUPPORT_H
#define HEDDLE_TEST_IMPORTUNIT_SUPPORT_H

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace heddle::test {

struct Case {
  std::string text;   // a description, or
  std::string config; // a config.json
  std::map<std::string, std::vector<int64_t>> tensors;
  std::vector<std::pair<std::string, std::string>> sets, different;
  std::map<std::string, std::string> families;
  bool outputsAll = false;
  bool withoutWeights = false;

  /// Replaces the one place where `from` is.
  Case edit(const std::string &from, const std::string &to) const;
  Case tensor(const std::string &name, std::vector<int64_t> shape) const;
  Case without(const std::string &name) const;
};

struct Outcome {
  bool ok;
  int exitCode;
  std::string messages, ir;
  double milliseconds;
};
Outcome import(const Case &c);

/// An encoder of two layers with a head; every tensor is in its table.
Case encoder();
/// gpt2's family on a small config.json; `layers` and `width` may be those of the real one.
Case gpt2(int64_t layers = 2, int64_t width = 8, int64_t heads = 2, int64_t vocab = 11, int64_t positions = 16);

/// How often `part` is in `text`.
size_t count(const std::string &text, const std::string &part);

} // namespace heddle::test

#endif // HEDDLE_TEST_IMPORTUNIT_SUPPORT_H
