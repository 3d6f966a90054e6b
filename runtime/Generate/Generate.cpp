//===- Generate.cpp - Generation ------------------------------------------===//
//
// A finished row is fed pad and its logits are ignored; the others do not
// notice, as no row of a batch sees another.
//
//===----------------------------------------------------------------------===//
#include "runtime/Generate/Generate.h"
#include "runtime/Generate/Padding.h"
#include "runtime/Generate/TextStepper.h"

#include <algorithm>
#include <memory>

namespace heddle::rt {

int64_t padId(const Roles &roles) { return roles.pad ? *roles.pad : roles.eos.empty() ? 0 : roles.eos.front(); }

int64_t roomFor(const Prompt &prompt, std::optional<int64_t> most, int64_t wanted) {
  // The last new token is never an input, so it needs no position.
  return most ? std::min(wanted, *most - prompt.length + 1) : wanted;
}

static int64_t nameOf(const GenerateOptions &options, int64_t row) {
  return options.rowNames.empty() ? row : options.rowNames[size_t(row)];
}

static std::unique_ptr<TextStepper> stepperOf(const GenerateOptions &options, const Roles &roles, int64_t row,
                                              std::vector<int64_t> text) {
  if (options.beams.width > 1)
    return std::make_unique<BeamChooser>(options, roles, row, std::move(text));
  return std::make_unique<TokenChooser>(options, roles, row, std::move(text));
}

using Steppers = std::vector<std::unique_ptr<TextStepper>>;

/// Columns of new tokens that are known of all texts.
static int64_t columnsKnown(const Steppers &texts) {
  std::optional<int64_t> known;
  int64_t longest = 0;
  for (const auto &text : texts) {
    auto made = int64_t(text->made().size());
    longest = std::max(longest, made);
    if (!text->done())
      known = std::min(known.value_or(made), made);
  }
  return known.value_or(longest);
}

/// Steps every text that is not done. What its rows get next is in `next`, and which rows they continue in `from`: of a
/// text that was done before, padding and themselves. `open`: whether any text goes on.
static Status stepAll(const Sequence &sequence, const Steppers &texts, int64_t pad, std::vector<int64_t> &next,
                      std::vector<int64_t> &from, bool &open) {
  int64_t width = sequence.rows() / int64_t(texts.size()), first = 0;
  std::vector<const float *> logits(static_cast<size_t>(width));
  open = false;
  for (const auto &text : texts) {
    bool steps = !text->done();
    for (int64_t row = 0; row < width; ++row)
      logits[size_t(row)] = sequence.logitsOf(first + row);
    if (steps)
      HEDDLE_TRY(text->step(logits.data(), sequence.vocabulary()));
    for (int64_t row = 0; row < width; ++row) {
      next[size_t(first + row)] = steps ? text->next()[size_t(row)] : pad;
      from[size_t(first + row)] = first + (steps ? text->from()[size_t(row)] : row);
    }
    open |= !text->done();
    first += width;
  }
  return {};
}

Status generateFrom(Sequence &sequence, const Roles &roles, std::vector<std::vector<int64_t>> texts,
                    const GenerateOptions &options, std::vector<int64_t> &ids) {
  auto rows = int64_t(texts.size());
  int64_t steps = options.newTokens, told = 0, pad = padId(roles);
  ids.assign(rows * steps, pad);
  Steppers steppers;
  for (int64_t row = 0; row < rows; ++row)
    steppers.push_back(stepperOf(options, roles, nameOf(options, row), std::move(texts[size_t(row)])));
  std::vector<int64_t> next(sequence.rows()), from(sequence.rows()), column(rows);
  bool open = steps > 0;
  for (int64_t i = 0; open; ++i) {
    if (i > 0) {
      HEDDLE_TRY(sequence.reorder(from));
      HEDDLE_TRY(sequence.append(next));
    }
    if (options.onProgress)
      options.onProgress(i + 1);
    HEDDLE_TRY(stepAll(sequence, steppers, pad, next, from, open));
    int64_t known = columnsKnown(steppers);
    for (int64_t row = 0; row < rows; ++row) {
      const std::vector<int64_t> &made = steppers[size_t(row)]->made();
      for (int64_t at = told; at < std::min(known, int64_t(made.size())); ++at)
        ids[row * steps + at] = made[size_t(at)];
    }
    for (; told < known; ++told) {
      for (int64_t row = 0; row < rows; ++row)
        column[size_t(row)] = ids[row * steps + told];
      if (options.onStep && !options.onStep(column))
        return {};
    }
  }
  return {};
}

/// Generates for the rows of one length at a time. `prompt` has spans.
static Status generateByLength(Model &model, const Prompt &prompt, const GenerateOptions &options,
                               std::vector<int64_t> &ids) {
  int64_t steps = options.newTokens, most = 0;
  ids.assign(prompt.rows * steps, padId(model.card().roles));
  std::map<int64_t, std::vector<int64_t>> groups;
  for (int64_t row = 0; row < prompt.rows; ++row)
    groups[prompt.spans[size_t(row)].length()].push_back(row);
  bool goesOn = true;
  for (const auto &group : groups) {
    if (!goesOn)
      break;
    const std::vector<int64_t> &rows = group.second;
    bool first = &group == &*groups.begin();
    Prompt part;
    HEDDLE_TRY(takeRows(model.card(), prompt, rows, part));
    GenerateOptions own = options;
    own.rowNames = rows;
    own.onProgress = [&](int64_t done) {
      if (options.onProgress && (done > most || first))
        options.onProgress(most = done);
    };
    own.onStep = [&](const std::vector<int64_t> &next) {
      std::vector<int64_t> all(size_t(prompt.rows), padId(model.card().roles));
      for (size_t i = 0; i < rows.size(); ++i)
        all[size_t(rows[i])] = next[i];
      goesOn = !options.onStep || options.onStep(all);
      return goesOn;
    };
    std::vector<int64_t> made;
    HEDDLE_TRY(generate(model, part, own, made));
    for (size_t i = 0; i < rows.size(); ++i)
      std::copy_n(made.begin() + int64_t(i) * steps, steps, ids.begin() + rows[i] * steps);
  }
  return {};
}

Status generate(Model &model, const Prompt &prompt, const GenerateOptions &options, std::vector<int64_t> &ids) {
  if (!prompt.spans.empty() && !model.card().roles.padsLeft)
    return generateByLength(model, prompt, options, ids);
  const Roles &roles = model.card().roles;
  int64_t rows = prompt.rows, steps = options.newTokens;
  ids.assign(rows * steps, padId(roles));
  if (steps == 0)
    return {};
  if (options.onProgress)
    options.onProgress(0);
  bool searches = options.beams.width > 1;
  Prompt beams;
  if (searches)
    HEDDLE_TRY(repeatRows(model, prompt, options.beams.width, beams));
  Sequence sequence;
  HEDDLE_TRY(sequence.prepare(model, searches ? beams : prompt, steps, options.longestCall));
  HEDDLE_TRY(sequence.prefill(options.goesOn));
  if (!sequence.hasLogits())
    return {};
  std::vector<std::vector<int64_t>> texts(rows);
  for (int64_t row = 0; row < rows; ++row)
    texts[row] = realTokens(model, prompt, row);
  return generateFrom(sequence, roles, std::move(texts), options, ids);
}

} // namespace heddle::rt
