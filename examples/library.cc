// The smallest whole program: open a model, ask three questions about one state, print the answers.
//
//   c++ -std=c++20 examples/library.cc -Iinclude build/libadjudge.a -lxxhash -pthread -o library
//   ./library MODEL.gguf
#include <cstdio>

#include "adjudge/adjudge.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s MODEL.gguf\n", argv[0]);
    return 2;
  }
  const auto model = adjudge::DecisionModel::open(argv[1]);
  if (!model.ok()) {
    std::fprintf(stderr, "%s\n", model.error().message().c_str());
    return 1;
  }

  adjudge::DecisionRequest request;
  request.state("Hello, my card was charged twice for order 1843. Please refund one payment. Ana")
      .choice("team", "Which team handles this?",
              {{"billing", "invoices, refunds, charges"},
               {"tech", "the product does not work"},
               {"sales", ""}})
      .score("urgency", "How urgent is it?", {"can wait", "this week", "today"})
      .noul("refund", "Does the customer ask for money back?");

  const auto results = model.value().submit({&request, 1});
  if (!results[0].ok()) {
    std::fprintf(stderr, "%s\n", results[0].error().message().c_str());
    return 1;
  }
  for (const adjudge::DecisionAnswer& answer : results[0].value().answers) {
    std::printf("%s (%s)\n", answer.id.c_str(), answer.type.c_str());
    for (const adjudge::OptionProbability& option : answer.options) {
      std::printf("  %-10s %.3f\n", option.key.c_str(), option.probability);
    }
  }
  return 0;
}
