// GEOS by its C interface: predicates and validity. Input: pairs of WKB geometries, each after its size (32 bits).
// A task that begins with `prepared-` prepares the first geometry of the first pair once and asks about all second ones.
#include "rounds.h"
#include <cstdint>
#include <cstring>
#include <geos_c.h>

namespace {

struct Pair {
  GEOSGeometry* a;
  GEOSGeometry* b;
};

std::vector<Pair> readPairs(GEOSContextHandle_t geos, const std::vector<char>& bytes) {
  std::vector<GEOSGeometry*> geometries;
  for (size_t at = 0; at + 4 <= bytes.size();) {
    uint32_t size;
    std::memcpy(&size, &bytes[at], 4);
    geometries.push_back(
        GEOSGeomFromWKB_buf_r(geos, reinterpret_cast<const unsigned char*>(&bytes[at + 4]), size));
    at += 4 + size;
  }
  std::vector<Pair> pairs;
  for (size_t i = 0; i + 1 < geometries.size(); i += 2) pairs.push_back({geometries[i], geometries[i + 1]});
  return pairs;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const std::string task = argv[1];
  GEOSContextHandle_t geos = GEOS_init_r();
  const std::vector<Pair> pairs = readPairs(geos, readBytes(argv[2]));
  const double milliseconds = std::atof(argv[3]);
  const auto count = [&](auto question) {
    report(milliseconds, [&] {
      double sum = 0;
      for (const Pair& pair : pairs) sum += question(pair) == 1;
      return sum;
    });
  };
  if (task == "contains") {
    count([&](const Pair& p) { return GEOSContains_r(geos, p.a, p.b); });
  } else if (task == "intersects") {
    count([&](const Pair& p) { return GEOSIntersects_r(geos, p.a, p.b); });
  } else if (task == "valid") {
    count([&](const Pair& p) { return GEOSisValid_r(geos, p.a); });
  } else if (task == "prepared-contains") {
    const GEOSPreparedGeometry* prepared = GEOSPrepare_r(geos, pairs[0].a);
    count([&](const Pair& p) { return GEOSPreparedContains_r(geos, prepared, p.b); });
  } else if (task == "results") {
    // Four answers a pair: intersects and contains, both ways; 2 where GEOS throws.
    std::vector<double> out;
    for (const Pair& p : pairs) {
      out.push_back(GEOSIntersects_r(geos, p.a, p.b));
      out.push_back(GEOSIntersects_r(geos, p.b, p.a));
      out.push_back(GEOSContains_r(geos, p.a, p.b));
      out.push_back(GEOSContains_r(geos, p.b, p.a));
    }
    writeDoubles(argv[4], out);
  } else {
    return 2;
  }
}
