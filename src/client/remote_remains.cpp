// What a rank keeps of a file so that it could be finished without servers.
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "array/cover.h"
#include "client/carrier.h"
#include "client/link.h"
#include "client/remains.h"
#include "client/remote_carrier.h"
#include "client/tickets.h"

namespace iocomp::client {

// When it is on its way: until then the servers may be lost, and the block is put once more.
void RemoteCarrier::note(const Block& block) {
  array::add(variables_[block.variable.id], block.cover);
  if (route_.keeps_remains) {
    Remains::Step& step = remains_.steps[block.step];
    array::add(step.variables[block.variable.id], block.cover);
    step.puts.add({.variable = block.variable.id,
                   .rank = route_.compute_rank,
                   .part = {block.region, 0, array::elements(block.region)}});
  }
}

void RemoteCarrier::keep(std::vector<Remains::Piece> pieces) {
  if (!route_.keeps_remains) {
    return;
  }
  auto& all = remains_.pieces;
  all.insert(all.end(), std::make_move_iterator(pieces.begin()),
             std::make_move_iterator(pieces.end()));
  if (all.size() > next_look_) {
    forget_written();
  }
}

// What is written survives the server.
void RemoteCarrier::forget_written() {
  constexpr std::size_t few = 256;
  std::erase_if(remains_.pieces, [this](const Remains::Piece& piece) {
    const Ticket* ticket = link_.tickets().find(piece.ticket);
    return ticket == nullptr || !ticket->failure.ok() || ticket->written == ticket->pieces;
  });
  next_look_ = 2 * remains_.pieces.size() + few;
}

// A step that failed may be the last that the servers have settled: then the ranks agree on it
// once more.
void RemoteCarrier::forget_settled(const RemoteFile& remote) {
  for (; next_settled_ < remote.settled; ++next_settled_) {
    if (const auto failure = remote.failures.find(next_settled_);
        failure != remote.failures.end()) {
      remains_.steps[next_settled_].failure = failure->second;
    } else {
      remains_.committed = next_settled_ + 1;
    }
  }
  remains_.steps.erase(remains_.steps.begin(), remains_.steps.lower_bound(remains_.committed));
}

Remains RemoteCarrier::take_remains() {
  if (own_) {
    own_->finish_without_server();
  }
  forget_written();
  forget_settled(link_.file(route_.key));
  return std::move(remains_);
}

}  // namespace iocomp::client
