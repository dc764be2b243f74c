// A vocabulary and a text out of any bytes: the vocabulary is refused or read, and a text in UTF-8
// comes back from its tokens.
//
// The input's lines: the split; then tokens, each behind its type as a digit; then merges, each
// behind a '+'; what follows an empty line is the text.

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "text/fake_vocabulary.h"
#include "text/unicode.h"

namespace {

using adjudge::text::FakeVocabulary;
using adjudge::text::TokenType;

std::string_view take_line(std::string_view& rest) {
  const std::string_view line = rest.substr(0, rest.find('\n'));
  rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  return line;
}

FakeVocabulary read_vocabulary(std::string_view& rest) {
  FakeVocabulary fake;
  fake.pre = take_line(rest);
  for (auto line = take_line(rest); !line.empty(); line = take_line(rest)) {
    const char kind = line.front();
    line.remove_prefix(1);
    if (kind == '+') {
      fake.merges.emplace_back(line);
    } else {
      fake.add(line, static_cast<TokenType>(kind - '0'));
    }
  }
  return fake;
}

// A merge may go through a text that is no token, whose bytes are lost then; some splits strip
// blanks, and one takes whole words whatever the type of their token.
bool keeps_texts(const FakeVocabulary& fake) {
  return fake.merges.empty() && fake.pre.starts_with("qwen");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const FakeVocabulary fake = read_vocabulary(rest);
  const auto tokenizer = adjudge::text::Tokenizer::open(fake.metadata());
  if (!tokenizer.ok()) {
    CHECK(!tokenizer.error().message().empty());
    return 0;
  }
  for (const bool parses_special : {false, true}) {
    std::string spelled;
    for (const auto token : tokenizer.value()->encode(rest, parses_special)) {
      CHECK(token >= 0 && token < tokenizer.value()->vocabulary_count());
      spelled += tokenizer.value()->text_of(token);
    }
    if (keeps_texts(fake) && !adjudge::text::repair(rest).has_value()) CHECK(spelled == rest);
  }
  return 0;
}
