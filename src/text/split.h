// The pre-tokenizer splits: where a text is cut into the pieces that are merged each for itself.
// Written by hand after the patterns of the tokenizers, in the reading of llama.cpp's
// src/unicode.cpp. A piece depends only on what follows it, so a split is one function.
#pragma once

#include <string>
#include <string_view>

namespace adjudge::text {

struct Split {
  std::string_view name;
  // The offset behind the piece that starts at `begin`, which lies before the end of `text`. Null:
  // the tokenizer is not byte-level and cuts words itself.
  std::size_t (*piece_end)(std::string_view text, std::size_t begin);
  bool takes_whole_words;  // a piece that is a token is taken without merging ("ignore_merges")
  bool adds_bos;           // unless the file says otherwise
};

// Words that begin with a visible space: metaspace_encoder.h.
inline constexpr std::string_view kMetaspaceSplit = "mmbert";

// The split that a value of tokenizer.ggml.pre names; null where it is none of ours.
const Split* find_split(std::string_view pre);

// Every value find_split() knows, for messages.
std::string split_names();

}  // namespace adjudge::text
