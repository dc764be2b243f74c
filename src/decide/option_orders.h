// A request asked in several orders of its options: what a model prefers by place averages out, and
// shows. Scores and nouls have one order.
#pragma once

#include <span>
#include <vector>

#include "protocol/answer.h"
#include "protocol/request.h"

namespace adjudge {

// Rotations, evenly spaced; as many as the question with the most options has, up to
// `order_count_max`. The first is the request itself; later ones hold only the questions that have
// so many orders.
std::vector<Request> option_orders(const Request& request, int order_count_max);

// The answers to those, as answers to the request: the mean of each option over the orders, and its
// spread, the largest less the smallest.
Response mean_of_orders(const Request& request, std::span<const Response* const> responses,
                        int order_count_max);

}  // namespace adjudge
