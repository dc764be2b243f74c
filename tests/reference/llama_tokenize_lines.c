// Token ids as llama.cpp gives them, for many texts with one load of the vocabulary.
//   llama_tokenize_lines MODEL 0|1 < TEXTS        1: special tokens are parsed
// TEXTS: each text as its length (4 bytes, little endian) and its bytes. Answers one line of ids per text.
// compare_tokenizer.py compiles and runs this.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "llama.h"

static void silence(enum ggml_log_level level, const char* text, void* data) {
  (void)level, (void)text, (void)data;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  llama_log_set(silence, NULL);
  struct llama_model_params params = llama_model_default_params();
  params.vocab_only = true;
  struct llama_model* model = llama_model_load_from_file(argv[1], params);
  if (model == NULL) return 1;
  const struct llama_vocab* vocab = llama_model_get_vocab(model);
  const bool special = argv[2][0] == '1';
  uint32_t bytes;
  while (fread(&bytes, sizeof(bytes), 1, stdin) == 1) {
    char* text = malloc(bytes + 1);
    const int32_t count_max = (int32_t)bytes + 8;
    llama_token* tokens = malloc(sizeof(*tokens) * (size_t)count_max);
    if (fread(text, 1, bytes, stdin) != bytes) return 1;
    const int32_t count =
        llama_tokenize(vocab, text, (int32_t)bytes, tokens, count_max, false, special);
    for (int32_t i = 0; i < count; ++i) printf(i > 0 ? " %d" : "%d", tokens[i]);
    putchar('\n');
    free(text);
    free(tokens);
  }
  llama_model_free(model);
  return 0;
}
