#include "base/os/cpu.h"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <vector>

namespace adjudge {

namespace {

std::string read_text(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The processors of a processor's core, as the kernel lists them: "3" or "3,11".
std::string siblings_of(int cpu) {
  const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
  const std::string siblings = read_text(folder + "core_cpus_list");
  return siblings.empty() ? read_text(folder + "thread_siblings_list") : siblings;
}

int affinity_count() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  std::vector<std::string> siblings;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) siblings.push_back(siblings_of(cpu));
  }
  return std::max(1, core_count(siblings));
}

// The tightest quota of this process's group and the groups above it (cgroup v2: the line "0::/a/b"
// of /proc/self/cgroup).
int quota_v2() {
  const std::string groups = read_text("/proc/self/cgroup");
  const std::size_t start = groups.find("0::/");
  if (start == std::string::npos) return 0;
  std::string group = groups.substr(start + 3, groups.find('\n', start) - start - 3);
  int tightest = 0;
  while (true) {
    const int count = cpus_of_quota(read_text("/sys/fs/cgroup" + group + "/cpu.max"));
    if (count > 0) tightest = tightest == 0 ? count : std::min(tightest, count);
    if (group.empty()) return tightest;
    group.resize(group.rfind('/'));
  }
}

int quota_v1() {
  const std::string folder = "/sys/fs/cgroup/cpu/";
  const std::string quota = read_text(folder + "cpu.cfs_quota_us");
  return cpus_of_quota(quota + " " + read_text(folder + "cpu.cfs_period_us"));
}

}  // namespace

int core_count(std::span<const std::string> siblings) {
  std::set<std::string> cores;
  int alone = 0;
  for (const std::string& list : siblings) {
    if (list.empty()) {
      ++alone;
    } else {
      cores.insert(list);
    }
  }
  return static_cast<int>(cores.size()) + alone;
}

int cpus_of_quota(std::string_view cpu_max) {
  const std::string text(cpu_max);
  char* rest = nullptr;
  const long quota = std::strtol(text.c_str(), &rest, 10);  // "max" and -1 state none
  const long period = std::strtol(rest, nullptr, 10);
  if (quota <= 0 || period <= 0) return 0;
  return static_cast<int>((quota + period - 1) / period);
}

int usable_cpu_count() {
  int count = affinity_count();
  for (const int quota : {quota_v2(), quota_v1()}) {
    if (quota > 0) count = std::min(count, quota);
  }
  return count;
}

}  // namespace adjudge
