//===- Help.cpp - The help of a compiled model ----------------------------===//
//
// The command `help`. It shows only what this model can do, with an example for
// a model of its kind, and every command by itself.
//
//===----------------------------------------------------------------------===//
#include "heddle/nearest.h"
#include "runtime/Core/Asking.h"
#include "runtime/Core/ValidUtf8.h"
#include "runtime/Program/Commands.h"

#include <algorithm>
#include <cstdio>

namespace heddle::rt {

/// The options that choose tokens, with the model's defaults.
static void printChoices(const Card &card, bool text) {
  const Settings &settings = card.roles.settings;
  bool samples = settings.flag(generation::do_sample);
  double beams = settings.number(generation::num_beams);
  if (card.roles.context)
    printf("  --context N               texts of up to N positions; the model was made for %lld\n",
           static_cast<long long>(*card.roles.context));
  printf("  -n N, --max-new-tokens N  at most N new tokens\n"
         "  --greedy                  the likeliest token each time%s\n",
         samples || beams > 1 ? "" : " (default)");
  printf("  --temp T --top-k K --top-p P --min-p P\n"
         "                            sample%s, another text each time\n"
         "  --seed S                  sample the text of this seed again\n",
         samples ? " (default)" : "");
  if (beams > 1)
    printf("  --num-beams N             search (default: %g beams)\n", beams);
  else
    printf("  --num-beams N             search for the likeliest text\n");
  printf("      --length-penalty X --early-stopping true|false|never\n"
         "  --repetition-penalty X --no-repeat-ngram-size N\n"
         "                            less of what is there; padding does not "
         "count\n"
         "  --encoder-no-repeat-ngram-size N\n"
         "                            no N tokens in a row as the %s has them\n",
         card.roles.source.empty() ? "prompt" : "source");
  if (text)
    printf("  --stop TEXT               ends before TEXT; may be given again\n");
  if (!card.roles.languages.empty())
    printf("  --language NAME           of the speech; found out if not given\n");
  if (!card.roles.tasks.empty())
    printf("  --task NAME               transcribe or translate\n");
  printf("  --ignore-eos              go on after the end of the text%s\n"
         "  --print-ids               ids instead of text\n"
         "  --json                    a line of JSON a piece, then one with the number of tokens\n"
         "  --stats                   times and the seed, on stderr, or in the last line of JSON\n",
         settings.has(generation::forced_eos_token_id) ? ", and force none" : "");
}

static bool hasCommand(const char *name) {
  std::vector<std::string> names = commandNames();
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The inputs and outputs of `run`.
static void printTensors(const Entry &run) {
  auto list = [](const char *what, const std::vector<Value> &values, bool byDefault) {
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

namespace {
/// What a model can do, as far as the help depends on it.
struct Abilities {
  bool generates, media, tokenizes, text, spans, classifies, embeds, source, turns;
  TextBeside beside;
  std::string mask; ///< the token for a missing word, if it guesses those
};
} // namespace

static Status abilitiesOf(Model &model, Abilities &can) {
  const Card &card = model.card();
  const Entry *run = card.entry("run");
  can.generates = card.roles.present;
  can.media = takesMedia(card);
  can.source = !card.roles.source.empty();
  can.turns = asksInTurns(card);
  can.tokenizes = model.image().tokenizerSize != 0;
  can.beside = textBeside(card);
  can.text = can.tokenizes && !can.media && (can.generates || (run && run->input("input_ids")));
  can.spans =
      !can.generates && can.text && run->outputIndex("start_logits") >= 0 && run->outputIndex("end_logits") >= 0;
  can.classifies = !can.generates && (can.media || can.text) && run &&
                   (can.spans || run->outputIndex("logits") >= 0 || run->outputIndex("prediction_logits") >= 0);
  can.embeds = can.text && &heddle_vector_command;
  return can.classifies && can.text && &heddle_missing_word ? heddle_missing_word(model, can.mask) : Status();
}

/// The forms without a command, and what each prints.
static void printAsking(const Card &card, const Abilities &can, const char *self) {
  if (can.media && (can.generates || can.classifies)) {
    bool asks = can.beside == TextBeside::Needed;
    printf("  %s %s%s\n      %s\n", self, mediaExample(card), asks ? " \"QUESTION\"" : "",
           asks ? can.generates ? "answers a question about it" : "answers a question about it, the likeliest first"
           : can.generates      ? "what it shows or says, as text"
           : card.kind == "ctc" ? "what is said, as text"
                                : "what it is, the likeliest first");
    if (can.beside == TextBeside::Maybe && can.tokenizes)
      printf("  %s %s \"a picture of\"\n      the same, beginning with these "
             "words\n",
             self, mediaExample(card));
  } else if (can.generates && can.turns) {
    printf("  %s \"QUESTION\"\n      answers it, as a turn of a conversation; --raw continues a text\n", self);
  } else if (can.generates && can.text) {
    printf("  %s \"TEXT\"\n      %s, as it is made\n", self, can.source ? "answers a text" : "continues a text");
  } else if (can.spans) {
    printf("  %s \"QUESTION\" \"TEXT\"\n      the words of the text that "
           "answer it, the likeliest first\n",
           self);
  } else if (!can.mask.empty()) {
    printf("  %s \"TEXT with %s in it\"\n      the words that may be there, "
           "the likeliest first\n",
           self, can.mask.c_str());
  } else if (can.embeds) {
    printf("  %s \"TEXT\" ...\n      a vector of each text, a line of numbers\n"
           "  %s --lines FILE|-\n      the same of each line\n"
           "  %s --similarity \"TEXT\" \"OTHER\" ...\n      how alike the first text and each other are\n",
           self, self, self);
  } else if (can.classifies) {
    printf("  %s \"TEXT\" [\"SECOND TEXT\"]\n      what it is, the likeliest "
           "first\n",
           self);
  }
  bool asks = can.generates || can.classifies; // else no form is above
  if (asks && (can.text || (can.media && can.tokenizes && can.beside != TextBeside::None)))
    printf("      a text that is - is all of standard input; with --lines each "
           "line is one\n");
}

/// An example that works as printed, for the kind of model that this is.
static std::string exampleOf(const Card &card, const Abilities &can) {
  if (can.media && (can.generates || can.classifies))
    return mediaExample(card) + std::string(can.beside == TextBeside::Needed ? " \"What is it?\"" : "");
  if (can.generates && can.turns)
    return "\"Who are you?\"";
  if (can.generates && can.text)
    return can.source ? "\"A text to answer.\"" : "\"Once upon a time\" -n 40";
  if (can.spans)
    return "\"Who is there?\" \"Only the cat is there.\"";
  if (!can.mask.empty())
    return "\"What a " + can.mask + " day!\"";
  if (can.classifies || can.embeds)
    return "\"What a day!\"";
  return can.generates && !can.media ? "generate --ids 1,2,3 -n 20"
                                     : "run --input in.safetensors --output out.safetensors";
}

static void printGenerate(const Abilities &can, const char *self) {
  if (!can.media)
    printf("  %s generate --ids 1,2,3%s\n", self, can.text ? ", or --text TEXT" : "");
  printf("  %s generate --input FILE --output FILE -n N\n"
         "      a batch: the file holds the tensors that run takes; the result "
         "`ids`\n      is [B, prompt + N], filled up where a text ends before\n",
         self);
}

static void printRun(const char *self) {
  printf("  %s run --input FILE --output FILE\n"
         "      tensors in, tensors out, by name: safetensors, .npz or .npy\n"
         "  %s run NAME=@FILE ...\n"
         "      the same, a file an input; without --output the outputs are printed\n",
         self, self);
}

static void printInfo(const char *self) {
  printf("  %s info [--json]\n"
         "      inputs, outputs, dims and their bounds, memory\n",
         self);
}

static void printBench(const Abilities &can, const char *self) {
  printf("  %s bench [%s--batch B] [--profile] [--json]\n"
         "      speed, compared with what this machine can reach%s\n",
         self, can.generates ? "--prompt-tokens P] [--new-tokens N] [" : "--prompt-tokens P] [",
         can.generates ? "" : "; --input FILE: the tensors that run takes");
}

static void printChat(const char *self) {
  printf("  %s chat [--system TEXT]\n      a conversation, a line a question; /help in it lists its commands\n", self);
}

/// What is around a question, in a program with a chat template.
static void printTurnOptions() {
  printf("  --system TEXT             what the model is told first\n"
         "  --messages FILE           a conversation as JSON, [{\"role\": \"user\", \"content\": TEXT}, ...]\n"
         "  --var NAME=JSON           a variable of the chat template; may be given again\n");
}

static void printServe(const char *self) {
  printf("  %s serve [--port N] [--host ADDRESS]\n      the model as a server with OpenAI's API, and a page at /\n",
         self);
}

/// Options and limits of `serve`.
static void printServeOptions() {
  printf("\n  --host ADDRESS            127.0.0.1 if not given; any other needs keys, or --no-key\n"
         "  --port N                  8080; 0: a free one\n"
         "  --context N               positions of a text: those that the model was made for, at most 4096\n"
         "  --slots N                 texts that are made at once (4); 1 where the model cannot, as info says\n"
         "  --queue N                 requests that may wait (64); one more gets 503\n"
         "  --api-key-file FILE       a key a line, at least 16 characters; --no-key: everyone may ask\n"
         "  --alias NAME              another name of the model in requests; may be given again\n"
         "  --allow-host NAME         a name that this server is called by; addresses and localhost are known\n"
         "  --allow-origin URL        pages of elsewhere that may ask\n"
         "  --system TEXT             the system turn of conversations that have none\n"
         "  --special-in-content refuse\n"
         "                            turns that hold special tokens get 400; else they count as such\n"
         "  --no-truncate             texts longer than an encoder takes get 400; else they are cut, with a note here\n"
         "  --max-body BYTES          of a request (4194304)\n"
         "  --connections-per-peer N  of one address (a quarter of all): with one more it loses the one that has kept\n"
         "                            still for longest, or gets 503; a reverse proxy is one address\n"
         "  --drain SECONDS           that running answers have after SIGTERM (30)\n"
         "  --log                     a line an answer on stderr; never what was said\n"
         "  --fields                  prints what a request may say\n"
         "  Fixed: 1024 connections (fewer where ulimit -n says so), 100 requests each; 10 s for a head of at most\n"
         "  16 KiB and 64 fields, 30 s for a body, 60 s idle; an answer of which 1 MiB waits unread is given up.\n"
         "  Where all connections are in use, the address with the most loses the one that has waited longest for its\n"
         "  client. An encoder takes at most 64 texts or 16,384 tokens a batch.\n");
}

/// How vectors are made.
static void printVectorOptions(const Card &card) {
  const VectorRules &rules = card.vectors;
  printf("  --json                    a JSON object a text: {\"embedding\": [...], \"tokens\": N}\n"
         "  --output FILE             all vectors as one f32[texts, D]: FILE.npy, .npz or .safetensors\n"
         "  --dimensions N            the first N numbers of each vector\n"
         "  --normalize, --no-normalize\n"
         "                            vectors of length 1, or not (default: %s)\n"
         "  --pooling MODE            how hidden states become one vector (default: %s)\n"
         "  --prompt TEXT             in front of each text\n",
         rules.normalize ? "length 1" : "not", rules.pooling.empty() ? "the model's own" : rules.poolingText().c_str());
  std::string names;
  for (const auto &[name, text] : rules.prompts)
    names += (names.empty() ? "" : ", ") + validUtf8(name) + (name == rules.defaultPrompt ? " (default)" : "");
  if (!names.empty())
    printf("  --prompt-name NAME        a prompt of the model's: %s\n", names.c_str());
}

static void printLicences(const char *self) {
  printf("  %s licences [--json]\n      the notices of what is linked in\n", self);
}

static void printVerify(const char *self) {
  printf("  %s --verify\n      whether weights, tokenizer and card are what was "
         "compiled\n",
         self);
}

/// Where it runs: what every command takes that calls the model.
static void printWhere(const Card &card) {
  printf("  --threads N               one a core if not given\n"
         "  -q                        no notes and no progress\n");
  if (!card.devices.empty())
    printf("  --device N                which GPU, 0 if not given; cpu: none\n");
}

/// The help of one command: forms, options, an example.
static Status printTopic(const Card &card, const Abilities &can, const char *self, const std::string &topic) {
  const Entry *run = card.entry("run");
  std::string example;
  if (topic == "run") {
    printRun(self);
    printf("\n"
           "  --output FILE             all outputs; .npz and .npy for NumPy, else safetensors; - is standard output\n"
           "  --output NAME=@FILE       one output; may be given again\n"
           "  --json                    prints all numbers of the outputs, as one JSON object\n");
    printWhere(card);
    printf("  --entry NAME              another function of the model: see "
           "info\n");
    if (run)
      printTensors(*run);
    example = "run --input in.safetensors --output out.safetensors";
  } else if (topic == "generate") {
    if (!can.generates)
      return unsupported("this model does not generate").withHelp("what it does: " + std::string(self) + " --help");
    printGenerate(can, self);
    printf("\n");
    printChoices(card, can.tokenizes);
    printWhere(card);
    example = can.media ? "generate --input in.safetensors --output "
                          "out.safetensors -n 20"
                        : "generate --ids 1,2,3 -n 20";
  } else if (topic == "info") {
    printInfo(self);
    printf("\n  --json                    the same and the formulas of sizes, "
           "for programs\n"
           "  --card                    what the compiler wrote\n");
    example = "info";
  } else if (topic == "bench" && hasCommand("bench")) {
    printBench(can, self);
    printf("\n  --json                    as one JSON object\n"
           "  --profile                 also where the time goes: a line for each weight, all layers together,\n"
           "                            compared with what the machine needs for its operations and bytes\n");
    printWhere(card);
    example = can.generates ? "bench --prompt-tokens 128 --new-tokens 32" : "bench --prompt-tokens 128";
  } else if (topic == "chat" && hasCommand("chat")) {
    printChat(self);
    printf("\n");
    printTurnOptions();
    printf(
        "  --context N               positions of the conversation: those that the model was made for, at most 4096\n"
        "  -n N, --temp T, --top-k K, --top-p P, --min-p P, --seed S, --greedy, --repetition-penalty X,\n"
        "  --no-repeat-ngram-size N, --stop TEXT, --ignore-eos, --stats: as without a command\n");
    printWhere(card);
    example = "chat --system \"Answer in one sentence.\"";
  } else if (topic == "serve" && hasCommand("serve")) {
    printServe(self);
    printServeOptions();
    printWhere(card);
    example = "serve --port 8080";
  } else if (topic == "licences") {
    printLicences(self);
    example = "licences";
  } else if (topic == "--verify") {
    printVerify(self);
    printf("\n  --threads N               one a core if not given\n"
           "  --json                    as one JSON object\n");
    example = "--verify";
  } else {
    std::string near = nearestName(topic, commandNames());
    return badUsage("there is no command " + quote(topic))
        .withHelp(near.empty() ? "see --help" : "did you mean " + near + "?");
  }
  printf("\nExample: %s %s\n", self, example.c_str());
  return {};
}

Status helpCommand(Model &model, const std::string &program, const std::string &topic) {
  const Card &card = model.card();
  const char *self = program.c_str();
  Abilities can{};
  HEDDLE_TRY(abilitiesOf(model, can));
  if (!topic.empty())
    return printTopic(card, can, self, topic);
  printf("%s: a model compiled by Heddle\n\n", card.name.c_str());
  printAsking(card, can, self);
  if (can.generates)
    printGenerate(can, self);
  printRun(self);
  printInfo(self);
  if (hasCommand("bench"))
    printBench(can, self);
  if (hasCommand("chat"))
    printChat(self);
  if (hasCommand("serve"))
    printServe(self);
  printVerify(self);
  printLicences(self);
  printf("  %s help COMMAND\n      more of one of these; --version says which Heddle "
         "made it\n\n",
         self);
  if (can.turns) {
    printTurnOptions();
    printf("  --raw                     continue the text, without the chat template, and as for any other model:\n");
  }
  if ((can.text || can.classifies) && (can.turns || card.chat.empty()))
    printf("%s a terminal gets control characters as they are\n",
           can.turns ? "                           " : "  --raw                    ");
  if (can.generates)
    printChoices(card, can.tokenizes);
  if (can.classifies && card.kind != "ctc")
    printf("  --top N                   so many labels, 5 if not given\n"
           "  --json                    as one JSON object\n");
  if (can.classifies && can.text && !can.spans && can.mask.empty())
    printf("  --activation NAME         what logits become: none, sigmoid or softmax\n");
  if (can.embeds)
    printVectorOptions(card);
  if (can.tokenizes && !can.generates)
    printf(
        "  --no-truncate             refuses a text that is longer than the model takes; else it is cut, with a note\n");
  printWhere(card);
  if (const Entry *run = card.entry("run"))
    printTensors(*run);
  printf("\nExample: %s %s\n", self, exampleOf(card, can).c_str());
  return {};
}

} // namespace heddle::rt
