//===- Requirements.cpp - What the lengths of a call must be -------------------===//

#include "runtime/Core/Requirements.h"
#include "heddle/card_words.h"
#include "runtime/Core/Card.h"

#include <algorithm>

namespace heddle::rt {

/// Cuts the first word off `text`; "" where a blank does not end it or nothing is left.
static std::string_view takeWord(std::string_view &text) {
  size_t end = std::min(text.find(' '), text.size());
  std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

/// The text of a word; none where it is no word of a card, or stands for nothing.
static std::optional<std::string> decoded(std::string_view word) {
  std::optional<std::string> text = word.empty() ? std::nullopt : textOfCardWord(word);
  return text && text->empty() ? std::nullopt : text;
}

Status Requirement::parse(std::string_view text, const std::vector<std::string> &dims, Requirement &requirement) {
  std::string_view left = takeWord(text), relation = takeWord(text), right = takeWord(text), at = takeWord(text);
  std::optional<std::string> op = decoded(takeWord(text)), place = decoded(takeWord(text)), without = std::string();
  if (!text.empty())
    without = takeWord(text) == "without" ? decoded(takeWord(text)) : std::nullopt;
  if ((relation != ">=" && relation != "!=") || at != "at" || !op || !place || !without || !text.empty())
    return internalError("expected `require FORM >=|!= FORM at OP PLACE [without INPUT]`");
  requirement.differ = relation == "!=";
  requirement.op = *op;
  requirement.place = *place;
  requirement.without = *without;
  HEDDLE_TRY(Form::parse(left, dims, requirement.left));
  return Form::parse(right, dims, requirement.right);
}

/// "T is 5, S is 3": the dims of both sides.
static std::string lengthsOf(const Requirement &need, const Entry &entry, const std::vector<int64_t> &dims) {
  std::vector<int> used = need.left.uses();
  used.insert(used.end(), need.right.uses().begin(), need.right.uses().end());
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  std::string text;
  for (int dim : used)
    text += (text.empty() ? "" : ", ") + entry.dims[dim] + " is " + std::to_string(dims[dim]);
  return text;
}

Status checkLengths(const Entry &entry, const std::vector<int64_t> &dims,
                    const std::function<bool(const Value &)> &isGiven) {
  for (const Requirement &need : entry.requirements) {
    if (const Value *input = need.without.empty() ? nullptr : entry.input(need.without); input && isGiven(*input))
      continue;
    std::optional<int64_t> left = need.left.evaluate(dims.data()), right = need.right.evaluate(dims.data());
    if (left && right && (need.differ ? *left != *right : *left >= *right))
      continue;
    std::string lengths = lengthsOf(need, entry, dims);
    return badInput("these lengths do not fit the model: " + need.op + " at " + need.place + " takes " +
                    need.left.text() + (need.differ ? " != " : " >= ") + need.right.text() +
                    (lengths.empty() ? "" : ", got " + lengths));
  }
  return {};
}

} // namespace heddle::rt
