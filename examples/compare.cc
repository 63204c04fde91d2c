// SPDX-License-Identifier: Apache-2.0
// Every variant of a scenario file from C++, each in a thread of its own.
//
//   c++ -std=c++17 compare.cc $(pkg-config --cflags --libs weft) -pthread -o compare && ./compare SCENARIO
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "weft/weft.h"

namespace {

template <typename T, void (*F)(T *)> struct Free {
    void operator()(T *object) const { F(object); }
};
using File = std::unique_ptr<weft_scenario_file, Free<weft_scenario_file, weft_scenario_file_free>>;
using Simulation = std::unique_ptr<weft_simulation, Free<weft_simulation, weft_simulation_free>>;
using Result = std::unique_ptr<weft_result, Free<weft_result, weft_result_free>>;

/// Calls a function of the library; its error becomes an exception.
template <typename Call> void check(Call call) {
    weft_error error{};
    if (call(&error)) throw std::runtime_error(error.text);
}

File read(const char *path) {
    weft_scenario_file *file = nullptr;
    check([&](weft_error *error) { return weft_scenario_file_read(path, nullptr, 0, &file, error); });
    return File(file);
}

std::string run(const weft_scenario_file *file, uint32_t variant) {
    weft_simulation *made = nullptr;
    check([&](weft_error *error) { return weft_simulation_new(file, variant, &made, error); });
    Simulation simulation(made);
    weft_result *measured = nullptr;
    check([&](weft_error *error) { return weft_simulation_run(made, nullptr, &measured, error); });
    Result result(measured);
    char line[160];
    std::snprintf(line, sizeof line, "%-16s %10.1f us", weft_scenario_variant_name(file, variant),
                  static_cast<double>(weft_result_sim_time(measured)) / WEFT_PS_PER_US);
    return line;
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: compare SCENARIO\n");
        return 2;
    }
    try {
        File file = read(argv[1]);
        std::vector<std::string> line(weft_scenario_variants(file.get()));
        std::vector<std::thread> threads;
        for (uint32_t v = 0; v < line.size(); v++)
            threads.emplace_back([&, v] {
                try {
                    line[v] = run(file.get(), v);
                } catch (const std::exception &e) {
                    line[v] = e.what();
                }
            });
        for (std::thread &thread : threads)
            thread.join();
        for (const std::string &text : line)
            std::puts(text.c_str());
    } catch (const std::exception &e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 2;
    }
}
