// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Counters and injected errors of all exported functions.
#include "api_call.hpp"

#include <map>
#include <memory>
#include <string>

namespace software_device {
namespace {

struct function_table {
  std::mutex mutex;
  std::vector<function_record*> records;
  // Faults set before the function's first call.
  std::map<std::string, std::vector<function_record::fault>, std::less<>> early;
};

function_table& functions() {
  static auto& table = *new function_table;  // outlives every thread
  return table;
}

}  // namespace

function_record::function_record(char const* function_name) : name{function_name} {
  auto& table = functions();
  std::lock_guard lock{table.mutex};
  table.records.push_back(this);
  if (auto const found = table.early.find(std::string_view{name}); found != table.early.end()) {
    faults = std::move(found->second);
    armed = true;
    table.early.erase(found);
  }
}

int function_record::count(int device) {
  by_device[device].fetch_add(1, std::memory_order_relaxed);
  if (!armed.load(std::memory_order_relaxed)) return 0;
  std::lock_guard lock{mutex};
  int code = 0;
  for (auto& each : faults) {
    if (each.device >= 0 && each.device != device) continue;
    if (each.remaining > 0 && --each.remaining == 0) code = each.code;
  }
  return code;
}

thread_state& this_thread() noexcept {
  thread_local thread_state state;
  return state;
}

inside::inside() noexcept { ++this_thread().depth; }
inside::~inside() { --this_thread().depth; }

bool inside_call() noexcept { return this_thread().depth > 0 || this_thread().runs_on_device; }

std::uint64_t calls(std::string_view name, int device) {
  std::uint64_t sum = 0;
  for (auto const& [each, count] : all_calls(device))
    if (each == name) sum += count;
  return sum;
}

std::vector<std::pair<std::string, std::uint64_t>> all_calls(int device) {
  std::map<std::string, std::uint64_t> sums;
  auto& table = functions();
  std::lock_guard lock{table.mutex};
  for (auto const* each : table.records) {
    for (int d = 0; d < most_devices; ++d) {
      auto const count = each->by_device[d].load(std::memory_order_relaxed);
      if (count > 0 && (device < 0 || device == d)) sums[each->name] += count;
    }
  }
  return {sums.begin(), sums.end()};
}

void fail_call(std::string_view name, std::uint64_t kth, int code, int device) {
  auto& table = functions();
  std::lock_guard lock{table.mutex};
  for (auto* each : table.records) {
    if (each->name != name) continue;
    std::lock_guard own{each->mutex};
    each->faults.push_back({kth, code, device});
    each->armed = true;
    return;
  }
  table.early[std::string{name}].push_back({kth, code, device});
}

void skip_call(std::string_view name, std::uint64_t kth, int device) {
  fail_call(name, kth, function_record::skipped, device);
}

/// For reset().
void forget_calls();
void forget_calls() {
  auto& table = functions();
  std::lock_guard lock{table.mutex};
  table.early.clear();
  for (auto* each : table.records) {
    for (auto& count : each->by_device) count = 0;
    std::lock_guard own{each->mutex};
    each->faults.clear();
    each->armed = false;
  }
}

}  // namespace software_device
