// How many cores this process may use: those of its affinity mask, within the quotas of its control
// groups. Hardware threads that share a core share the units that multiply, so they count once.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace adjudge {

// At least 1.
int usable_cpu_count();

// Cores of some processors, each given by the list of those on its core; one without a list has a
// core of its own.
int core_count(std::span<const std::string> siblings);

// Whole processors that a quota allows, rounded up; 0 when the text states none. Text as the kernel
// writes it: "max 100000" or "150000 100000" (cpu.max of cgroup v2: quota and period).
int cpus_of_quota(std::string_view cpu_max);

}  // namespace adjudge
