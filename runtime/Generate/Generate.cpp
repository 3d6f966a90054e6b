//===- Generate.cpp - Generation ------------------------------------------===//
//
// A finished row is fed pad and its logits are ignored; the others do not
// notice, as no row of a batch sees another.
//
//===----------------------------------------------------------------------===//
#include "runtime/Generate/Generate.h"
#include "runtime/Generate/Padding.h"
#include "runtime/Generate/TokenChooser.h"

#include <algorithm>

namespace heddle::rt {

int64_t padId(const Roles &roles) { return roles.pad ? *roles.pad : roles.eos.empty() ? 0 : roles.eos.front(); }

int64_t roomFor(const Prompt &prompt, std::optional<int64_t> most, int64_t wanted) {
  // The last new token is never an input, so it needs no position.
  return most ? std::min(wanted, *most - prompt.length + 1) : wanted;
}

static int64_t nameOf(const GenerateOptions &options, int64_t row) {
  return options.rowNames.empty() ? row : options.rowNames[size_t(row)];
}

/// The loop with beam search: row r of the prompt is the rows r * width to
/// r * width + width - 1 of `batch`. After each step the rows are reordered to
/// what their beams continue; a row that is done is fed pad until all are.
static Status searchBeams(Model &model, const Prompt &prompt, const GenerateOptions &options,
                          std::vector<int64_t> &ids) {
  const Roles &roles = model.card().roles;
  int64_t rows = prompt.rows, width = options.beams.width, steps = options.newTokens;
  Prompt batch;
  HEDDLE_TRY(repeatRows(model, prompt, width, batch));
  Sequence sequence;
  HEDDLE_TRY(sequence.prepare(model, batch, steps));
  std::vector<BeamSearch> searches(
      rows, BeamSearch(options.beams, options.ignoreEos ? std::vector<int64_t>() : roles.eos, steps));
  std::vector<std::vector<int64_t>> prompts;
  std::vector<Rules> rules;
  for (int64_t row = 0; row < rows; ++row) {
    prompts.push_back(realTokens(model, prompt, row));
    rules.emplace_back(options.rules, steps, nameOf(options, row), prompts.back());
  }
  std::vector<int64_t> next(rows * width), from(rows * width);
  std::vector<std::vector<float>> scores(width);
  for (int64_t i = 0; i < steps; ++i) {
    if (i > 0)
      HEDDLE_TRY(sequence.reorder(from));
    HEDDLE_TRY(i == 0 ? sequence.prefill() : sequence.append(next));
    if (options.onProgress)
      options.onProgress(i + 1);
    int64_t count = sequence.vocabulary();
    bool open = false;
    for (int64_t row = 0; row < rows; ++row) {
      BeamSearch &search = searches[row];
      for (int64_t beam = 0; beam < width; ++beam) {
        from[row * width + beam] = row * width + beam;
        next[row * width + beam] = padId(roles);
      }
      if (search.done())
        continue;
      for (int64_t beam = 0; beam < width; ++beam) {
        const float *logits = sequence.logitsOf(row * width + beam);
        HEDDLE_TRY(checkLogits(logits, count, nameOf(options, row), i));
        scores[beam].assign(logits, logits + count);
        logSoftmax(scores[beam].data(), count);
        if (!rules[size_t(row)].any())
          continue;
        std::vector<int64_t> text = prompts[row];
        const std::vector<int64_t> &made = search.texts()[beam];
        text.insert(text.end(), made.begin(), made.end());
        rules[size_t(row)].apply(text, i, scores[beam].data(), count);
        if (options.beams.renormalise)
          logSoftmax(scores[beam].data(), count);
      }
      search.step(scores, count);
      open |= !search.done();
      for (int64_t beam = 0; beam < width && !search.done(); ++beam) {
        from[row * width + beam] = row * width + search.from()[beam];
        next[row * width + beam] = search.next()[beam];
      }
    }
    if (!open)
      break;
  }
  int64_t longest = 0;
  for (int64_t row = 0; row < rows; ++row) {
    std::vector<int64_t> best = searches[row].best();
    std::copy(best.begin(), best.end(), ids.begin() + row * steps);
    longest = std::max(longest, int64_t(best.size()));
  }
  next.resize(rows);
  for (int64_t i = 0; i < longest; ++i) {
    for (int64_t row = 0; row < rows; ++row)
      next[row] = ids[row * steps + i];
    if (options.onStep && !options.onStep(next))
      break;
  }
  return {};
}

/// Continues every row by up to `newTokens` ids; `ids` [rows, newTokens] ends in padding where a row ended early. A row
/// is finished at an eos or a stop text; the others go on beside it with padding in its place.
Status generateFrom(Sequence &sequence, const Roles &roles, std::vector<std::vector<int64_t>> texts,
                    const GenerateOptions &options, std::vector<int64_t> &ids) {
  int64_t rows = sequence.rows(), steps = options.newTokens, open = rows;
  ids.assign(rows * steps, padId(roles));
  std::vector<TokenChooser> choosers;
  choosers.reserve(size_t(rows));
  for (int64_t row = 0; row < rows; ++row)
    choosers.emplace_back(options, roles, nameOf(options, row), std::move(texts[size_t(row)]));
  std::vector<int64_t> next(rows);
  for (int64_t i = 0; i < steps; ++i) {
    if (i > 0)
      HEDDLE_TRY(sequence.append(next));
    if (options.onProgress)
      options.onProgress(i + 1);
    for (int64_t row = 0; row < rows; ++row) {
      TokenChooser &chooser = choosers[size_t(row)];
      next[row] = padId(roles);
      if (chooser.ended())
        continue;
      HEDDLE_TRY(chooser.choose(sequence.logitsOf(row), sequence.vocabulary(), next[row]));
      ids[row * steps + i] = next[row];
      open -= chooser.ended();
    }
    if ((options.onStep && !options.onStep(next)) || open == 0)
      return {};
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
  if (options.beams.width > 1)
    return searchBeams(model, prompt, options, ids);
  Sequence sequence;
  HEDDLE_TRY(sequence.prepare(model, prompt, steps, options.longestCall));
  HEDDLE_TRY(sequence.prefill(options.goesOn));
  if (!sequence.hasLogits())
    return {};
  std::vector<std::vector<int64_t>> texts(rows);
  for (int64_t row = 0; row < rows; ++row)
    texts[row] = realTokens(model, prompt, row);
  return generateFrom(sequence, roles, std::move(texts), options, ids);
}

} // namespace heddle::rt
