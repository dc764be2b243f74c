#include "family/render/chat_format.h"

#include <gtest/gtest.h>

namespace adjudge {
namespace {

// One system and one user turn up to the answer; "?" when the template is not recognised.
std::string conversation(const std::string& chat_template, std::string_view split = "qwen2") {
  const auto format = recognise_chat_format(chat_template, split);
  if (!format) return "?";
  return std::string(format->before_system) + "S" + std::string(format->before_user) + "U" +
         format->answer;
}

constexpr const char* kChatMl =
    "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nU<|im_end|>\n<|im_start|>assistant\n";

TEST(ChatFormat, WritesEachFormatItRecognises) {
  EXPECT_EQ(conversation("{{ '<|im_start|>' + role }}"), kChatMl);
  EXPECT_EQ(conversation("<|im_start|>x<|im_sep|>"),
            "<|im_start|>system<|im_sep|>S<|im_end|><|im_start|>user<|im_sep|>U<|im_end|>"
            "<|im_start|>assistant<|im_sep|>");
  EXPECT_EQ(conversation("'<|start_header_id|>' + role + '<|end_header_id|>'"),
            "<|start_header_id|>system<|end_header_id|>\n\nS<|eot_id|><|start_header_id|>user"
            "<|end_header_id|>\n\nU<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n");
  EXPECT_EQ(conversation("<start_of_turn>"),
            "<start_of_turn>user\nS\n\nU<end_of_turn>\n<start_of_turn>model\n");
  EXPECT_EQ(conversation("<|user|> <|end|> <|assistant|>"),
            "<|system|>\nS<|end|>\n<|user|>\nU<|end|>\n<|assistant|>\n");
}

TEST(ChatFormat, TellsTheMistralsApart) {
  EXPECT_EQ(conversation("' [INST] ' + system_message"), " [INST] S\n\nU [/INST]");
  EXPECT_EQ(conversation("[INST] [AVAILABLE_TOOLS]"), "[INST] S\n\nU[/INST]");
  EXPECT_EQ(conversation("\"[INST]\" [AVAILABLE_TOOLS]"), "[INST]S\n\nU[/INST]");
  EXPECT_EQ(conversation("[INST] [SYSTEM_PROMPT]"),
            "[SYSTEM_PROMPT] S[/SYSTEM_PROMPT][INST] U[/INST]");
  EXPECT_EQ(conversation("[INST] [SYSTEM_PROMPT]", "tekken"),
            "[SYSTEM_PROMPT]S[/SYSTEM_PROMPT][INST]U[/INST]");
  EXPECT_EQ(conversation("[INST] <<SYS>>"), "?");
}

TEST(ChatFormat, ClosesTheThoughtOfModelsThatThink) {
  const std::string closed = std::string(kChatMl) + "<think>\n\n</think>\n\n";
  EXPECT_EQ(conversation("<|im_start|> {% if enable_thinking is false %}"), closed);
  EXPECT_EQ(conversation("{{- '<|im_start|>assistant\\n<think>\\n' }}"), closed);
  EXPECT_EQ(conversation("<|im_start|> content.split('</think>')"), kChatMl);
}

TEST(ChatFormat, LeavesOutWhatItDoesNotKnow) {
  EXPECT_EQ(conversation(""), "?");
  EXPECT_EQ(conversation("{{ messages }}"), "?");
  EXPECT_EQ(conversation("<|im_start|> <end_of_utterance>"), "?");
  EXPECT_EQ(conversation("[gMASK]<sop>"), "?");
  EXPECT_EQ(conversation("<|assistant|> <|user|> </s>"), "?");
}

}  // namespace
}  // namespace adjudge
