//===- ChatLoop.cpp - Talking to a model, line by line --------------------===//
//
// A turn that fails, or is stopped before it says anything, never was: its
// question is taken back.
//
//===----------------------------------------------------------------------===//
#include "runtime/Chat/ChatLoop.h"

#include "runtime/Generate/ChatTurn.h"
#include "runtime/Generate/GenerateFlags.h"
#include "runtime/Generate/TextOut.h"

#include <algorithm>
#include <cstdio>

namespace heddle::chat {

using rt::Status;
using Got = Terminal::Got;

ChatLoop::ChatLoop(rt::Model &model, const rt::Tokenizer &tokenizer, Terminal &terminal, int64_t context)
    : model(model), tokenizer(tokenizer), terminal(terminal), dialogue(model.card()), talk(model, context),
      end(rt::turnEnd(model.card(), tokenizer)), seed(rt::drawSeed()) {}

Status ChatLoop::readFlags(const rt::Args &args) {
  for (const char *flag : {"-n", "--temp", "--top-k", "--top-p", "--min-p", "--seed", "--repetition-penalty",
                           "--no-repeat-ngram-size", "--stop", "--greedy", "--ignore-eos"})
    for (const std::string &value : args.all(flag))
      flags.emplace_back(flag, value);
  tells = args.has("--stats");
  rt::GenerateOptions options;
  std::vector<std::string> stops;
  HEDDLE_TRY(readOptions(2, options, stops));
  if (options.sampler.temperature > 0 && !args.has("--seed") && (terminal.edits() || tells))
    rt::note(rt::format("--seed %llu gives this talk again", static_cast<unsigned long long>(seed)));
  return dialogue.readFlags(args);
}

/// What the flags ask of an answer to `length` tokens.
Status ChatLoop::readOptions(size_t length, rt::GenerateOptions &options, std::vector<std::string> &stops) const {
  std::vector<std::string> words;
  for (const auto &[flag, value] : flags) {
    words.push_back(flag);
    if (flag != "--greedy" && flag != "--ignore-eos")
      words.push_back(value);
  }
  rt::Args args;
  HEDDLE_TRY(rt::Args::parse(words, rt::generateValued({}), rt::generatePlain({}), 0, args));
  rt::Prompt prompt;
  prompt.length = int64_t(length);
  HEDDLE_TRY(rt::readGenerateFlags(args, model.card(), prompt, seed, options));
  rt::allowWholeAnswer(args, model.card(), talk.positions(), options);
  options.beams.width = 1; // answers are said as they are made
  stops = rt::stopTexts(args, model.card().roles);
  return {};
}

/// A line, or several: one that ends in a backslash goes on in the next, and so does all between two lines of `"""`.
Status ChatLoop::readQuestion(std::string &question, Got &got) {
  question.clear();
  std::string line;
  HEDDLE_TRY(terminal.read("> ", line, got));
  bool block = got == Got::Line && line == "\"\"\"";
  if (!block) {
    question = line;
    while (got == Got::Line && !line.empty() && line.back() == '\\') {
      question.back() = '\n';
      HEDDLE_TRY(terminal.read("... ", line, got));
      question += line;
    }
  }
  for (bool first = true; block; first = false) {
    HEDDLE_TRY(terminal.read("... ", line, got));
    if (got != Got::Line || line == "\"\"\"")
      break;
    question += (first ? "" : "\n") + line;
  }
  // The end of the input ends a question, too.
  if (got == Got::End && !question.empty())
    got = Got::Line;
  return {};
}

Status ChatLoop::run(bool &interrupted) {
  bool warned = false;
  interrupted = false;
  if (terminal.edits())
    fprintf(stderr, "%s, %lld positions; /help lists the commands\n", model.name.c_str(),
            static_cast<long long>(talk.positions()));
  while (!leaves) {
    std::string question;
    Got got;
    HEDDLE_TRY(readQuestion(question, got));
    if (got == Got::End)
      return {};
    if (got == Got::Interrupt) {
      interrupted = warned && question.empty();
      if (interrupted)
        return {};
      warned = question.empty();
      if (warned)
        rt::note("Ctrl-C again leaves, and so do Ctrl-D and /exit");
      continue;
    }
    warned = false;
    if (question.empty())
      continue;
    terminal.remember(question);
    bool command = question[0] == '/' && question.find('\n') == std::string::npos;
    Status status = command ? obey(question) : ask(question);
    if (!status.ok() && !terminal.attended())
      return status;
    if (!status.ok())
      rt::report(status, false);
  }
  return {};
}

Status ChatLoop::ask(const std::string &question) {
  dialogue.say("user", question);
  std::string said, asked;
  Status status = answer(said);
  if (status.ok() && !said.empty()) {
    dialogue.say("assistant", std::move(said));
    return {};
  }
  dialogue.takeBack(asked);
  changed = true;
  return status;
}

/// Makes the answer to the conversation and prints it.
Status ChatLoop::answer(std::string &said) {
  std::vector<int64_t> ids;
  rt::GenerateOptions options;
  std::vector<std::string> stops;
  HEDDLE_TRY(dialogue.encode(tokenizer, ids));
  HEDDLE_TRY(readOptions(ids.size(), options, stops));
  options.sampler.seed += answers << 32;
  rt::TextOut out(tokenizer, model.card().roles, std::move(stops), ids);
  auto print = [&](const std::string &fresh) {
    said += fresh;
    fwrite(fresh.data(), 1, fresh.size(), stdout);
    return fflush(stdout) == 0;
  };
  bool stopped = false, written = true, first = true;
  auto askedToStop = [&] { return stopped = terminal.interrupted() || stopped; };
  if (end && !options.ignoreEos)
    options.ended = [&](int64_t, const std::vector<int64_t> &made) { return made.back() == *end; };
  options.onStep = [&](const std::vector<int64_t> &next) {
    if (first && answers > 0 && !terminal.edits())
      putchar('\n'); // between two answers
    first = false;
    written = print(out.add(next[0]));
    return written && !out.stopped() && !askedToStop();
  };
  Cost cost;
  Status status = talk.answer(ids, options, askedToStop, changed, cost);
  if (!first) {
    print(out.finish());
    putchar('\n');
  }
  if (!status.ok()) {
    changed = true;
    return status.exit() == Exit::Input ? std::move(status).withHelp("/undo takes the last question and its answer "
                                                                     "back, /clear all of them")
                                        : status;
  }
  HEDDLE_TRY(rt::flushOutput());
  changed = false;
  ++answers;
  total.add(cost);
  if (tells)
    tellStats(cost);
  if (first)
    rt::note(stopped ? "stopped before the answer began: the question is taken back" : "there is no answer");
  else if (int64_t(ids.size()) + cost.made > talk.positions())
    rt::note(rt::format("the conversation has reached its %lld positions", static_cast<long long>(talk.positions())));
  return {};
}

static std::string rate(int64_t tokens, double seconds) {
  return seconds > 0 ? rt::format(" (%.0f tokens/s)", double(tokens) / seconds) : "";
}

void ChatLoop::tellStats(const Cost &cost) const {
  fprintf(stderr, "stats: %lld tokens reused, %lld read in %.1f ms%s, %lld made in %.1f ms%s\n",
          static_cast<long long>(cost.reused), static_cast<long long>(cost.read), cost.readSeconds * 1e3,
          rate(cost.read, cost.readSeconds).c_str(), static_cast<long long>(cost.made), cost.madeSeconds * 1e3,
          rate(cost.made, cost.madeSeconds).c_str());
}

Status ChatLoop::stats(const std::string &) {
  double share = total.prompt ? 100.0 * double(total.again) / double(total.prompt) : 0;
  fprintf(stderr, "%lld turns, %lld prompt tokens, %lld of them (%.1f %%) computed again\n",
          static_cast<long long>(total.turns), static_cast<long long>(total.prompt),
          static_cast<long long>(total.again), share);
  tellStats(total);
  return {};
}

} // namespace heddle::chat
