// SPDX-License-Identifier: BSD-3-Clause
#include "commit/owner.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdarg>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/open_folder.h"
#include "base/path.h"
#include "commit/beats.h"
#include "commit/commit.h"
#include "unit/temporary_folder.h"

namespace iocomp::commit {
namespace {

using namespace std::chrono_literals;

bool has_locks = true;
constexpr BeatPace pace{50ms, 2s};

class OwnerTest : public testing::Test {
 protected:
  ~OwnerTest() override { has_locks = true; }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_ / name; }
  void leave(const std::string& name) const { std::ofstream{path(name)} << "x"; }
  [[nodiscard]] bool is_there(const std::string& name) const {
    return std::filesystem::exists(path(name));
  }
  [[nodiscard]] Outcome outcome_of_owning() const {
    return outcome_of([this] { const Owner owner{Path{path("out.bin")}, "host-1"}; });
  }

  TemporaryFolder folder_;
};

TEST_F(OwnerTest, LeavesNothing) {
  {
    const Owner owner{Path{path("out.bin")}, "host-1"};
  }
  EXPECT_TRUE(std::filesystem::is_empty(path("")));
}

TEST_F(OwnerTest, TellsOfAFolderThatIsNotThere) {
  const Outcome refused =
      outcome_of([this] { const Owner owner{Path{path("gone/out.bin")}, "host-1"}; });
  EXPECT_EQ(refused.code, ErrorCode::storage_failure) << refused.story;
}

TEST_F(OwnerTest, RefusesAnotherAndNamesItsJob) {
  auto owner = std::make_unique<Owner>(Path{path("out.bin")}, "host-17");
  const Outcome refused = outcome_of_owning();
  EXPECT_EQ(refused.code, ErrorCode::target_exists);
  EXPECT_NE(refused.story.find(path("out.bin") + " is being written by the job host-17"),
            std::string::npos)
      << refused.story;
  EXPECT_TRUE(outcome_of([this] { const Owner other{Path{path("other.bin")}, "host-1"}; }).ok());
  owner.reset();
  EXPECT_TRUE(outcome_of_owning().ok());
}

TEST_F(OwnerTest, OfAStoppedServerGoesToTheRanksOfItsJobAlone) {
  using Claim = Owner::Claim;
  auto server = std::make_unique<Owner>(Path{path("out.bin")}, "host-17", Claim::of_server);
  EXPECT_EQ(holder_of(Path{path("out.bin")}).job, "host-17");
  const auto owned_as = [this](const char* job, Claim claim) {
    return outcome_of([&] { const Owner other{Path{path("out.bin")}, job, claim}; });
  };
  EXPECT_EQ(owned_as("host-17", Claim::alone).code, ErrorCode::target_exists);
  EXPECT_EQ(owned_as("host-18", Claim::from_server).code, ErrorCode::target_exists);
  const Owner rank{Path{path("out.bin")}, "host-17", Claim::from_server};
  EXPECT_EQ(owned_as("host-17", Claim::from_server).code, ErrorCode::target_exists);
  server.reset();  // it goes on, and leaves
  EXPECT_EQ(holder_of(Path{path("out.bin")}).state, Holder::State::alive);
  EXPECT_EQ(owned_as("host-18", Claim::alone).code, ErrorCode::target_exists);
}

TEST_F(OwnerTest, OwnsNoLongerThanItsProcessLives) {
  int started[2];
  ASSERT_EQ(::pipe(started), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const Owner owner{Path{path("out.bin")}, "host-2"};
    (void)!::write(started[1], "x", 1);
    ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(started[0], &byte, 1), 1);
  EXPECT_EQ(outcome_of_owning().code, ErrorCode::target_exists);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(outcome_of_owning().ok());
  EXPECT_TRUE(std::filesystem::is_empty(path("")));
}

// As two containers that share a folder: no process of the one is seen in the other.
TEST_F(OwnerTest, RefusesAnotherThatSeesNoneOfItsProcesses) {
  const Owner owner{Path{path("out.bin")}, "host-17"};
  leave(".out.bin.iocomp-host-17");
  constexpr int cannot = 77;
  const pid_t child = ::fork();
  if (child == 0) {
    if (::unshare(CLONE_NEWPID) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) {
      ::_exit(cannot);
    }
    const pid_t first = ::fork();  // of the new namespace
    if (first == 0) {
      const bool is_refused =
          ::getpid() == 1 && outcome_of_owning().code == ErrorCode::target_exists;
      ::_exit(is_refused ? 0 : 1);
    }
    int status = 0;
    ::waitpid(first, &status, 0);
    ::_exit(first > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : cannot);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WEXITSTATUS(status) == cannot) {
    GTEST_SKIP() << "no namespace can be made here";
  }
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(is_there(".out.bin.iocomp-host-17"));
}

TEST_F(OwnerTest, IsSeenFromOutside) {
  EXPECT_EQ(holder_of(Path{path("out.bin")}).state, Holder::State::nobody);
  EXPECT_TRUE(std::filesystem::is_empty(path("")));
  auto owner = std::make_unique<Owner>(Path{path("out.bin")}, "host-17");
  EXPECT_EQ(holder_of(Path{path("out.bin")}).state, Holder::State::alive);
  EXPECT_EQ(holder_of(Path{path("out.bin")}).job, "host-17");
  EXPECT_EQ(is_lock_of(".out.bin.iocomp-lock"), "out.bin");
  EXPECT_EQ(is_lock_of(".out.bin.iocomp-host-1"), "");
  EXPECT_EQ(is_lock_of("out.bin.iocomp-lock"), "");
  owner.reset();
  EXPECT_EQ(holder_of(Path{path("out.bin")}).state, Holder::State::nobody);
  std::ofstream{path(".out.bin.iocomp-lock")} << "host-18";  // of one that was killed
  EXPECT_EQ(holder_of(Path{path("out.bin")}).state, Holder::State::ended);
  EXPECT_EQ(holder_of(Path{path("out.bin")}).job, "host-18");
  std::filesystem::remove(path(".out.bin.iocomp-lock"));
  std::filesystem::create_symlink(path("elsewhere"), path(".out.bin.iocomp-lock"));
  EXPECT_EQ(holder_of(Path{path("out.bin")}).state, Holder::State::unknown);
}

TEST_F(OwnerTest, FollowsNoLink) {
  leave("elsewhere");
  std::filesystem::create_symlink(path("elsewhere"), path(".out.bin.iocomp-lock"));
  EXPECT_EQ(outcome_of_owning().code, ErrorCode::storage_failure);
  EXPECT_EQ(std::filesystem::file_size(path("elsewhere")), 1U);
}

TEST_F(OwnerTest, ShowsThatItLivesWhereThereAreNoLocks) {
  has_locks = false;
  auto owner = std::make_unique<Owner>(Path{path("out.bin")}, "host-17", Owner::Claim::alone,
                                       Owner::Files::one, pace);
  const auto own = [this] {
    return outcome_of([this] {
      const Owner other{Path{path("out.bin")}, "host-18", Owner::Claim::alone, Owner::Files::one,
                        pace};
    });
  };
  const Outcome refused = own();
  EXPECT_EQ(refused.code, ErrorCode::target_exists);
  EXPECT_NE(refused.story.find("is being written by the job host-17;"), std::string::npos)
      << refused.story;
  EXPECT_EQ(holder_of(Path{path("out.bin")}).state, Holder::State::unknown);
  EXPECT_EQ(holder_of(Path{path("out.bin")}).job, "host-17");
  owner.reset();
  EXPECT_TRUE(std::filesystem::is_empty(path("")));
  EXPECT_TRUE(own().ok());
  std::ofstream{path(".out.bin.iocomp-lock")} << "host-17\n12\n";  // of one that was killed
  EXPECT_TRUE(own().ok());
  EXPECT_TRUE(std::filesystem::is_empty(path("")));
}

TEST_F(OwnerTest, IsSeenToLiveWhileItsNumberChanges) {
  constexpr BeatPace fast{20ms, 400ms};
  const Path lock{path("lock")};
  EXPECT_FALSE(beats(lock, fast));
  leave("lock");
  EXPECT_FALSE(beats(lock, fast));
  {
    const Beats owner{lock, "host-17", fast};
    EXPECT_TRUE(beats(lock, fast));
  }
  EXPECT_FALSE(beats(lock, fast));
}

TEST_F(OwnerTest, OneThatSleptDoesNotRemoveTheLockOfAnother) {
  has_locks = false;
  auto owner =
      std::make_unique<Owner>(Path{path("out.bin")}, "host-17", Owner::Claim::alone,
                              Owner::Files::one, BeatPace{1h, 2h});  // too slow for the others
  const Owner other{Path{path("out.bin")}, "host-18", Owner::Claim::alone, Owner::Files::one, pace};
  owner.reset();
  EXPECT_EQ(holder_of(Path{path("out.bin")}).job, "host-18");
}

TEST_F(OwnerTest, OfTwoThatTakeAFileOverOneIsRefused) {
  has_locks = false;
  leave(".out.bin.iocomp-lock");
  std::vector<std::unique_ptr<Owner>> owners(2);
  std::vector<Outcome> outcomes(2);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < owners.size(); ++i) {
      threads.emplace_back([&, i] {
        outcomes[i] = outcome_of([&] {
          owners[i] = std::make_unique<Owner>(Path{path("out.bin")}, "host-" + std::to_string(i),
                                              Owner::Claim::alone, Owner::Files::one, pace);
        });
      });
    }
  }
  EXPECT_NE(outcomes[0].ok(), outcomes[1].ok()) << outcomes[0].story << outcomes[1].story;
}

