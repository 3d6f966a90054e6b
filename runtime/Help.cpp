//===- Help.cpp - The short help of a compiled model ----------------------===//
//
// Shows what this model can do and nothing else, with an example that works.
//
//===----------------------------------------------------------------------===//
#include "runtime/Answers.h"
#include "runtime/Commands.h"
#include "runtime/Media/Media.h"

#include <cstdio>

namespace heddle::rt {

/// The ways to choose a token, with the model's own defaults.
static void printChoices(const Card &card, bool text) {
  const Settings &said = card.roles.settings;
  auto number = [&](const char *name, double otherwise) {
    return said.number(name, otherwise);
  };
  bool samples = number("do_sample", 0) != 0;
  double beams = number("num_beams", 1);
  printf("  -n N, --max-new-tokens N  at most N new tokens\n"
         "  --greedy                  the likeliest token each time%s\n",
         samples || beams > 1 ? "" : " (default)");
  printf("  --temp T --top-k K --top-p P --min-p P --seed S\n"
         "                            sample%s\n",
         samples ? " (default)" : "");
  if (beams > 1)
    printf("  --num-beams N             search (default: %g beams)\n", beams);
  else
    printf("  --num-beams N             search for the likeliest text\n");
  printf("      --length-penalty X --early-stopping true|false|never\n"
         "  --repetition-penalty X --no-repeat-ngram-size N\n");
  if (text)
    printf("  --stop TEXT               ends before TEXT; may be given again\n");
  if (!card.roles.languages.empty())
    printf("  --language NAME           of the speech; found out if not given\n");
  if (!card.roles.tasks.empty())
    printf("  --task NAME               transcribe or translate\n");
  printf("  --ignore-eos              go on after the end of the text\n"
         "  --print-ids               ids instead of text\n");
}

/// What `run` takes and gives.
static void printTensors(const Entry &run) {
  auto list = [](const char *what, const std::vector<Value> &values,
                 bool byDefault) {
    std::string text;
    for (const Value &value : values)
      if (value.hasDefault == byDefault)
        text += (text.empty() ? "" : ", ") + value.name + " " + value.typeText();
    if (!text.empty())
      printf("  %-24s  %s\n", what, text.c_str());
  };
  printf("\nTensors of run:\n");
  list("takes", run.inputs, false);
  list("and, if given", run.inputs, true);
  list("gives", run.outputs, false);
}

/// What stands for a missing word, where the model has a number for each word.
static Status maskOf(Model &model, const Entry &run, std::string &mask) {
  for (const char *name : {"logits", "prediction_logits"})
    if (int index = run.outputIndex(name); index >= 0) {
      const Value &value = run.outputs[index];
      if (value.axes.size() != 3)
        return {};
      Tokenizer tokenizer;
      HEDDLE_TRY(openTokenizer(model, tokenizer));
      std::optional<int64_t> words = value.axes[2].uses().empty()
                                         ? value.axes[2].evaluate(nullptr)
                                         : std::nullopt;
      if (words && *words >= int64_t(tokenizer.size()))
        maskToken(tokenizer, &mask);
      return {};
    }
  return {};
}

Status helpCommand(Model &model, const std::string &program) {
  const Card &card = model.card();
  const char *self = program.c_str();
  const Entry *run = card.entry("run");
  bool generates = card.roles.present, media = takesMedia(card);
  bool tokenizes = model.image().tokenizerSize != 0;
  bool text = tokenizes && !media && (generates || (run && run->input("input_ids")));
  bool spans = !generates && text && run->outputIndex("start_logits") >= 0 &&
               run->outputIndex("end_logits") >= 0;
  bool classifies = !generates && (media || text) && run &&
                    (spans || run->outputIndex("logits") >= 0 ||
                     run->outputIndex("prediction_logits") >= 0);
  std::string mask;
  if (classifies && text)
    HEDDLE_TRY(maskOf(model, *run, mask));
  printf("%s: a model compiled by Heddle\n\n", card.name.c_str());
  std::string example;
  TextBeside beside = textBeside(card);
  if (media && (generates || classifies)) {
    example = mediaExample(card);
    if (beside == TextBeside::Needed)
      example += " \"What is it?\"";
    printf("  %s %s\n      %s\n", self, example.c_str(),
           beside == TextBeside::Needed
               ? generates ? "answers a question about it"
                           : "answers a question about it, the likeliest first"
           : generates          ? "what it shows or says, as text"
           : card.kind == "ctc" ? "what is said, as text"
                                : "what it is, the likeliest first");
    if (beside == TextBeside::Maybe && tokenizes)
      printf("  %s %s \"a picture of\"\n      the same, beginning with these "
             "words\n",
             self, example.c_str());
  } else if (generates && text) {
    example = "\"Once upon a time\" -n 40";
    printf("  %s \"TEXT\"\n      %s, as it is made; - takes the text from "
           "standard input\n",
           self,
           card.roles.source.empty() ? "continues a text" : "answers a text");
  } else if (spans) {
    example = "\"Who is there?\" \"Only the cat is there.\"";
    printf("  %s \"QUESTION\" \"TEXT\"\n      the words of the text that "
           "answer it, the likeliest first\n",
           self);
  } else if (!mask.empty()) {
    example = "\"What a " + mask + " day!\"";
    printf("  %s \"TEXT with %s in it\"\n      the words that may stand there, "
           "the likeliest first\n",
           self, mask.c_str());
  } else if (classifies) {
    example = "\"What a day!\"";
    printf("  %s \"TEXT\" [\"SECOND TEXT\"]\n      what it is, the likeliest "
           "first; - takes the text from standard input\n",
           self);
  }
  if (generates) {
    if (card.roles.source.empty() && !media)
      printf("  %s generate --ids 1,2,3\n", self);
    printf("  %s generate --input FILE --output FILE -n N\n"
           "      a batch: the file holds the tensors that run takes, the "
           "result `ids`\n",
           self);
  }
  printf("  %s run --input FILE --output FILE\n"
         "      tensors in, tensors out, by name, as safetensors files\n"
         "  %s info [--json]\n"
         "      inputs, outputs, dims and their bounds, memory\n"
         "  %s bench [--prompt-tokens P] [--new-tokens N] [--batch B] "
         "[--json]\n"
         "      speed, beside what this machine can reach%s\n",
         self, self, self,
         generates ? "" : "; --input FILE: the tensors that run takes");
  printf("  %s licences\n      the notices of what is linked in\n\n", self);
  if (generates)
    printChoices(card, tokenizes);
  if (classifies && card.kind != "ctc")
    printf("  --top N                   so many labels, 5 if not given\n"
           "  --json                    as one JSON object\n");
  printf("  --threads N               one a core if not given\n");
  if (run)
    printTensors(*run);
  if (example.empty() && generates && card.roles.source.empty() && !media)
    example = "generate --ids 1,2,3 -n 20";
  if (example.empty())
    example = "run --input in.safetensors --output out.safetensors";
  printf("\nExample: %s %s\n", self, example.c_str());
  return {};
}

} // namespace heddle::rt
