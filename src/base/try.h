// ADJ_TRY(declaration, expression): declares from a Result's value, or returns its error from here.
// ADJ_TRY_DONE(expression): the same for a Status.
#pragma once

#include "adjudge/result.h"

#define ADJ_JOIN_(a, b) a##b
#define ADJ_JOIN(a, b) ADJ_JOIN_(a, b)

#define ADJ_TRY(declaration, expression) \
  ADJ_TRY_(ADJ_JOIN(adj_try_, __LINE__), declaration, expression)
#define ADJ_TRY_(result, declaration, expression)     \
  auto result = (expression);                         \
  if (!result.ok()) return std::move(result).error(); \
  declaration = std::move(result).value()

#define ADJ_TRY_DONE(expression)                                \
  do {                                                          \
    auto adj_status = (expression);                             \
    if (!adj_status.ok()) return std::move(adj_status).error(); \
  } while (false)
