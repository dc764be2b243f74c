#include "support/support.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <sstream>

namespace adjudge::testing {

std::string testdata(std::string_view name) {
  return std::string(ADJ_SOURCE_DIR "/testdata/") + std::string(name);
}

std::string tiny_model(std::string_view name) {
  const std::string path = std::string(ADJ_BINARY_DIR "/models/") + std::string(name) + ".gguf";
  if (!std::filesystem::exists(path)) {
    std::cerr << path << " is missing: run scripts/make-test-models\n";
    std::abort();
  }
  return path;
}

std::string read_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream content;
  content << stream.rdbuf();
  return content.str();
}

void write_file(const std::string& path, std::string_view content) {
  std::ofstream stream(path, std::ios::binary);
  stream.write(content.data(), static_cast<std::streamsize>(content.size()));
}

std::vector<json::Value> golden_lines(std::string_view name) {
  std::vector<json::Value> lines;
  std::istringstream stream(read_file(testdata("golden/" + std::string(name) + ".jsonl")));
  for (std::string line; std::getline(stream, line);) {
    auto value = json::parse(line);
    if (!value.ok()) {
      std::cerr << name << ": " << value.error().message() << "\n";
      std::abort();
    }
    lines.push_back(std::move(value).value());
  }
  return lines;
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "adjudge-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) std::abort();
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() { std::filesystem::remove_all(path_); }

const char* isa_limit() { return std::getenv("ADJ_ISA"); }

std::vector<float> bell(std::string_view seed, std::size_t count) {
  std::seed_seq sequence(seed.begin(), seed.end());
  std::mt19937 generator(sequence);
  std::vector<float> values(count);
  for (float& value :
       values) {  // sum of four uniforms: the same on every library, unlike normal_distribution
    double sum = 0;
    for (int i = 0; i < 4; ++i) sum += static_cast<double>(generator() >> 8) / 16777216.0;
    value = static_cast<float>((sum - 2.0) / 0.5773502691896258);
  }
  return values;
}

}  // namespace adjudge::testing
