#include "backbone/scratch.h"

#include <gtest/gtest.h>

namespace adjudge {
namespace {

TEST(Scratch, FramesGiveBackWhatTheyTook) {
  Scratch scratch;
  scratch.ensure(Scratch::stride_of(10));
  for (int i = 0; i < 3; ++i) {
    Scratch::Frame frame(scratch);
    EXPECT_EQ(frame.rows(1, 10).data, scratch.data());
  }
}

TEST(Scratch, APassThatAForkCopiedHalfwayIsForgotten) {
  Scratch scratch;
  scratch.ensure(Scratch::stride_of(10));
  Scratch::Frame of_another_thread(scratch);
  of_another_thread.rows(1, 10);
  scratch.ensure(Scratch::stride_of(10));
  Scratch::Frame frame(scratch);
  EXPECT_EQ(frame.rows(1, 10).data, scratch.data());
}

}  // namespace
}  // namespace adjudge
