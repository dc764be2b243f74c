// What tests of several stages need: the tiny models and recorded answers that scripts/test makes,
// and a writer of GGUF files for cases no real file shows.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"

namespace adjudge::testing {

// The path of a file under testdata/.
std::string testdata(std::string_view name);

// The path of a tiny model ("tiny-kev-f32", "tiny-kev-wide-q8_0"), made by
// tests/tiny/make_models.py into the build folder. Aborts with the command to run when it is
// missing.
std::string tiny_model(std::string_view name);

// The lines of testdata/golden/<name>.jsonl.
std::vector<json::Value> golden_lines(std::string_view name);

std::string read_file(const std::string& path);
void write_file(const std::string& path, std::string_view content);
// A fresh folder below the system's temporary one, removed when the object goes.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// ADJ_ISA: the strongest instruction set a test may use, as .ci/run forces each in turn; null: all
// the machine has. For kernel::make_table.
const char* isa_limit();

// Deterministic pseudo-random floats with mean 0 and variance 1.
std::vector<float> bell(std::string_view seed, std::size_t count);

}  // namespace adjudge::testing
