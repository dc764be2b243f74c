#include "base/os/termination.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace adjudge {
namespace {

TEST(TerminationSignals, TheFirstIsAnsweredAndTheSecondEndsTheProcess) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const pid_t child = fork();
  if (child == 0) {
    TerminationSignals signals;
    if (write(pipe[1], "b", 1) != 1) _exit(1);
    signals.wait();
    if (write(pipe[1], "w", 1) != 1) _exit(1);
    pause();
    _exit(0);
  }
  char said = 0;
  ASSERT_EQ(read(pipe[0], &said, 1), 1);
  ASSERT_EQ(kill(child, SIGTERM), 0);
  ASSERT_EQ(read(pipe[0], &said, 1), 1);
  EXPECT_EQ(said, 'w');
  ASSERT_EQ(kill(child, SIGINT), 0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGINT);
  close(pipe[0]);
  close(pipe[1]);
}

TEST(TerminationSignals, CanBeLookedForWithoutWaiting) {
  const pid_t child = fork();
  if (child == 0) {
    TerminationSignals signals;
    if (signals.arrived()) _exit(1);
    if (raise(SIGTERM) != 0 || !signals.arrived()) _exit(2);
    raise(SIGINT);  // the second one ends us
    _exit(3);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status)) << WEXITSTATUS(status);
  EXPECT_EQ(WTERMSIG(status), SIGINT);
}

}  // namespace
}  // namespace adjudge
