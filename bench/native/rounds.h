// Shared by the native contenders: reading the input, timing calls, and printing the output line.
// Arguments: task, file, milliseconds. Output: nanoseconds per call and the result of the last call. With 0 milliseconds only
// the first call is timed. The task `results` prints nothing and writes doubles to the file in a fourth argument.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

inline std::vector<char> readBytes(const char* path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    std::fprintf(stderr, "cannot read %s\n", path);
    std::exit(1);
  }
  return std::vector<char>(std::istreambuf_iterator<char>(in), {});
}

inline std::vector<double> readDoubles(const char* path) {
  const std::vector<char> bytes = readBytes(path);
  const double* values = reinterpret_cast<const double*>(bytes.data());
  return std::vector<double>(values, values + bytes.size() / sizeof(double));
}

inline void writeDoubles(const char* path, const std::vector<double>& values) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
}

// Repeats the call for the given time. The first third warms up and determines the number of calls. The rest is four timed
// pieces, of which only the fastest counts, so that interruptions do not affect the result.
template <class Call>
void report(double milliseconds, Call call) {
  using clock = std::chrono::steady_clock;
  const auto since = [](clock::time_point start) {
    return std::chrono::duration<double, std::nano>(clock::now() - start).count();
  };
  double result = 0;
  auto start = clock::now();
  if (milliseconds <= 0) {
    result = call();
    std::printf("%.3f %.17g\n", since(start), result);
    return;
  }
  long warmUpCalls = 0;
  do {
    result = call();
    ++warmUpCalls;
  } while (since(start) < milliseconds * 1e6 / 3);
  const long calls = (warmUpCalls + 1) / 2;
  double best = 1e300;
  for (int piece = 0; piece < 4; ++piece) {
    start = clock::now();
    for (long i = 0; i < calls; ++i) result = call();
    best = std::min(best, since(start) / calls);
    if (calls == 1 && best > milliseconds * 1e6) break;
  }
  std::printf("%.3f %.17g\n", best, result);
}
