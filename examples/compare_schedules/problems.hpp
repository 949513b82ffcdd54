// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! One rank's operands for each dependency class, and the contenders that work on them.
#pragma once

#include "bound.hpp"
#include "measurement.hpp"

#include <tpoverlap/blas.hpp>
#include <tpoverlap/tpoverlap.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace compare {

using tpoverlap::even_part;
using tpoverlap::matrix_view;
using tpoverlap::row_range;

/// A GEMM, or nothing in its place where communication alone is measured.
struct optional_gemm {
  using input_type = float;
  using output_type = float;

  void operator()(host::stream& in, matrix_view<float const> a, matrix_view<float const> b,
                  matrix_view<float> const& c, float beta) const {
    if (multiplies) host::blas_gemm<float>{}(in, a, b, c, beta);
  }

  bool multiplies = true;
};

inline constexpr optional_gemm no_gemm{.multiplies = false};

/// A matrix of small numbers, none of them a zero that a BLAS could skip.
[[nodiscard]] inline std::vector<float> numbers(std::int64_t rows, std::int64_t columns) {
  std::vector<float> values(static_cast<std::size_t>(rows * columns));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 13) * 0.125F + 0.125F;
  return values;
}

/// GEMMs of all rows, cut into `pieces` as the schedules cut them, one after another and with nothing beside them.
[[nodiscard]] inline contender gemm_alone(std::string name, matrix_view<float const> a,
                                          matrix_view<float const> b, matrix_view<float> c, int pieces) {
  return {std::move(name), [=](host::stream& in) {
            for (int i = 0; i < pieces; ++i) {
              row_range const rows = even_part(a.rows, pieces, i);
              host::blas_gemm<float>{}(in, a.row_range(rows.first, rows.count), b,
                                       c.row_range(rows.first, rows.count), 0);
            }
          }};
}

/// An overlap object together with its workspace.
template <class Overlap>
struct with_workspace {
  template <class Shape>
  with_workspace(host::communicator& comm, optional_gemm functor, Shape shape)
      : workspace(Overlap::workspace_bytes(shape)), call{comm, functor, shape, workspace} {}

  std::vector<std::byte> workspace;
  Overlap call;
};

template <class Policy, class World, class Shape>
[[nodiscard]] auto bind(host::communicator& comm, optional_gemm functor, Shape shape) {
  using object = tpoverlap::overlap<Policy, World, host::communicator, optional_gemm>;
  return std::make_shared<with_workspace<object>>(comm, functor, shape);
}

/// y = all_gather(x) · w
template <int Ranks>
class gather_problem {
 public:
  gather_problem(host::communicator& comm, tpoverlap::gemm_shape shape)
      : comm_{comm},
        shape_{shape},
        own_{even_part(shape.rows, Ranks, comm.rank()).count},
        all_x_{numbers(shape.rows, shape.inner)},
        w_{numbers(shape.inner, shape.columns)},
        y_(static_cast<std::size_t>(shape.rows * shape.columns)) {}

  /// What travels, all shards together.
  [[nodiscard]] double bytes() const {
    return static_cast<double>(shape_.rows * shape_.inner) * sizeof(float);
  }

  template <auto Strategy>
  [[nodiscard]] contender strategy(std::string name, optional_gemm functor = {}) {
    using policy = tpoverlap::producer_before_consumer<Strategy>;
    using world = tpoverlap::world<Ranks>;
    return {
        std::move(name),
        [object = bind<policy, world>(comm_, functor, shape_), x = x(), w = w(), y = y()](host::stream& in) {
          object->call(in, x, w, y);
        },
        link_seconds(tpoverlap::schedule<policy, Ranks>::program, bytes(), comm_.shared().options().link)};
  }

  [[nodiscard]] contender alone(std::string name, int pieces) {
    return gemm_alone(std::move(name), {all_x_.data(), shape_.rows, shape_.inner}, w(), y(), pieces);
  }

 private:
  matrix_view<float const> x() const { return {all_x_.data(), own_, shape_.inner}; }        // (M/P, K)
  matrix_view<float const> w() const { return {w_.data(), shape_.inner, shape_.columns}; }  // (K, N)
  matrix_view<float> y() { return {y_.data(), shape_.rows, shape_.columns}; }               // (M, N)

  host::communicator& comm_;
  tpoverlap::gemm_shape shape_;
  std::int64_t own_;
  std::vector<float> all_x_;
  std::vector<float> w_;
  std::vector<float> y_;
};

/// y = reduce_scatter(a · w)
template <int Ranks>
class reduction_problem {
 public:
  reduction_problem(host::communicator& comm, tpoverlap::gemm_shape shape)
      : comm_{comm},
        shape_{shape},
        own_{even_part(shape.rows, Ranks, comm.rank()).count},
        a_{numbers(shape.rows, shape.inner)},
        w_{numbers(shape.inner, shape.columns)},
        product_(static_cast<std::size_t>(shape.rows * shape.columns)) {}

