// Writes a GGUF file of floats again with blocks of codes, by llama.cpp's own quantiser.
//
//   llama_quantize FLOATS.gguf CODED.gguf FTYPE THREADS [mixed]
//
// FTYPE is llama.cpp's number of a kind of file (llama_ftype). Every matrix gets the same type of block; with `mixed`,
// some get more bits, as in the files that people download (Q4_K_M, ...).
#include "llama.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

int main(int argc, char **argv) {
  if (argc < 5) {
    fprintf(stderr, "llama_quantize FLOATS.gguf CODED.gguf FTYPE THREADS [mixed]\n");
    return 2;
  }
  llama_log_set(
      [](ggml_log_level level, const char *text, void *) {
        if (level == GGML_LOG_LEVEL_ERROR)
          fputs(text, stderr);
      },
      nullptr);
  llama_backend_init();
  llama_model_quantize_params params = llama_model_quantize_default_params();
  params.ftype = static_cast<llama_ftype>(atoi(argv[3]));
  params.nthread = atoi(argv[4]);
  params.pure = argc < 6 || strcmp(argv[5], "mixed");
  return llama_model_quantize(argv[1], argv[2], &params) ? 1 : 0;
}
