// Finds the tokens that stand in a text as they are written: control tokens where the caller allows
// them, user-defined tokens everywhere. Longest token first, as the reference cuts (llama.cpp
// src/llama-vocab.cpp, tokenizer_st_partition), in time linear in the text.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "text/vocabulary.h"

namespace adjudge::text {

// [begin, end) of a text.
struct Stretch {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// A recognised token and what it takes out of the text: its own bytes and the white space it
// strips.
struct Cut {
  Stretch stretch;
  Token token = 0;
};

// Which tokens swallow the white space beside them; files do not say, the reference goes by names.
struct StripRules {
  std::string_view strips_left;              // the one token that does
  bool all_strip_right = false;              // every token does ...
  std::array<std::string_view, 3> unless{};  // ... but these
};

class SpecialMatcher {
 public:
  // Keeps references to the texts of `vocabulary`.
  SpecialMatcher(const Vocabulary& vocabulary, const StripRules& rules);

  // The recognised tokens in order, without overlap. A control token counts only where it lies
  // within one stretch of `special` (ascending, without overlap).
  std::vector<Cut> find(std::string_view text, std::span<const Stretch> special) const;

 private:
  struct Candidate {
    std::string_view text;
    Token token = 0;
    bool everywhere = false;
    bool strips_left = false;
    bool strips_right = false;
  };

  // Aho-Corasick over the candidates; children lie side by side, ordered by their byte.
  struct Node {
    int children_begin = 0;
    int children_end = 0;
    int fallback = 0;    // the node of the longest proper suffix
    int candidate = -1;  // that ends here
    int next_match = 0;  // the nearest node along the fallbacks with a candidate; 0: none
    unsigned char byte = 0;
  };

  struct Cluster;
  class Search;

  void collect(const Vocabulary& vocabulary, const StripRules& rules);
  void build_trie();
  void link();
  int child(int node, unsigned char byte) const;
  int step(int node, unsigned char byte) const;

  std::vector<Candidate> candidates_;  // longest first
  std::vector<Node> nodes_;            // breadth first, from the root
  std::array<int, 256> root_children_{};
};

}  // namespace adjudge::text
