// SPDX-License-Identifier: BSD-3-Clause
#include "write_foreign.h"

#include <adios2.h>

#include <string>
#include <vector>

namespace iocomp::tests {

void write_foreign(const std::string& path, const std::string& engine) {
  adios2::ADIOS adios;
  adios2::IO io = adios.DeclareIO("foreign");
  io.SetEngine(engine);
  adios2::Engine out = io.Open(path, adios2::Mode::Write);
  const std::vector<double> values(100000, 1.5);
  const auto grid = io.DefineVariable<double>("grid", {4}, {0}, {4});
  const auto local = io.DefineVariable<double>("local", {}, {}, {values.size()});
  const auto time = io.DefineVariable<double>("time", {}, {}, {values.size()});
  const auto text = io.DefineVariable<std::string>("text");
  const adios2::Dims nine(9, 1);
  const auto deep = io.DefineVariable<double>("deep", nine, adios2::Dims(9, 0), nine);
  for (int step = 0; step < 2; ++step) {
    out.BeginStep();
    for (const auto& variable : {grid, local, time, deep}) {
      out.Put(variable, values.data());
    }
    out.Put(text, std::string{"text"});
    out.EndStep();
  }
  out.Close();
}

}  // namespace iocomp::tests
