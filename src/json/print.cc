#include "json/print.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "base/size.h"

namespace adjudge::json {
namespace {

struct Style {
  std::string_view item_separator = ", ";
  std::string_view key_separator = ": ";
  bool ascii = false;
  bool sorted = false;
  int indent = 0;  // spaces per level; zero: all on one line
};

// Python leaves the space after a comma out when it indents.
Style style_of(Flavour flavour) {
  switch (flavour) {
    case Flavour::py:
      return {};
    case Flavour::py_ascii:
      return {.ascii = true};
    case Flavour::py_sorted:
      return {.sorted = true};
    case Flavour::compact:
      return {.item_separator = ",", .key_separator = ":"};
    case Flavour::canon:
      return {.item_separator = ",", .key_separator = ":", .sorted = true};
    case Flavour::indent1:
      return {.item_separator = ",", .indent = 1};
    case Flavour::indent2:
      return {.item_separator = ",", .indent = 2};
    case Flavour::indent4:
      return {.item_separator = ",", .indent = 4};
  }
  return {};
}

void append_escape(std::uint32_t unit, std::string& out) {
  constexpr char kDigits[] = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kDigits[(unit >> shift) & 15];
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

// Reads the code point that starts at `i` and moves `i` behind it. The text is UTF-8; a cut one
// ends with what is there.
std::uint32_t next_code_point(std::string_view text, std::size_t& i) {
  const auto lead = static_cast<unsigned char>(text[i++]);
  const int follower_count = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
  std::uint32_t code = lead & (0x3fu >> follower_count);
  for (int k = 0; k < follower_count && i < text.size(); ++k) {
    code = code << 6 | (static_cast<unsigned char>(text[i++]) & 0x3fu);
  }
  return code;
}

void append_escaped_code_point(std::uint32_t code, std::string& out) {
  if (code < 0x10000) return append_escape(code, out);
  append_escape(0xd800 + ((code - 0x10000) >> 10), out);
  append_escape(0xdc00 + ((code - 0x10000) & 0x3ff), out);
}

void append_quoted(std::string_view text, bool ascii, std::string& out) {
  constexpr unsigned char kDelete = 0x7f;
  out += '"';
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (const char letter = short_escape(text[i])) {
      out += {'\\', letter};
      ++i;
    } else if (byte < 0x20 || (ascii && byte == kDelete)) {
      append_escape(byte, out);
      ++i;
    } else if (byte < 0x80 || !ascii) {
      out += text[i++];
    } else {
      append_escaped_code_point(next_code_point(text, i), out);
    }
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
        append_quoted(value.text, style_.ascii, out_);
        return;
      case Type::array:
        write_list('[', value.items, ']', [this](const Value& item) { write(item); });
        return;
      case Type::object:
        write_list('{', value.members, '}', [this](const Member& member) {
          append_quoted(member.key, style_.ascii, out_);
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

std::string quote(std::string_view text) {
  std::string out;
  append_quoted(text, false, out);
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
