// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

// The program that the rig's tests run on its hosts.
//   rig_probe hosts NAME PER_HOST          every rank is on the host it should be on
//   rig_probe rate MBIT BURST BYTES        a one-way transfer is not faster than the link
//   rig_probe incast MBIT BURST BYTES      nor are all ranks sending to rank 0 at once
//   rig_probe exit STATUS                  the last rank returns STATUS
//   rig_probe count FILE                   rounds of ping-pong are counted in FILE until the program is ended

#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

int rank() {
  int result = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &result);
  return result;
}

int size() {
  int result = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &result);
  return result;
}

int check_hosts(std::string const& name, int per_host) {
  constexpr int length = 256;
  char own[length] = {};
  if (gethostname(own, length - 1) != 0) {
    return 1;
  }
  std::vector<char> all(static_cast<std::size_t>(size() * length));
  MPI_Gather(own, length, MPI_CHAR, all.data(), length, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (rank() != 0) {
    return 0;
  }
  int status = 0;
  for (int r = 0; r < size(); ++r) {
    std::string const wanted = name + "-" + std::to_string(r / per_host);
    std::string const found = all.data() + r * length;
    std::printf("rank %d is on %s\n", r, found.c_str());
    if (found != wanted) {
      std::printf("it should be on %s\n", wanted.c_str());
      status = 1;
    }
  }
  return status;
}

// Bytes pass the bucket at `mbit` and, once, `burst` bytes of it at no cost. Headers only make the payload slower. So
// this bound can be exceeded only by a link that is not limited. Rank 0 measures, from before the first byte is sent
// to after the last has arrived, so that no two clocks are compared.
int check_rate(double mbit, double burst, int bytes, bool incast) {
  std::vector<char> data(static_cast<std::size_t>(bytes), 1);
  int const senders = incast ? size() - 1 : 1;
  if (!incast && size() < 2) {
    return 1;
  }
  for (int repeat = 0; repeat < 3; ++repeat) {
    MPI_Barrier(MPI_COMM_WORLD);
    char token = 0;
    auto const begin = std::chrono::steady_clock::now();
    if (incast && rank() == 0) {
      for (int r = 1; r < size(); ++r) {
        MPI_Send(&token, 1, MPI_CHAR, r, 0, MPI_COMM_WORLD);
      }
      std::vector<MPI_Request> requests(static_cast<std::size_t>(senders));
      std::vector<char> landing(static_cast<std::size_t>(bytes) * requests.size());
      for (int r = 1; r < size(); ++r) {
        auto const slot = static_cast<std::size_t>(r - 1);
        MPI_Irecv(landing.data() + slot * data.size(), bytes, MPI_CHAR, r, 0, MPI_COMM_WORLD,
                  &requests[slot]);
      }
      MPI_Waitall(senders, requests.data(), MPI_STATUSES_IGNORE);
    } else if (incast) {
      MPI_Recv(&token, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(data.data(), bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    } else if (rank() == 0) {
      MPI_Send(data.data(), bytes, MPI_CHAR, size() - 1, 0, MPI_COMM_WORLD);
      MPI_Recv(&token, 1, MPI_CHAR, size() - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank() == size() - 1) {
      MPI_Recv(data.data(), bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(&token, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    }
    double const seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (rank() != 0) {
      continue;
    }
    double const payload = static_cast<double>(bytes) * senders;
    std::printf("%.0f bytes in %.4f s: %.1f Mbit/s of %.0f\n", payload, seconds, payload * 8e-6 / seconds,
                mbit);
    if (payload > burst + mbit * 125000 * seconds) {
      std::printf("that is more than the link can carry\n");
      return 1;
    }
  }
  return 0;
}

int count_rounds(char const* file) {
  int const descriptor = rank() == 0 ? open(file, O_WRONLY | O_CREAT | O_TRUNC, 0644) : -1;
  if (rank() == 0 && descriptor < 0) {
    return 1;
  }
  for (std::uint64_t round = 1;; ++round) {
    char token = 0;
    if (rank() == 0) {
      MPI_Send(&token, 1, MPI_CHAR, size() - 1, 0, MPI_COMM_WORLD);
      MPI_Recv(&token, 1, MPI_CHAR, size() - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      std::string const text = std::to_string(round) + "\n";
      if (pwrite(descriptor, text.data(), text.size(), 0) < 0) {
        return 1;
      }
    } else if (rank() == size() - 1) {
      MPI_Recv(&token, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(&token, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    }
  }
}

int run(std::vector<std::string> const& words) {
  if (words.size() == 3 && words[0] == "hosts") {
    return check_hosts(words[1], std::stoi(words[2]));
  }
  if (words.size() == 4 && (words[0] == "rate" || words[0] == "incast")) {
    return check_rate(std::stod(words[1]), std::stod(words[2]), std::stoi(words[3]), words[0] == "incast");
  }
  if (words.size() == 2 && words[0] == "exit") {
    return rank() == size() - 1 ? std::stoi(words[1]) : 0;
  }
  if (words.size() == 2 && words[0] == "count") {
    return count_rounds(words[1].c_str());
  }
  std::fprintf(stderr, "rig_probe: no such check\n");
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int const status = run({argv + 1, argv + argc});
  MPI_Finalize();
  return status;
}
