// What computes: requests are put in by the reader's thread, and answered on the engine's own, which is the program's
// thread. How many are computed at once is the engine's business.
#ifndef HEDDLE_RUNTIME_SERVE_ENGINE_H
#define HEDDLE_RUNTIME_SERVE_ENGINE_H

#include "runtime/Serve/Requests.h"
#include <memory>

namespace heddle::serve {

class Engine {
public:
  virtual ~Engine() = default;

  /// Understands a request and lets it wait for its turn, or answers at once why not. Called by the reader's thread.
  virtual void put(ExchangePtr exchange) = 0;
  /// Answers what is put in, until `close`; then what still waits, and returns.
  virtual void run() = 0;
  /// Nothing is put in any more.
  virtual void close() = 0;
  /// Refuses all that waits, as the server is stopping. Called by the loop.
  virtual void drain() = 0;
  /// Requests that wait.
  virtual size_t waiting() const = 0;
  /// How many texts can be made at the same time.
  virtual size_t slots() const = 0;
};

/// So many texts at once (SlotEngine.cpp), of a model that was started and has an entry `batch`. Errors: not enough
/// memory for so many.
rt::Status manyAtOnce(const Service &service, Listener &listener, Metrics &metrics, size_t queue, int64_t slots,
                      std::unique_ptr<Engine> &engine);

/// Makes the engine of a model that was started, and says in `service` what it answers; at most `queue` requests wait.
/// `together` becomes how many texts are computed at once, for people. All but `engine` must outlive it. Errors: a
/// model that is not served, --slots that it cannot have, not enough memory.
using MakeEngine = rt::Status (*)(Service &service, Listener &listener, Metrics &metrics, size_t queue,
                                  std::optional<int64_t> slots, std::string &together, std::unique_ptr<Engine> &engine);

} // namespace heddle::serve

// Of models that make texts (TextEngine.cpp), and of those that read them (EncoderEngine.cpp); null in programs that
// have the other one.
extern "C" {
extern const heddle::serve::MakeEngine heddle_serve_texts __attribute__((weak));
extern const heddle::serve::MakeEngine heddle_serve_encoder __attribute__((weak));
}

#endif