TEST_F(OwnerTest, ClearsAwayWhatIsLeftOfItsOwnFilesAlone) {
  for (const char* name :
       {".out.bin.iocomp-host-1", ".out.bin.iocomp-host-1.json", ".out.000003.bin.iocomp-other-7",
        ".out.bin.iocomp-host-1-1182007297-10899.lock", ".other.bin.iocomp-host-1",
        ".out.3.bin.iocomp-host-1", "out.bin", "out.bin.iocomp-host-1", ".iocomp-host-1"}) {
    leave(name);
  }
  const Path mine{path("out.bin")};
  clear_away(mine, Owner{mine, "host-1"});  // of a file of all steps
  EXPECT_TRUE(is_there(".out.000003.bin.iocomp-other-7"));
  clear_away(mine, Owner{mine, "host-1", Owner::Claim::alone, Owner::Files::set});
  EXPECT_FALSE(is_there(".out.bin.iocomp-host-1"));
  EXPECT_FALSE(is_there(".out.bin.iocomp-host-1.json"));
  EXPECT_FALSE(is_there(".out.bin.iocomp-host-1-1182007297-10899.lock"));
  EXPECT_FALSE(is_there(".out.000003.bin.iocomp-other-7"));
  EXPECT_TRUE(is_there(".other.bin.iocomp-host-1"));
  EXPECT_TRUE(is_there(".out.3.bin.iocomp-host-1"));
  EXPECT_TRUE(is_there("out.bin"));
  EXPECT_TRUE(is_there("out.bin.iocomp-host-1"));
  EXPECT_TRUE(is_there(".iocomp-host-1"));
}

