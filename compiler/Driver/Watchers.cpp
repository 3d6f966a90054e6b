//===- Watchers.cpp - the watchers of a command line ----------------------===//

#include "compiler/Driver/Watchers.h"
#include "compiler/Import/Json/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"

using namespace heddle;

/// The flags of all passes of all targets, in order.
static std::vector<std::string> allPasses() {
  std::vector<std::string> flags;
  for (const TargetKind &kind : targetKinds())
    for (const Stage &stage : kind.stages())
      for (PassFactory create : stage.passes)
        if (std::string flag = create({})->getArgument().str(); !llvm::is_contained(flags, flag))
          flags.push_back(std::move(flag));
  return flags;
}

int Watchers::checkNames() const {
  const WatchOptions &watch = options.watch;
  if (watch.before.empty() && watch.after.empty())
    return Ok;
  std::vector<std::string> known = allPasses();
  for (const std::vector<std::string> *names : {&watch.before, &watch.after})
    for (const std::string &name : *names)
      if (!llvm::is_contained(known, name))
        return console.complain(Error::BadUsage, "there is no pass " + quote(name) + nearest(name, known) +
                                                     " (`heddle stages` lists all of them)");
  return Ok;
}

int Watchers::begin() {
  WatchOptions &watch = options.watch;
  if (int wrong = checkNames())
    return wrong;
  bool prints = !watch.before.empty() || !watch.after.empty() || !watch.change.empty();
  bool filters = !watch.functions.empty() || !watch.at.empty();
  if (filters && !prints && options.dumpDir.empty())
    return console.complain(Error::BadUsage, "--function and --at choose what --dump-ir and --print-ir-... show, and "
                                             "none of these is there");
  std::string error;
  std::optional<TextFilter> parsed = TextFilter::parse(watch.functions, watch.at, error);
  if (!parsed)
    return console.complain(Error::BadUsage, "--at: " + error);
  filter = std::move(*parsed);
  watch.filter = &filter;

  // The trace comes first: an event of a pass ends before others look at the pass.
  if (!watch.trace.empty())
    options.watchers.push_back(&trace.emplace());
  if (!options.time.empty()) {
    options.times = &times.emplace(options.time == "json" ? nullptr : &console.err);
    options.watchers.push_back(options.times);
  }
  if (prints)
    options.watchers.push_back(&print.emplace(console.err, watch, filter, options.locations));
  if (watch.temps) {
    options.watchers.push_back(&temps.emplace(options));
    return temps->begin(console);
  }
  return Ok;
}

void Watchers::sayMissed() {
  std::vector<std::string> known;
  std::string word = filter.missed(known);
  if (!word.empty())
    console.err << "heddle: warning: " << escapedLines(word) << ": no pass has seen it"
                << nearest(llvm::StringRef(word).split('=').second, known) << "\n";
}

int Watchers::end(int code) {
  if (temps)
    code = temps->end(console, code);
  if (times)
    times->finish(console.out);
  if (trace)
    if (int failed = trace->write(console, options.watch.trace); code == Ok)
      code = failed;
  if (code == Ok)
    sayMissed();
  return code;
}
