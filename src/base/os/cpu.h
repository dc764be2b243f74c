// How many processors this process may use: its affinity mask and the quotas of its control groups.
#pragma once

#include <string>
#include <string_view>

namespace adjudge {

// At least 1.
int usable_cpu_count();

// Whole processors that a quota allows, rounded up; 0 when the text states none. Text as the kernel
// writes it: "max 100000" or "150000 100000" (cpu.max of cgroup v2: quota and period).
int cpus_of_quota(std::string_view cpu_max);

}  // namespace adjudge
