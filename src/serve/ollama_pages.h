// What Ollama's clients look at before they ask: its version, its models, one model, what is
// loaded.
#pragma once

#include <span>
#include <string>

#include "serve/models_page.h"

namespace adjudge::serve {

std::string print_ollama_version(const std::string& version);
std::string print_ollama_tags(std::span<const ModelCard> cards);
std::string print_ollama_show(const ModelCard& card);
// `loaded`: places of cards.
std::string print_ollama_ps(std::span<const ModelCard> cards, std::span<const int> loaded);

// The card that a /api/show body names; null where none is meant.
const ModelCard* find_ollama_card(std::span<const ModelCard> cards, std::string_view body);

}  // namespace adjudge::serve
