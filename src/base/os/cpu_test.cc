#include "base/os/cpu.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <string>
#include <vector>

namespace adjudge {
namespace {

TEST(Cpu, ReadsQuotasAsTheKernelWritesThem) {
  EXPECT_EQ(cpus_of_quota("max 100000\n"), 0);
  EXPECT_EQ(cpus_of_quota("-1\n 100000\n"), 0);
  EXPECT_EQ(cpus_of_quota(""), 0);
  EXPECT_EQ(cpus_of_quota("200000"), 0);
  EXPECT_EQ(cpus_of_quota("200000 100000\n"), 2);
  EXPECT_EQ(cpus_of_quota("150000 100000"), 2);
  EXPECT_EQ(cpus_of_quota("1000 100000"), 1);
}

TEST(Cpu, HardwareThreadsOfOneCoreCountOnce) {
  const auto count = [](std::vector<std::string> siblings) { return core_count(siblings); };
  EXPECT_EQ(count({"0,4\n", "1,5\n", "0,4\n", "1,5\n"}), 2);
  EXPECT_EQ(count({"0-1\n", "0-1\n", "2-3\n"}), 2);
  EXPECT_EQ(count({"0\n", "1\n"}), 2);
  EXPECT_EQ(count({"", ""}), 2);
  EXPECT_EQ(count({}), 0);
}

TEST(Cpu, CountsOnlyProcessorsOfTheAffinityMask) {
  cpu_set_t all;
  ASSERT_EQ(::sched_getaffinity(0, sizeof all, &all), 0);
  EXPECT_GE(usable_cpu_count(), 1);
  EXPECT_LE(usable_cpu_count(), CPU_COUNT(&all));
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
  }
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(usable_cpu_count(), 1);
  ASSERT_EQ(::sched_setaffinity(0, sizeof all, &all), 0);
}

}  // namespace
}  // namespace adjudge
