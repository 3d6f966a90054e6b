// Runs a GGUF file through llama.cpp's library, on ids, and prints one line of JSON: medians in ms.
//
//   llama_probe MODEL BACKENDS THREADS [key=value ...]
//
// BACKENDS is a folder of libggml-cpu*.so, of which llama.cpp takes the one that fits the processor best. A pass is a
// prompt of every sequence in one call, then steps of all together; the first does not count. Keys: prompt, steps,
// sequences, shared (ids in front that all have, computed once), flash=0|1, unified=1 (one cache for all sequences),
// mmap=0, embeddings=1 (an encoder's rows), seconds (0: one pass), dump=FILE (the last logits, or all rows, raw f32).
#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "llama.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <vector>

static double now() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times.empty() ? 0 : times[times.size() / 2];
}

[[noreturn]] static void fail(const char *why) {
  fprintf(stderr, "llama_probe: error: %s\n", why);
  exit(1);
}

struct Keys {
  std::map<std::string, std::string> of;
  Keys(int count, char **words) {
    for (int i = 0; i < count; ++i)
      if (const char *is = strchr(words[i], '='))
        of[std::string(words[i], is - words[i])] = is + 1;
  }
  double number(const char *key, double other) { return of.count(key) ? atof(of[key].c_str()) : other; }
};

// The library of the processor that was loaded, by name.
static std::string backend() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (size_t at = line.find("libggml-cpu"); at != std::string::npos)
      return line.substr(at);
  return "none";
}

// Threads that stay, each on a core of its own, as llama.cpp's own tools have them.
static void keepThreads(llama_context *context, int threads) {
  ggml_threadpool_params params = ggml_threadpool_params_default(threads);
  ggml_backend_reg_t cpu = ggml_backend_reg_by_name("CPU");
  auto make =
      cpu ? (decltype(ggml_threadpool_new) *)ggml_backend_reg_get_proc_address(cpu, "ggml_threadpool_new") : nullptr;
  if (!make)
    fail("no threads");
  llama_attach_threadpool(context, make(&params), nullptr);
}

