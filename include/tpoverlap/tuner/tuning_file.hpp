// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! A tuning file on disk: read as a whole, written as a whole, by several processes at once if need be.
#pragma once

#include <tpoverlap/core/text.hpp>
#include <tpoverlap/tuner/tuning_file_error.hpp>
#include <tpoverlap/tuner/tuning_table.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace tpoverlap::inline v0 {

/// A file of kept choices. Only one rank of a group touches it.
///
/// Readers see a complete file: a new one is written beside it (`PATH.new`) and renamed. Writers take turns, by a lock
/// on `PATH.lock`, which stays behind, empty; each reads the file again and adds its choice, so that nothing another one
/// wrote is lost. The system frees the lock of a process that dies.
/// **Errors** `tuning_file_error`: out of reach, not a tuning file, damaged. The file is left as it is.
class tuning_file {
 public:
  explicit tuning_file(std::string path) : path_{std::move(path)} {}

  [[nodiscard]] std::string const& path() const { return path_; }

  /// What the file holds; nothing if there is none.
  [[nodiscard]] tuning_table read() const {
    std::string text;
    if (!load(text)) return {};
    try {
      return tuning_table::parse(text);
    } catch (tuning_file_error const& wrong) {
      std::string_view what = wrong.what();
      what.remove_prefix(std::string_view{"tpoverlap: "}.size());
      fail(what, wrong.line());
    }
  }

  /// Whether a choice could be kept here, before a measurement is made for it. **Errors** if not.
  void check_writable() const { lock{*this}; }

  /// Adds `entry`, or puts it in the place of the one with its key.
  void keep(tuning_entry entry) const {
    lock held{*this};
    held.take();
    tuning_table table = read();
    table.put(std::move(entry));
    write(table.text());
  }

 private:
  static constexpr std::size_t largest = std::size_t{16} << 20;
  static constexpr std::chrono::seconds patience{2};

  /// Opens the lock file, and holds the lock from `take` on.
  class lock {
   public:
    explicit lock(tuning_file const& file) : file_{file}, path_{file.path_ + ".lock"} {
      handle_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
      if (handle_ < 0) file.fail_with_errno("cannot be written: opening its lock file, PATH.lock, failed");
    }
    lock(lock const&) = delete;
    lock& operator=(lock const&) = delete;
    ~lock() { ::close(handle_); }

    void take() {
      auto const limit = std::chrono::steady_clock::now() + patience;
      while (::flock(handle_, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) {
          file_.fail_with_errno("cannot be written: locking PATH.lock failed");
        }
        if (std::chrono::steady_clock::now() > limit) {
          file_.fail("the tuning file has been locked by another process for 2 s; end that one, or take "
                     "another path",
                     0);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{2});
      }
    }

   private:
    tuning_file const& file_;
    std::string path_;
    int handle_;
  };

  /// The path comes last: a long one must not push out what is wrong.
  [[noreturn]] void fail(std::string_view what, int line) const {
    bounded_text<460> text;
    text << what << " (" << path_ << ')';
    raise(tuning_file_error{text.view(), line});
  }

  [[noreturn]] void fail_with_errno(char const* what) const {
    int const number = errno;
    char const* advice = "look at the rights and the room of its folder, or name another path";
    if (number == ENOENT || number == ENOTDIR) advice = "make its folder, or name another path";
    bounded_text<300> text;
    text << "the tuning file " << text_view{what} << " (" << text_view{std::strerror(number)} << "); "
         << text_view{advice};
    fail(text.view(), 0);
  }

  /// Closes what it opened.
  struct stream {
    std::FILE* file;
    explicit stream(std::FILE* opened) : file{opened} {}
    stream(stream const&) = delete;
    stream& operator=(stream const&) = delete;
    ~stream() {
      if (file != nullptr) std::fclose(file);
    }
    [[nodiscard]] bool close() { return std::fclose(std::exchange(file, nullptr)) == 0; }
  };

  /// False if there is no file.
  [[nodiscard]] bool load(std::string& text) const {
    stream in{std::fopen(path_.c_str(), "rb")};
    if (in.file == nullptr) {
      if (errno == ENOENT) return false;
      fail_with_errno("cannot be read");
    }
    char part[4096];
    for (std::size_t count = 0; (count = std::fread(part, 1, sizeof part, in.file)) > 0;) {
      text.append(part, count);
      if (text.size() > largest) {
        fail("the tuning file has more than 16 MiB, which no tuning file has; name another path", 0);
      }
    }
    if (std::ferror(in.file) != 0) fail_with_errno("cannot be read");
    return true;
  }

  void write(std::string const& text) const {
    std::string const beside = path_ + ".new";
    stream out{std::fopen(beside.c_str(), "wb")};
    if (out.file == nullptr) fail_with_errno("cannot be written: opening PATH.new failed");
    bool written = std::fwrite(text.data(), 1, text.size(), out.file) == text.size();
    // On disk before the rename, or a power cut could leave the new name with nothing in it.
    written = std::fflush(out.file) == 0 && written;
    written = ::fsync(::fileno(out.file)) == 0 && written;
    written = out.close() && written;
    if (!written || std::rename(beside.c_str(), path_.c_str()) != 0) {
      int const number = errno;
      std::remove(beside.c_str());
      errno = number;
      fail_with_errno("cannot be written");
    }
  }

  std::string path_;
};

}  // namespace tpoverlap::inline v0