  [[nodiscard]] double bytes() const {
    return static_cast<double>(shape_.rows * shape_.columns) * sizeof(float);
  }

  template <auto Strategy, tpoverlap::reduction Options = tpoverlap::reduction{}>
  [[nodiscard]] contender strategy(std::string name, optional_gemm functor = {}) {
    using policy = tpoverlap::consumer_before_reduction<Strategy, Options>;
    using world = tpoverlap::world<Ranks>;
    return {
        std::move(name),
        [object = bind<policy, world>(comm_, functor, shape_), a = a(), w = w(), y = y()](host::stream& in) {
          object->call(in, a, w, y);
        },
        link_seconds(tpoverlap::schedule<policy, Ranks>::program, bytes(), comm_.shared().options().link)};
  }

  [[nodiscard]] contender alone(std::string name, int pieces) {
    return gemm_alone(std::move(name), a(), w(), {product_.data(), shape_.rows, shape_.columns}, pieces);
  }

 private:
  matrix_view<float const> a() const { return {a_.data(), shape_.rows, shape_.inner}; }     // (M, K)
  matrix_view<float const> w() const { return {w_.data(), shape_.inner, shape_.columns}; }  // (K, N)
  matrix_view<float> y() { return {product_.data(), own_, shape_.columns}; }                // (M/P, N)

  host::communicator& comm_;
  tpoverlap::gemm_shape shape_;
  std::int64_t own_;
  std::vector<float> a_;
  std::vector<float> w_;
  std::vector<float> product_;
};

/// A collective of a (rows, inner) matrix beside c = a · b, where a is (rows, inner) and b (inner, columns).
template <int Ranks>
class side_problem {
 public:
  side_problem(host::communicator& comm, tpoverlap::gemm_shape shape)
      : comm_{comm},
        shape_{shape},
        own_{even_part(shape.rows, Ranks, comm.rank()).count},
        a_{numbers(shape.rows, shape.inner)},
        b_{numbers(shape.inner, shape.columns)},
        c_(static_cast<std::size_t>(shape.rows * shape.columns)),
        whole_(static_cast<std::size_t>(shape.rows * shape.inner)),
        part_(static_cast<std::size_t>(own_ * shape.inner)) {}

  [[nodiscard]] double bytes() const {
    return static_cast<double>(shape_.rows * shape_.inner) * sizeof(float);
  }

  template <auto Collective>
  [[nodiscard]] contender strategy(std::string name, optional_gemm functor = {}) {
    using policy = tpoverlap::independent_side_work<Collective>;
    using world = tpoverlap::world<Ranks>;
    tpoverlap::collective_shape const moved{.rows = shape_.rows, .columns = shape_.inner};
    matrix_view<float> const whole{whole_.data(), shape_.rows, shape_.inner};  // (M, K)
    matrix_view<float> const part{part_.data(), own_, shape_.inner};           // (M/P, K)
    auto const object = bind<policy, world>(comm_, functor, moved);
    auto const left = a();
    auto const right = b();
    auto const product = c();
    return {
        std::move(name),
        [=](host::stream& in) {
          using strategy = std::remove_const_t<decltype(Collective)>;
          if constexpr (std::is_same_v<strategy, tpoverlap::all_gather>) {
            object->call(in, part, whole, left, right, product);
          } else if constexpr (std::is_same_v<strategy, tpoverlap::reduce_scatter>) {
            object->call(in, whole, part, left, right, product);
          } else {
            object->call(in, whole, left, right, product);
          }
        },
        link_seconds(tpoverlap::schedule<policy, Ranks>::program, bytes(), comm_.shared().options().link)};
  }

  /// The baseline: the collective first, then the GEMM.
  template <auto Collective>
  [[nodiscard]] contender one_after_the_other(std::string name) {
    contender made = strategy<Collective>(std::move(name), no_gemm);
    made.issue = [collective = std::move(made.issue), product = alone("", 1).issue](host::stream& in) {
      collective(in);
      product(in);
    };
    return made;
  }

  [[nodiscard]] contender alone(std::string name, int pieces) {
    return gemm_alone(std::move(name), a(), b(), c(), pieces);
  }

 private:
  matrix_view<float const> a() const { return {a_.data(), shape_.rows, shape_.inner}; }     // (M, K)
  matrix_view<float const> b() const { return {b_.data(), shape_.inner, shape_.columns}; }  // (K, N)
  matrix_view<float> c() { return {c_.data(), shape_.rows, shape_.columns}; }               // (M, N)

  host::communicator& comm_;
  tpoverlap::gemm_shape shape_;
  std::int64_t own_;
  std::vector<float> a_;
  std::vector<float> b_;
  std::vector<float> c_;
  std::vector<float> whole_;
  std::vector<float> part_;
};

}  // namespace compare
