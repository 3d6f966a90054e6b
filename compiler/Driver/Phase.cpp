//===- Phase.cpp - a phase of a compilation -------------------------------===//

#include "compiler/Driver/Phase.h"
#include "compiler/Driver/Limits.h"
#include "compiler/Driver/ProgressLine.h"

using namespace heddle;
using llvm::StringRef;

static std::string wordsOf(StringRef kind, StringRef name) { return (kind + (kind.empty() ? "" : " ") + name).str(); }

Phase::Phase(StringRef kind, StringRef name, TimeReport *times)
    : kind(kind), name(name), times(times), start(times ? TimeReport::Usage::now() : TimeReport::Usage()),
      trace(wordsOf(kind, name)) {
  ProgressLine::bytes(0, 0);
  nowDoing("the " + wordsOf(kind, name));
}

Phase::~Phase() {
  if (times)
    times->phase(kind, name, start);
}