TEST_F(OwnerTest, ClearsAwayNothingOfFilesThatOthersHaveTakenOver) {
  leave(".out.bin.iocomp-host-1");
  leave(".out.bin.iocomp-host-1.json");
  const Owner owner{Path{path("out.bin")}, "host-1", Owner::Claim::of_server};
  OpenFolder folder{path(".")};
  folder.fence([] { return true; });
  clear_away(Path{std::make_shared<const OpenFolder>(std::move(folder)), "out.bin"}, owner);
  EXPECT_TRUE(is_there(".out.bin.iocomp-host-1"));
  EXPECT_TRUE(is_there(".out.bin.iocomp-host-1.json"));
}

TEST_F(OwnerTest, RefusesASetAndAFileThatIsCalledLikeItsStep) {
  const auto owning = [this](const char* name, Owner::Files files) {
    return outcome_of([&] {
      const Path mine{path(name)};
      Owner{mine, "host-2", Owner::Claim::alone, files}.check_others(mine);
    });
  };
  const auto dated = "out.19900101.bin";
  {
    const Owner owner{Path{path(dated)}, "host-1"};
    EXPECT_EQ(owning("out.bin", Owner::Files::set).code, ErrorCode::target_exists);
    EXPECT_TRUE(owning("out.bin", Owner::Files::one).ok());
  }
  {
    const Owner owner{Path{path("out.bin")}, "host-1"};
    EXPECT_TRUE(owning(dated, Owner::Files::one).ok());
  }
  {
    const Owner owner{Path{path("out.bin")}, "host-1", Owner::Claim::of_server, Owner::Files::set};
    EXPECT_EQ(holder_of(Path{path("out.bin")}).job, "host-1");
    const Outcome outcome = owning(dated, Owner::Files::one);
    EXPECT_EQ(outcome.code, ErrorCode::target_exists);
    EXPECT_NE(outcome.story.find("a step of out.bin, and the job host-1 writes out.bin"),
              std::string::npos)
        << outcome.story;
    EXPECT_TRUE(owning("out.1.bin", Owner::Files::one).ok());
  }
  EXPECT_TRUE(owning("out.bin", Owner::Files::set).ok());
  EXPECT_TRUE(owning(dated, Owner::Files::one).ok());
}

TEST_F(OwnerTest, ClearsAwayManifestsWithoutTheirFile) {
  const auto describe = [this](const char* name) {
    std::ofstream{path(name)} << "{\n \"iocomp_manifest\": 2}";
  };
  for (const char* name : {"out.000003.bin.json", "out.bin.json", "out.000004.bin.json",
                           "other.000003.bin.json", "out.3.bin.json"}) {
    describe(name);
  }
  leave("out.000004.bin");
  leave("out.000005.bin.json");  // another program's
  const Path mine{path("out.bin")};
  const auto clear = [&] {
    clear_away(mine, Owner{mine, "host-1", Owner::Claim::alone, Owner::Files::set});
  };
  clear();  // nobody has crashed: its files may lie elsewhere
  EXPECT_TRUE(is_there("out.000003.bin.json"));
  EXPECT_TRUE(is_there("out.bin.json"));
  leave(".out.bin.iocomp-lock");
  clear();
  EXPECT_FALSE(is_there("out.000003.bin.json"));
  EXPECT_FALSE(is_there("out.bin.json"));
  EXPECT_TRUE(is_there("out.000004.bin.json"));
  EXPECT_TRUE(is_there("out.000005.bin.json"));
  EXPECT_TRUE(is_there("other.000003.bin.json"));
  EXPECT_TRUE(is_there("out.3.bin.json"));
}

}  // namespace
}  // namespace iocomp::commit

// In the place of the one of the C library: a file system without locks.
extern "C" int fcntl(int file, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  const bool is_lock = command == F_OFD_SETLK || command == F_OFD_GETLK;
  if (is_lock && !iocomp::commit::has_locks) {
    errno = ENOLCK;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_fcntl, file, command, argument));
}