int main(int argc, char **argv) {
  if (argc < 4)
    fail("llama_probe MODEL BACKENDS THREADS [key=value ...]");
  Keys keys(argc - 4, argv + 4);
  const int threads = atoi(argv[3]), prompt = keys.number("prompt", 64), steps = keys.number("steps", 0);
  const int sequences = keys.number("sequences", 1), shared = keys.number("shared", 0);
  const bool embeddings = keys.number("embeddings", 0), unified = keys.number("unified", 0);
  const double seconds = keys.number("seconds", 2);

  llama_log_set(
      [](ggml_log_level level, const char *text, void *) {
        if (level == GGML_LOG_LEVEL_ERROR)
          fputs(text, stderr);
      },
      nullptr);
  ggml_backend_load_all_from_path(argv[2]);
  llama_backend_init();
  llama_model_params how = llama_model_default_params();
  if (!keys.number("mmap", 1))
    how.load_mode = LLAMA_LOAD_MODE_NONE;
  llama_model *model = llama_model_load_from_file(argv[1], how);
  if (!model)
    fail("the model cannot be loaded");

  const int length = (shared + prompt + steps + 255) / 256 * 256;
  llama_context_params params = llama_context_default_params();
  params.n_ctx = sequences * length, params.n_batch = std::max({512, sequences * prompt, shared}),
  params.n_ubatch = 512;
  params.n_threads = params.n_threads_batch = threads, params.n_seq_max = sequences, params.kv_unified = unified;
  params.flash_attn_type = keys.number("flash", 1) ? LLAMA_FLASH_ATTN_TYPE_ENABLED : LLAMA_FLASH_ATTN_TYPE_DISABLED;
  params.embeddings = embeddings, params.no_perf = true;
  if (embeddings)
    params.pooling_type = LLAMA_POOLING_TYPE_NONE;
  llama_context *context = llama_init_from_model(model, params);
  if (!context)
    fail("no context");
  keepThreads(context, threads);
  llama_memory_t memory = embeddings ? nullptr : llama_get_memory(context);

  auto id = [&](int sequence, int i) {
    return llama_token(100 + (i * 7919l + (embeddings ? 13 : 0)) % 20000 + sequence);
  };
  const int vocabulary = llama_vocab_n_tokens(llama_model_get_vocab(model)), width = llama_model_n_embd(model);

  llama_batch batch = llama_batch_init(params.n_batch, 0, 1);
  auto put = [&](int sequence, int place, llama_token token, bool wanted) {
    int n = batch.n_tokens++;
    batch.token[n] = token, batch.pos[n] = place, batch.n_seq_id[n] = 1, batch.seq_id[n][0] = sequence,
    batch.logits[n] = wanted;
  };
  auto timed = [&](std::vector<double> *times) {
    double begin = now();
    if (llama_decode(context, batch))
      fail("llama_decode");
    llama_synchronize(context);
    if (times)
      times->push_back(now() - begin);
  };
  // `row`: the place in the batch.
  auto likeliest = [&](int row) {
    const float *logits = llama_get_logits_ith(context, row);
    return llama_token(std::max_element(logits, logits + vocabulary) - logits);
  };

  if (shared) {
    for (int i = 0; i < shared; ++i)
      put(0, i, 300 + i * 31 % 20000, i + 1 == shared);
    timed(nullptr);
    for (int s = 1; s < sequences; ++s)
      llama_memory_seq_cp(memory, 0, s, -1, -1);
  }
  std::vector<double> prefill, decode, pass;
  std::vector<llama_token> next(sequences);
  double begin = now();
  // Three passes, or two where they are long.
  auto enough = [&](int turn) {
    return seconds == 0 ? turn > 0
                        : turn >= 2000 || (turn >= (now() - begin < 1e4 ? 3 : 2) && now() - begin >= 1e3 * seconds);
  };
  for (int turn = 0; !enough(turn); ++turn) {
    if (memory && shared)
      for (int s = 0; s < sequences; ++s)
        llama_memory_seq_rm(memory, s, shared, -1);
    else if (memory)
      llama_memory_clear(memory, false);
    batch.n_tokens = 0;
    for (int s = 0; s < sequences; ++s)
      for (int i = 0; i < prompt; ++i)
        put(s, shared + i, id(s, i), embeddings || i + 1 == prompt);
    double start = now();
    timed(turn ? &prefill : nullptr);
    if (!turn && keys.of.count("dump")) {
      std::ofstream out(keys.of["dump"], std::ios::binary);
      if (embeddings)
        for (int i = 0; i < prompt; ++i)
          out.write((const char *)llama_get_embeddings_ith(context, i), 4 * width);
      else
        out.write((const char *)llama_get_logits_ith(context, prompt - 1), 4 * vocabulary);
    }
    if (embeddings)
      continue;
    for (int s = 0; s < sequences; ++s)
      next[s] = likeliest((s + 1) * prompt - 1);
    for (int step = 0; step < steps; ++step) {
      batch.n_tokens = 0;
      for (int s = 0; s < sequences; ++s)
        put(s, shared + prompt + step, next[s], true);
      timed(turn ? &decode : nullptr);
      for (int s = 0; s < sequences; ++s)
        next[s] = likeliest(s);
    }
    if (turn)
      pass.push_back(now() - start);
  }
  printf(
      "{\"backend\":\"%s\",\"system\":\"%s\",\"prefill_ms\":%.4f,\"decode_ms\":%.4f,\"pass_ms\":%.4f,\"passes\":%zu,\"token\":%d}\n",
      backend().c_str(), llama_print_system_info(), median(prefill), median(decode), median(pass), prefill.size(),
      next[0]);
  fflush(stdout);
  _Exit(0);
}
