// CHECK for our own mistakes: always on, says where, ends the process. DCHECK only in debug builds.
// What depends on a caller or a file is never a CHECK; it is a Result.
#pragma once

namespace adjudge {
[[noreturn]] void check_failed(const char* expression, const char* file, int line);
}  // namespace adjudge

#define CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::adjudge::check_failed(#condition, __FILE__, __LINE__))

#ifdef NDEBUG
#define DCHECK(condition) static_cast<void>(sizeof(condition))
#else
#define DCHECK(condition) CHECK(condition)
#endif
