// Byte-pair encoding over characters, as Gemma's vocabulary has it, with ModernBERT's words: spaces
// become U+2581, every line begins with one, and each of them begins a word; line feeds stand
// alone. A character that no token has becomes the tokens of its bytes, "<0x0A>".
// Reference: llama.cpp src/llama-vocab.cpp, where pre is mmbert.
#pragma once

#include <memory>

#include "text/run_encoder.h"
#include "text/vocabulary.h"

namespace adjudge::text {

// Keeps a reference to the vocabulary.
Result<std::unique_ptr<const RunEncoder>> read_metaspace_encoder(const gguf::Metadata& metadata,
                                                                 const Vocabulary& vocabulary);

}  // namespace adjudge::text
