// What every layer of a pass is handed besides its weights and rows.
#pragma once

#include <vector>

#include "backbone/pass.h"
#include "backbone/scratch.h"
#include "nn/attention.h"
#include "nn/context.h"
#include "nn/convolution.h"
#include "nn/delta_rule.h"
#include "nn/rotary.h"

namespace adjudge {

// What layers fill anew; kept between passes, so that these do not allocate.
struct WorkLists {
  std::vector<KeyValueRun> key_value_runs;
  std::vector<std::size_t> run_begins;  // per segment, and the end of the last
  std::vector<AttentionWork> attention;
  std::vector<ConvolutionWork> convolution;
  std::vector<DeltaWork> delta;
  Rotator rotator;
};

struct LayerContext {
  const NetContext& net;
  Pass& pass;
  Scratch& scratch;
  WorkLists& lists;
};

}  // namespace adjudge
