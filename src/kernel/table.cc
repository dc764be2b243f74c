#include "kernel/table.h"

#include <cstring>

#include "base/check.h"

namespace adjudge::kernel {

// A level is a folder: probe() says whether this machine may run it, improve() overwrites what it
// does better.
#define ADJ_LEVEL(name)       \
  namespace name {            \
  bool probe();               \
  void improve(Table& table); \
  }
#include "level_list.inc"
#undef ADJ_LEVEL

namespace {

struct Level {
  const char* name;
  bool (*probe)();
  void (*improve)(Table&);
};

constexpr Level kLevels[] = {
#define ADJ_LEVEL(name) {#name, name::probe, name::improve},
#include "level_list.inc"
#undef ADJ_LEVEL
};

}  // namespace

LevelNames available_levels() {
  LevelNames levels{};
  for (const Level& level : kLevels) {
    if (level.probe()) levels.names[levels.count++] = level.name;
  }
  return levels;
}

Table make_table(const char* limit) {
  Table table;
  bool limit_seen = limit == nullptr;
  for (const Level& level : kLevels) {
    if (!level.probe()) continue;
    level.improve(table);
    table.isa = level.name;
    if (limit != nullptr && std::strcmp(level.name, limit) == 0) {
      limit_seen = true;
      break;
    }
  }
  CHECK(limit_seen);
  return table;
}

}  // namespace adjudge::kernel
