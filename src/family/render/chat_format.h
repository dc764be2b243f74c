// The chat formats we can write without running a model's own template: recognised by what the
// template text contains, as llama.cpp's src/llama-chat.cpp does it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace adjudge {

// A conversation of one system and one user turn, up to where the model would speak.
struct ChatFormat {
  std::string_view name;
  std::string_view before_system;
  std::string_view before_user;  // ends the system turn
  std::string answer;            // ends the user turn; the next token is the model's
};

// `split` is tokenizer.ggml.pre: Mistral's tekken files write no spaces around their marks.
std::optional<ChatFormat> recognise_chat_format(std::string_view chat_template,
                                                std::string_view split);

}  // namespace adjudge
