// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

// The program that the rig's tests run on its hosts.
//   rig_probe hosts NAME PER_HOST          every rank is on the host it should be on, and all names resolve
//   rig_probe rate PATTERN MBIT BURST BYTES
//                                          a transfer of BYTES is not faster than the link: one_way (rank 0 to the
//                                          last), incast (all others to rank 0), outcast (rank 0 to all others)
//   rig_probe exit STATUS                  the last rank returns STATUS
//   rig_probe count FILE                   rounds of ping-pong are counted in FILE until the program is ended

#include <fcntl.h>
#include <mpi.h>
#include <netdb.h>
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
    addrinfo* address = nullptr;
    if (getaddrinfo(wanted.c_str(), nullptr, nullptr, &address) != 0) {
      std::printf("the name %s has no address\n", wanted.c_str());
      status = 1;
    } else {
      freeaddrinfo(address);
    }
  }
  return status;
}

// Bytes pass a bucket at `mbit` and, once, `burst` bytes of it at no cost. Headers only make the payload slower, so
// that this bound can be exceeded only by a link that is not limited. Rank 0 measures: nobody leaves the first barrier
// before rank 0 has looked at its clock, nor rank 0 the second one before all have arrived.
int check_rate(std::string const& pattern, double mbit, double burst, int bytes) {
  std::vector<int> senders{0};
  std::vector<int> receivers{size() - 1};
  if (pattern != "one_way") {
    auto& others = pattern == "incast" ? senders : receivers;
    auto& alone = pattern == "incast" ? receivers : senders;
    others.clear();
    for (int r = 1; r < size(); ++r) {
      others.push_back(r);
    }
    alone.assign(1, 0);
  }
  auto const length = static_cast<std::size_t>(bytes);
  std::vector<char> data(length * senders.size() * receivers.size(), 1);
  int status = 0;
  for (int repeat = 0; repeat < 3; ++repeat) {
    auto const begin = std::chrono::steady_clock::now();
    MPI_Barrier(MPI_COMM_WORLD);
    std::vector<MPI_Request> requests;
    for (int sender : senders) {
      for (int receiver : receivers) {
        char* const piece = data.data() + length * requests.size();
        if (rank() == sender) {
          MPI_Isend(piece, bytes, MPI_CHAR, receiver, 0, MPI_COMM_WORLD, &requests.emplace_back());
        } else if (rank() == receiver) {
          MPI_Irecv(piece, bytes, MPI_CHAR, sender, 0, MPI_COMM_WORLD, &requests.emplace_back());
        }
      }
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    double const seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (rank() != 0) {
      continue;
    }
    auto const payload = static_cast<double>(data.size());
    std::printf("%.0f bytes in %.4f s: %.1f Mbit/s of %.0f\n", payload, seconds, payload * 8e-6 / seconds,
                mbit);
    if (payload > burst + mbit * 125000 * seconds) {
      std::printf("that is more than the link can carry\n");
      status = 1;  // and on: the other ranks do not know of it
    }
  }
  return status;
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
  if (words.size() == 5 && words[0] == "rate") {
    return check_rate(words[1], std::stod(words[2]), std::stod(words[3]), std::stoi(words[4]));
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
