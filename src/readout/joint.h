// The joint head: all questions of one prompt are answered together. Options read the whole prompt
// (routing blocks), a question takes up its options, questions read each other and the prompt
// (field blocks), and every option is scored against its question.
// Reference: JointSchemaHead of the model's joint_schema_model.py, and clef.cpp of llama.cpp.
#pragma once

#include <memory>
#include <vector>

#include "gguf/file.h"
#include "nn/attention.h"
#include "readout/biased.h"
#include "readout/readout.h"

namespace adjudge {

// Rows [begin, end) of a prompt; at least one.
struct RowSpan {
  int begin = 0;
  int end = 0;
};

struct JointOption {
  RowSpan rows;
  Tokens tokens;  // of these rows
};

// A question as its prompt shows it; "field" is the head's own word.
struct JointField {
  int type = 0;                      // 0: noul, 1: choice, 2: score
  RowSpan rows;                      // of the instructions
  std::vector<JointOption> options;  // at least one
};

// Matrices are (width, width).
struct JointAttention {
  BiasedMatrix query, key, value, output;
};

// Reads the prompt, then feeds forward.
struct ReadingBlock {
  BiasedNorm cross_norm, feed_norm;
  JointAttention cross;
  BiasedMatrix up, down;  // (inner, width), (width, inner)
};
struct RoutingBlock : ReadingBlock {
  BiasedNorm memory_norm;
};
struct FieldBlock : ReadingBlock {
  BiasedNorm self_norm;
  JointAttention self;
};

struct JointHead {
  int hidden_width = 0;
  int width = 0;
  float epsilon = 0;  // of all norms
  AttentionShape shape;
  Matrix token_rows;  // (vocabulary, hidden): the output embeddings
  BiasedNorm hidden_norm, summary_norm, field_norm, option_norm;
  Matrix memory, question, option_question, global, option_context, option_lexical;  // of hidden
  std::vector<std::span<const float>> types;                                         // (width) each
  std::vector<RoutingBlock> routing;
  std::vector<FieldBlock> joint;
  BiasedMatrix scorer;      // (width, 4 * width)
  BiasedMatrix scorer_out;  // (1, width)
  float prior_scale = 0, joint_scale = 0, gate = 0;
};

// The tensors decision.* and dec.blk.*; sizes follow from the keys <arch>.decision.* and the
// tensors' shapes.
Result<std::shared_ptr<const JointHead>> open_joint_head(const gguf::File& file,
                                                         WeightSource& weights, int hidden_width,
                                                         int vocabulary_count);

// Reads one prompt, for whoever asks about its fields.
class JointReadout final : public Readout {
 public:
  JointReadout(std::shared_ptr<const JointHead> head, std::vector<JointField> fields);

  const std::vector<JointField>& fields() const { return fields_; }

  // rows: all of the prompt, the same in every input; marks: the field, as index. The head runs
  // once.
  Result<std::vector<std::vector<double>>> read(
      const NetContext& net, std::span<const ReadoutInput> inputs) const override;

 private:
  std::shared_ptr<const JointHead> head_;
  std::vector<JointField> fields_;
};

}  // namespace adjudge
