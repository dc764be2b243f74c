#include "family/render/chat_format.h"

namespace adjudge {
namespace {

const ChatFormat kChatMl = {"chatml", "<|im_start|>system\n", "<|im_end|>\n<|im_start|>user\n",
                            "<|im_end|>\n<|im_start|>assistant\n"};
const ChatFormat kPhi4 = {"phi4", "<|im_start|>system<|im_sep|>",
                          "<|im_end|><|im_start|>user<|im_sep|>",
                          "<|im_end|><|im_start|>assistant<|im_sep|>"};
const ChatFormat kPhi3 = {"phi3", "<|system|>\n", "<|end|>\n<|user|>\n",
                          "<|end|>\n<|assistant|>\n"};
const ChatFormat kGemma = {"gemma", "<start_of_turn>user\n", "\n\n",
                           "<end_of_turn>\n<start_of_turn>model\n"};
const ChatFormat kLlama3 = {"llama3", "<|start_header_id|>system<|end_header_id|>\n\n",
                            "<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n",
                            "<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n"};
const ChatFormat kMistral1 = {"mistral-v1", " [INST] ", "\n\n", " [/INST]"};
const ChatFormat kMistral3 = {"mistral-v3", "[INST] ", "\n\n", "[/INST]"};
const ChatFormat kMistral3Tekken = {"mistral-v3-tekken", "[INST]", "\n\n", "[/INST]"};
const ChatFormat kMistral7 = {"mistral-v7", "[SYSTEM_PROMPT] ", "[/SYSTEM_PROMPT][INST] ",
                              "[/INST]"};
const ChatFormat kMistral7Tekken = {"mistral-v7-tekken", "[SYSTEM_PROMPT]",
                                    "[/SYSTEM_PROMPT][INST]", "[/INST]"};

class TemplateText {
 public:
  explicit TemplateText(std::string_view text) : text_(text) {}
  bool has(std::string_view part) const { return text_.find(part) != std::string_view::npos; }
  bool begins(std::string_view part) const { return text_.starts_with(part); }

 private:
  std::string_view text_;
};

// Models that can think write an empty thought where they answer at once. The line feed in the
// second test is two characters of Jinja source.
ChatFormat chat_ml(const TemplateText& text) {
  ChatFormat format = kChatMl;
  if (text.has("enable_thinking") || text.has("assistant\\n<think>")) {
    format.name = "chatml-no-think";
    format.answer += "<think>\n\n</think>\n\n";
  }
  return format;
}

std::optional<ChatFormat> mistral(const TemplateText& text, std::string_view split) {
  if (text.has("[SYSTEM_PROMPT]")) return split == "tekken" ? kMistral7Tekken : kMistral7;
  if (!text.has("' [INST] ' + system_message") && !text.has("[AVAILABLE_TOOLS]")) {
    return std::nullopt;  // Llama 2
  }
  if (text.has(" [INST]")) return kMistral1;
  return text.has("\"[INST]\"") ? kMistral3Tekken : kMistral3;
}

}  // namespace

// The order of the tests is llama.cpp's; formats between ours are told apart and left out.
std::optional<ChatFormat> recognise_chat_format(std::string_view chat_template,
                                                std::string_view split) {
  const TemplateText text(chat_template);
  if (text.has("<|im_start|>")) {
    if (text.has("<|im_sep|>")) return kPhi4;
    if (text.has("<end_of_utterance>")) return std::nullopt;  // SmolVLM
    return chat_ml(text);
  }
  if (text.begins("mistral") || text.has("[INST]")) return mistral(text, split);
  if (text.has("<|assistant|>") && text.has("<|end|>")) return kPhi3;
  if (text.has("[gMASK]<sop>")) return std::nullopt;  // ChatGLM 4
  if (text.has("<|user|>")) return std::nullopt;      // Falcon, Zephyr
  if (text.has("<start_of_turn>")) return kGemma;
  if (text.has("<|start_header_id|>") && text.has("<|end_header_id|>")) return kLlama3;
  return std::nullopt;
}

}  // namespace adjudge
