// A queue between two threads with a limit, and an end: the taker gets what is left, then nothing.
#ifndef HEDDLE_RUNTIME_SERVE_QUEUE_H
#define HEDDLE_RUNTIME_SERVE_QUEUE_H

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace heddle::serve {

template <typename T> class Queue {
public:
  explicit Queue(size_t most) : most(most) {}

  /// False: the queue is full or closed, and `value` stays where it was.
  bool put(T &value) {
    std::lock_guard<std::mutex> lock(mutex);
    if (closed || values.size() >= most)
      return false;
    values.push_back(std::move(value));
    ready.notify_one();
    return true;
  }
  /// Waits for a value; nothing: the queue is closed and empty.
  std::optional<T> take() {
    std::unique_lock<std::mutex> lock(mutex);
    ready.wait(lock, [&] { return closed || !values.empty(); });
    if (values.empty())
      return std::nullopt;
    T value = std::move(values.front());
    values.pop_front();
    return value;
  }
  /// A value if one is there.
  std::optional<T> tryTake() {
    std::lock_guard<std::mutex> lock(mutex);
    if (values.empty())
      return std::nullopt;
    T value = std::move(values.front());
    values.pop_front();
    return value;
  }
  /// Takes all that waits, at once.
  std::deque<T> drain() {
    std::lock_guard<std::mutex> lock(mutex);
    return std::exchange(values, {});
  }
  void close() {
    std::lock_guard<std::mutex> lock(mutex);
    closed = true;
    ready.notify_all();
  }
  size_t size() const {
    std::lock_guard<std::mutex> lock(mutex);
    return values.size();
  }

private:
  const size_t most;
  mutable std::mutex mutex;
  std::condition_variable ready;
  std::deque<T> values;
  bool closed = false;
};

} // namespace heddle::serve

#endif
