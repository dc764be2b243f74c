#include "app/table.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/size.h"

namespace adjudge::app {

namespace {

constexpr int kBarWidth = 30;
constexpr int kLabelWidthMax = 32;

// Code points, which is near enough to columns for a label.
int width_of(const std::string& text) {
  return static_cast<int>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

// One line of at most kLabelWidthMax columns.
std::string shorten(const std::string& text) {
  std::string line;
  int width = 0;
  for (const char c : text) {
    const bool starts = (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    if (starts && ++width > kLabelWidthMax) return line + "…";
    line += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return line;
}

std::string label_of(const Question& question, int option) {
  const Option& o = question.options[at(option)];
  switch (question.kind) {
    case QuestionKind::noul:
      return o.key == "true" ? "yes" : "no";
    case QuestionKind::score:
      return o.key + (o.description.is_string() ? " " + o.description.text : "");
    case QuestionKind::choice:
      break;
  }
  return o.key;
}

std::string bar_of(double probability) {
  const int eighths = static_cast<int>(std::lround(probability * kBarWidth * 8));
  static constexpr const char* kParts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  std::string bar;
  for (int i = 0; i < eighths / 8; ++i) bar += "█";
  return bar + kParts[eighths % 8];
}

std::string format(const char* pattern, double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, pattern, value);
  return buffer;
}

std::string verdict_of(const Question& question, const Answer& answer) {
  switch (question.kind) {
    case QuestionKind::noul:
      return format("P(yes) = %.3f", answer.value);
    case QuestionKind::score:
      return format("%.2f", answer.value) + " of " + std::to_string(question.options.size() - 1) +
             format(", confidence %.2f", answer.confidence);
    case QuestionKind::choice:
      break;
  }
  return question.options[at(answer.best)].key + format(", confidence %.2f", answer.confidence);
}

// "yes" before "no"; everything else as asked.
std::vector<int> display_order(const Question& question) {
  std::vector<int> order;
  for (int i = 0; i < count_of(question.options); ++i) order.push_back(i);
  if (question.kind == QuestionKind::noul) std::ranges::reverse(order);
  return order;
}

}  // namespace

std::string format_table(const Request& request, const Response& response) {
  std::string text;
  for (int q = 0; q < count_of(request.questions); ++q) {
    const Question& question = request.questions[at(q)];
    const Answer& answer = response.answers[at(q)];
    text +=
        question.id + " (" + kind_name(question.kind) + "): " + verdict_of(question, answer) + "\n";
    int width = 0;
    for (int i = 0; i < count_of(question.options); ++i) {
      width = std::max(width, width_of(shorten(label_of(question, i))));
    }
    for (const int i : display_order(question)) {
      const std::string label = shorten(label_of(question, i));
      text += "  " + label + std::string(at(width - width_of(label)), ' ') +
              format("  %.3f  ", answer.probabilities[at(i)]) +
              bar_of(answer.probabilities[at(i)]) + "\n";
    }
    text += "\n";
  }
  return text;
}

std::string format_timing(const Response& response, double load_ms) {
  const Timing& timing = response.timing;
  return "open the model " + format("%.0f ms", load_ms) + ", prompts and plan " +
         format("%.1f ms", timing.compile) + ", " +
         std::to_string(response.usage.evaluated_tokens) + " tokens through the network " +
         format("%.0f ms", timing.evaluate) +
         format(" (%.0f tokens/s)", response.usage.evaluated_tokens * 1000.0 / timing.evaluate) +
         ", reading the answers " + format("%.1f ms", timing.read) + "\n" +
         std::to_string(response.usage.prompt_tokens) + " prompt tokens in all, " +
         std::to_string(response.usage.prompt_tokens - response.usage.evaluated_tokens) +
         " of them shared or kept, and not read again\n";
}

}  // namespace adjudge::app
