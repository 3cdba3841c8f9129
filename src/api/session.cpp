// SPDX-License-Identifier: BSD-3-Clause
#include "session/session.h"

#include <iocomp/iocomp.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "api/guard.h"
#include "api/handles.h"
#include "array/element_type.h"
#include "base/error.h"
#include "base/host.h"

using iocomp::api::guarded;
using iocomp::api::If;
using iocomp::api::require;

int iocomp_init(MPI_Comm comm, const char* settings, iocomp_session** session) {
  return guarded(
      [&] {
        require(session, "init", "the place for the session");
        *session = nullptr;
        iocomp::api::require_ranks(comm, "init");
        iocomp::note_process();
        auto started = std::make_unique<iocomp_session>();
        started->session =
            std::make_unique<iocomp::session::Session>(comm, settings == nullptr ? "" : settings);
        if (started->session->role() == iocomp::session::Role::server &&
            !started->session->server_returns()) {
          const int status = started->session->exit_status();
          started.reset();
          MPI_Finalize();
          std::exit(status);
        }
        *session = started.release();
      },
      If::always);  // a server is in here all the time
}

MPI_Comm iocomp_comm(const iocomp_session* session) {
  if (session == nullptr) {
    iocomp::api::tell_of_unseen_failure("comm");  // MPI ends a program that uses the null one
    return MPI_COMM_NULL;
  }
  return session->session->compute();
}

iocomp_rank_role iocomp_role(const iocomp_session* session) {
  return session == nullptr ? IOCOMP_COMPUTE
                            : static_cast<iocomp_rank_role>(session->session->role());
}

int iocomp_should_stop(iocomp_session* session, int* stop) {
  return guarded([&] {
    require(session, "should_stop", "the session");
    require(stop, "should_stop", "the place for the answer");
    *stop = 0;
    require(session->session->role() != iocomp::session::Role::server ? session : nullptr,
            "should_stop", "a compute rank's session");
    session->session->begin_call();
    *stop = session->session->should_stop() ? 1 : 0;
  });
}

int iocomp_finalize(iocomp_session* session) {
  return guarded([&] {
    require(session, "finalize", "the session");
    std::unique_ptr<iocomp_session> ending{session};
    ending->session->begin_call();
    const iocomp::Outcome outcome = ending->session->finalize();
    if (ending->session->was_abandoned()) {
      (void)ending.release();  // its parts would call an MPI that is over
    }
    if (!outcome.ok()) {
      std::fprintf(stderr, "iocomp: %s\n", outcome.story.c_str());
      throw iocomp::Error{outcome.code, outcome.story};
    }
  });
}

int iocomp_alloc(iocomp_session* session, size_t bytes, void** memory) {
  return guarded([&] {
    require(session, "alloc", "the session");
    require(memory, "alloc", "the place for the memory");
    *memory = nullptr;
    require(session->session->role() != iocomp::session::Role::server ? session : nullptr, "alloc",
            "a compute rank's session");
    *memory = session->session->client().array_memory().allocate(bytes);
  });
}

int iocomp_free(iocomp_session* session, void* memory) {
  return guarded([&] {
    require(session, "free", "the session");
    if (memory != nullptr && session->session->role() != iocomp::session::Role::server) {
      session->session->client().array_memory().free(memory);
    }
  });
}

int iocomp_progress(iocomp_session* session) {
  return guarded(
      [&] {
        require(session, "progress", "the session");
        session->session->begin_call();
        if (session->session->role() != iocomp::session::Role::server) {
          session->session->client().progress();
        }
      },
      If::known_limited);
}

const char* iocomp_error(void) { return iocomp::api::last_story().c_str(); }

const char* iocomp_code_name(int code) { return iocomp::code_name(code); }

int iocomp_version(const char** text) {
  if (text != nullptr) {
    *text = IOCOMP_VERSION_STRING;
  }
  return IOCOMP_VERSION;
}

size_t iocomp_type_size(iocomp_type type) {
  const auto known = iocomp::array::element_type(type == IOCOMP_BOOL ? IOCOMP_INT8 : type);
  return known ? iocomp::array::size_bytes(*known) : 0;
}

const char* iocomp_settings(iocomp_session* session) {
  if (session == nullptr) {
    return "";
  }
  const int failed = guarded([&] {
    session->settings_text.clear();
    for (const auto& [key, value] : session->session->settings().in_force()) {
      session->settings_text += key + " = " + value.text + "  (" + value.origin + ")\n";
    }
  });
  return failed == 0 ? session->settings_text.c_str() : "";
}
