#include "json/print.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/size.h"

namespace adjudge::json {
namespace {

struct Style {
  std::string_view item_separator = ", ";
  std::string_view key_separator = ": ";
  bool sorted = false;
  int indent = 0;  // spaces per level; zero: all on one line
};

// Python leaves the space after a comma out when it indents.
Style style_of(Flavour flavour) {
  switch (flavour) {
    case Flavour::py:
      return {};
    case Flavour::py_sorted:
      return {.sorted = true};
    case Flavour::compact:
      return {.item_separator = ",", .key_separator = ":"};
    case Flavour::canon:
      return {.item_separator = ",", .key_separator = ":", .sorted = true};
    case Flavour::indent2:
      return {.item_separator = ",", .indent = 2};
  }
  return {};
}

// The letter of a two-character escape, or zero.
char short_escape(char c) {
  switch (c) {
    case '"':
    case '\\':
      return c;
    case '\n':
      return 'n';
    case '\r':
      return 'r';
    case '\t':
      return 't';
    case '\b':
      return 'b';
    case '\f':
      return 'f';
    default:
      return 0;
  }
}

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

// Bytes of the UTF-8 character that `text` begins with; zero where it begins with none
// (The Unicode Standard, table 3-7).
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  // Neither what a shorter form can say, nor surrogates, nor what is behind the last code point.
  const unsigned second_min = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const unsigned second_max = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  if (byte(1) < second_min || byte(1) > second_max) return 0;
  for (std::size_t i = 2; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  return bytes;
}

// Appends the character that `text` begins with, or what stands for a byte that begins none;
// returns how many bytes it was.
std::size_t append_character(std::string_view text, std::string& out) {
  const std::size_t bytes = character_bytes(text);
  out += bytes == 0 ? kReplacement : text.substr(0, bytes);
  return std::max<std::size_t>(bytes, 1);
}

void append_quoted(std::string_view text, std::string& out) {
  constexpr char kDigits[] = "0123456789abcdef";
  out += '"';
  while (!text.empty()) {
    const auto byte = static_cast<unsigned char>(text[0]);
    std::size_t bytes = 1;
    if (const char letter = short_escape(text[0])) {
      out += {'\\', letter};
    } else if (byte < 0x20) {
      out += {'\\', 'u', '0', '0', kDigits[byte >> 4], kDigits[byte & 15]};
    } else {
      bytes = append_character(text, out);
    }
    text.remove_prefix(bytes);
  }
  out += '"';
}

class Writer {
 public:
  explicit Writer(Style style) : style_(style) {}

  void write(const Value& value) {
    switch (value.type) {
      case Type::null:
        out_ += "null";
        return;
      case Type::boolean:
        out_ += value.boolean ? "true" : "false";
        return;
      case Type::integer:
        out_ += value.text;
        return;
      case Type::real:
        write_real(value.real);
        return;
      case Type::string:
        append_quoted(value.text, out_);
        return;
      case Type::array:
        write_list('[', value.items, ']', [this](const Value& item) { write(item); });
        return;
      case Type::object:
        write_list('{', value.members, '}', [this](const Member& member) {
          append_quoted(member.key, out_);
          out_ += style_.key_separator;
          write(member.value);
        });
        return;
    }
  }

  std::string take() && { return std::move(out_); }

 private:
  // json.dumps spells these three differently from repr.
  void write_real(double value) {
    if (std::isnan(value)) {
      out_ += "NaN";
    } else if (std::isinf(value)) {
      out_ += value < 0 ? "-Infinity" : "Infinity";
    } else {
      out_ += python_repr(value);
    }
  }

  template <class Entry, class Write>
  void write_list(char opening, const std::vector<Entry>& entries, char closing, Write write_one) {
    out_ += opening;
    ++depth_;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (i > 0) out_ += style_.item_separator;
      start_line();
      write_one(entries[i]);
    }
    --depth_;
    if (!entries.empty()) start_line();
    out_ += closing;
  }

  void start_line() {
    if (style_.indent == 0) return;
    out_ += '\n';
    out_.append(at(depth_ * style_.indent), ' ');
  }

  Style style_;
  int depth_ = 0;
  std::string out_;
};

void sort_members(Value& value) {
  for (Value& item : value.items) sort_members(item);
  for (Member& member : value.members) sort_members(member.value);
  std::sort(value.members.begin(), value.members.end(),
            [](const Member& a, const Member& b) { return a.key < b.key; });
}

}  // namespace

std::string print(const Value& value, Flavour flavour) {
  const Style style = style_of(flavour);
  Writer writer(style);
  writer.write(style.sorted ? sorted(value) : value);
  return std::move(writer).take();
}

std::string valid_utf8(std::string_view text) {
  std::string out;
  while (!text.empty()) text.remove_prefix(append_character(text, out));
  return out;
}

std::string quote(std::string_view text) {
  std::string out;
  append_quoted(text, out);
  return out;
}

std::string python_repr(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::array<char, 32> buffer;  // "-1.2345678901234567e-308" is the longest
  const char* const end = std::to_chars(buffer.data(), buffer.data() + buffer.size(),
                                        std::abs(value), std::chars_format::scientific)
                              .ptr;
  const std::string_view text(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
  const std::size_t mark = text.find('e');
  const std::string sign = std::signbit(value) ? "-" : "";
  const int exponent = std::stoi(std::string(text.substr(mark + 1)));
  if (exponent < -4 || exponent >= 16) return sign + std::string(text);

  std::string digits(text.substr(0, mark));
  digits.erase(std::remove(digits.begin(), digits.end(), '.'), digits.end());
  if (exponent < 0) return sign + "0." + std::string(at(-exponent - 1), '0') + digits;
  const std::size_t whole = at(exponent) + 1;
  if (digits.size() <= whole) return sign + digits.append(whole - digits.size(), '0') + ".0";
  return sign + digits.insert(whole, ".");
}

Value sorted(const Value& value) {
  Value copy = value;
  sort_members(copy);
  return copy;
}

}  // namespace adjudge::json
