// The engine of models that read a text whole: vectors of texts, labels, words behind masks, answers out of a text. All
// that waits is one round: its texts, sorted by length, become padded batches.
#ifndef HEDDLE_RUNTIME_SERVE_ENCODERENGINE_H
#define HEDDLE_RUNTIME_SERVE_ENCODERENGINE_H

#include "runtime/Serve/Engine.h"

namespace heddle::serve {

/// What a model that reads texts answers; an error if that is nothing which is served.
rt::Status encoderEndpoint(const rt::Card &card, const rt::Tokenizer &tokenizer, Endpoint &endpoint);

/// At most `queue` requests wait. The arguments must outlive the engine; the model must have been started when it runs.
std::unique_ptr<Engine> encoderEngine(const Service &service, Listener &listener, Metrics &metrics, size_t queue);

} // namespace heddle::serve

#endif
