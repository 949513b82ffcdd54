// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Executable graphs. A launch runs the nodes one after another, in the order in which they were captured: a legal
//! order of any graph, and the hardest one for waits. That the edges suffice is checked when a graph is made.
#include "api_call.hpp"
#include "capture.hpp"
#include "memory.hpp"

#include <set>
#include <unordered_map>

struct CUgraphExec_st {
  struct node {
    software_device::operation what;
    std::vector<std::size_t> after;
  };
  std::shared_ptr<std::vector<node> const> nodes;
  std::shared_ptr<software_device::marker> last_launch;
};

namespace software_device {
namespace {

using exec_nodes = std::vector<CUgraphExec_st::node>;

struct exec_table {
  std::mutex mutex;
  std::set<CUgraphExec_st*> live;
};

exec_table& execs() {
  static auto& here = *new exec_table;
  return here;
}

exec_nodes numbered(CUgraph_st const& graph) {
  std::unordered_map<graph_node const*, std::size_t> number;
  exec_nodes result;
  for (auto const& node : graph.nodes) {
    std::vector<std::size_t> after;
    for (auto const* const each : node->after) after.push_back(number.at(each));
    number[node.get()] = result.size();
    result.push_back({node->what, std::move(after)});
  }
  return result;
}

bool conflict(operation const& a, operation const& b) {
  for (auto const& x : a.accesses)
    for (auto const& y : b.accesses)
      if ((x.writes || y.writes) && have_common_byte(x, y)) return true;
  return false;
}

/// Nodes that touch the same memory must be ordered by edges.
void check_edges(exec_nodes const& nodes) {
  std::vector<std::vector<bool>> before(nodes.size(), std::vector<bool>(nodes.size()));
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (auto const each : nodes[i].after) {
      before[i][each] = true;
      for (std::size_t j = 0; j < each; ++j)
        if (before[each][j]) before[i][j] = true;
    }
    for (std::size_t j = 0; j < i; ++j)
      if (!before[i][j] && conflict(nodes[i].what, nodes[j].what))
        add_finding("in a graph, " + nodes[i].what.name + " and " + nodes[j].what.name +
                    " touch the same memory, and no path of edges orders them");
  }
}

bool is_exec(cudaGraphExec_t exec) {
  std::lock_guard lock{execs().mutex};
  return execs().live.contains(exec);
}

}  // namespace

cudaError_t instantiate(cudaGraphExec_t* exec, cudaGraph_t graph) {
  if (exec == nullptr || !is_graph(graph)) return cudaErrorInvalidValue;
  auto nodes = std::make_shared<exec_nodes>(numbered(*graph));
  check_edges(*nodes);
  count_resource();
  *exec = new CUgraphExec_st{std::move(nodes), nullptr};
  std::lock_guard lock{execs().mutex};
  execs().live.insert(*exec);
  return cudaSuccess;
}

cudaError_t update(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo& info) {
  info = {cudaGraphExecUpdateError, nullptr, nullptr};
  if (!is_exec(exec) || !is_graph(graph)) return cudaErrorInvalidValue;
  auto next = std::make_shared<exec_nodes>(numbered(*graph));
  auto const refuse = [&](cudaGraphExecUpdateResult why, std::size_t node) {
    info.result = why;
    if (node < graph->nodes.size()) info.errorNode = graph->nodes[node].get();
    return cudaErrorGraphExecUpdateFailure;
  };
  auto const& old = *exec->nodes;
  if (old.size() != next->size()) return refuse(cudaGraphExecUpdateErrorTopologyChanged, next->size());
  for (std::size_t i = 0; i < old.size(); ++i) {
    if (old[i].what.type != (*next)[i].what.type) return refuse(cudaGraphExecUpdateErrorNodeTypeChanged, i);
    if (old[i].after != (*next)[i].after) return refuse(cudaGraphExecUpdateErrorTopologyChanged, i);
    if (old[i].what.device != (*next)[i].what.device)
      return refuse(cudaGraphExecUpdateErrorParametersChanged, i);
  }
  check_edges(*next);
  exec->nodes = std::move(next);
  info.result = cudaGraphExecUpdateSuccess;
  return cudaSuccess;
}

cudaError_t launch_graph(cudaGraphExec_t exec, CUstream_st& stream) {
  if (!is_exec(exec)) return cudaErrorInvalidValue;
  if (stream.captures) return cudaErrorNotSupported;  // child graphs
  // Launches of one executable graph run one after another, whatever their streams.
  if (exec->last_launch) enqueue_wait(stream, exec->last_launch);
  auto prepare = [nodes = exec->nodes] {
    std::vector<run_function> runs;
    for (auto const& each : *nodes) runs.push_back(each.what.prepare ? each.what.prepare() : each.what.run);
    return run_function{[nodes, runs = std::move(runs)](run_context& context) {
      for (std::size_t i = 0; i < runs.size(); ++i) run_operation(context, (*nodes)[i].what, runs[i]);
    }};
  };
  auto const error = submit(stream, {.name = "graph", .prepare = std::move(prepare), .bookkeeping = true});
  if (error == cudaSuccess) exec->last_launch = enqueue_marker(stream);
  return error;
}

cudaError_t destroy(cudaGraphExec_t exec) {
  std::lock_guard lock{execs().mutex};
  if (execs().live.erase(exec) == 0) return cudaErrorInvalidValue;
  delete exec;
  return cudaSuccess;
}

void forget_all_executables();
void forget_all_executables() {
  std::lock_guard lock{execs().mutex};
  for (auto* const each : execs().live) delete each;
  execs().live.clear();
}

}  // namespace software_device
