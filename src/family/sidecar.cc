#include "family/sidecar.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "base/size.h"
#include "base/try.h"
#include "gguf/file.h"
#include "json/print.h"
#include "protocol/limits.h"

namespace adjudge {
namespace {

const std::set<std::string_view> kKinds = {"choice", "score", "noul"};
const std::set<std::string_view> kBuckets = {"2", "3_5", "6_10", "11", "small", "mid", "large"};
constexpr int kOptionCountMax = RequestLimits{}.option_count_max;

// "score.5" is the kind "score" and the suffix "5".
std::string_view kind_of(std::string_view key) { return key.substr(0, key.find('.')); }
std::string_view suffix_of(std::string_view key) {
  const std::size_t dot = key.find('.');
  return dot == std::string_view::npos ? std::string_view{} : key.substr(dot + 1);
}

const char* type_name(const json::Value& value) {
  constexpr const char* kNames[] = {"null",     "a boolean", "an integer", "a number",
                                    "a string", "an array",  "an object"};
  return kNames[static_cast<int>(value.type)];
}

// Errors of one sidecar: they name file, member, found and expected.
class Checker {
 public:
  explicit Checker(const std::string& path) : path_(path) {}

  Status check(const json::Value& sidecar) const {
    if (!sidecar.is_object()) return error("", type_name(sidecar), "an object");
    for (const json::Member& member : sidecar.members) {
      ADJ_TRY_DONE(check_member(member));
    }
    return Done{};
  }

 private:
  Error error(const std::string& member, const std::string& found,
              const std::string& expected) const {
    return Error{ErrorKind::bad_model, path_ + ": " + (member.empty() ? "" : member + ": ") +
                                           "found " + found + ", expected " + expected};
  }

  Status check_member(const json::Member& member) const {
    if (member.key == "family") {
      if (member.value.is_string()) return Done{};
      return error(member.key, type_name(member.value), "the name of a family");
    }
    const bool temperatures = member.key == "temperatures";
    if (!temperatures && member.key != "biases") {
      return error(member.key, "an unknown member", "family, temperatures or biases");
    }
    if (!member.value.is_object()) return error(member.key, type_name(member.value), "an object");
    for (const json::Member& entry : member.value.members) {
      ADJ_TRY_DONE(temperatures ? check_temperature(entry) : check_bias(entry));
    }
    return Done{};
  }

  Status check_temperature(const json::Member& entry) const {
    const std::string name = "temperatures." + entry.key;
    const std::string_view suffix = suffix_of(entry.key);
    if (!kKinds.contains(kind_of(entry.key)) ||
        (entry.key.find('.') != std::string::npos && !kBuckets.contains(suffix))) {
      return error(name, "an unknown key", "choice, score or noul, or one of them with a bucket");
    }
    const std::optional<double> value = number_of(entry.value);
    if (!value) return error(name, type_name(entry.value), "a number above 0");
    if (*value > 0 && std::isfinite(*value)) return Done{};
    return error(name, json::python_repr(*value), "a number above 0");
  }

  // The count a key asks for; zero: any.
  static int bias_count(std::string_view key) {
    if (key == "noul") return 2;
    const std::string suffix(suffix_of(key));
    const long count = std::strtol(suffix.c_str(), nullptr, 10);
    return count >= 1 && count <= kOptionCountMax && std::to_string(count) == suffix
               ? static_cast<int>(count)
               : 0;
  }

  Status check_bias(const json::Member& entry) const {
    const std::string name = "biases." + entry.key;
    const bool counted = entry.key.find('.') != std::string::npos;
    const int count = bias_count(entry.key);
    if (!kKinds.contains(kind_of(entry.key)) || (counted && count == 0)) {
      return error(name, "an unknown key",
                   "choice, score or noul, or one of them with a number of options");
    }
    if (!entry.value.is_array()) return error(name, type_name(entry.value), "an array of numbers");
    for (const json::Value& item : entry.value.items) {
      const std::optional<double> number = number_of(item);
      if (!number || !std::isfinite(*number)) return error(name, type_name(item), "finite numbers");
    }
    const int found = count_of(entry.value.items);
    if (count == 0 || found == count) return Done{};
    return error(name, std::to_string(found) + " numbers", std::to_string(count));
  }

  const std::string& path_;
};

// Removes "choice" and "choice.*" for every kind the sidecar speaks of.
template <class Map>
void forget_kinds(const json::Value& entries, Map& map) {
  for (const json::Member& entry : entries.members) {
    std::erase_if(map,
                  [&](const auto& known) { return kind_of(known.first) == kind_of(entry.key); });
  }
}

}  // namespace

Result<std::optional<json::Value>> read_sidecar(const std::string& model_path) {
  const std::string path = gguf::sidecar_path(model_path);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::optional<json::Value>{};
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream content;
  content << stream.rdbuf();
  if (!stream) return Error{ErrorKind::bad_model, path + ": cannot be read"};
  auto sidecar = json::parse(content.str());
  if (!sidecar.ok()) {
    return Error{ErrorKind::bad_model, path + ": " + sidecar.error().message()};
  }
  ADJ_TRY_DONE(Checker(path).check(sidecar.value()));
  return std::optional<json::Value>(std::move(sidecar).value());
}

std::string sidecar_family(const json::Value& sidecar) {
  const json::Value* family = sidecar.find("family");
  return family == nullptr ? std::string{} : family->text;
}

void apply_sidecar(const json::Value& sidecar, Calibration& calibration) {
  if (const json::Value* temperatures = sidecar.find("temperatures")) {
    forget_kinds(*temperatures, calibration.temperatures);
    for (const json::Member& entry : temperatures->members) {
      calibration.temperatures[entry.key] = *number_of(entry.value);
    }
  }
  if (const json::Value* biases = sidecar.find("biases")) {
    forget_kinds(*biases, calibration.biases);
    for (const json::Member& entry : biases->members) {
      std::vector<double>& bias = calibration.biases[entry.key];
      for (const json::Value& item : entry.value.items) bias.push_back(*number_of(item));
    }
  }
}

}  // namespace adjudge
