// GEOS with its C interface: predicates and validity. Input: pairs of WKB geometries, each preceded by its size (32 bits).
// A task whose name starts with `prepared-` prepares the first geometry of the first pair and tests it with all second geometries.
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
  for (size_t offset = 0; offset + 4 <= bytes.size();) {
    uint32_t size;
    std::memcpy(&size, &bytes[offset], 4);
    geometries.push_back(
        GEOSGeomFromWKB_buf_r(geos, reinterpret_cast<const unsigned char*>(&bytes[offset + 4]), size));
    offset += 4 + size;
  }
  std::vector<Pair> pairs;
  for (size_t i = 0; i + 1 < geometries.size(); i += 2) pairs.push_back({geometries[i], geometries[i + 1]});
  return pairs;
}

// The matrix as a number in base 4, F being 3, so that contenders can be compared. 0 when GEOS threw an exception.
double matrixNumber(const char* matrix) {
  double number = 0;
  for (; matrix != nullptr && *matrix != 0; matrix++) number = 4 * number + (*matrix == 'F' ? 3 : *matrix - '0');
  return number;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const std::string task = argv[1];
  GEOSContextHandle_t geos = GEOS_init_r();
  const std::vector<Pair> pairs = readPairs(geos, readBytes(argv[2]));
  const double milliseconds = std::atof(argv[3]);
  const auto count = [&](auto predicate) {
    report(milliseconds, [&] {
      double sum = 0;
      for (const Pair& pair : pairs) sum += predicate(pair) == 1;
      return sum;
    });
  };
  if (task == "contains") {
    count([&](const Pair& p) { return GEOSContains_r(geos, p.a, p.b); });
  } else if (task == "intersects") {
    count([&](const Pair& p) { return GEOSIntersects_r(geos, p.a, p.b); });
  } else if (task == "relate") {
    report(milliseconds, [&] {
      double sum = 0;
      for (const Pair& p : pairs) {
        char* matrix = GEOSRelate_r(geos, p.a, p.b);
        sum += matrixNumber(matrix);
        GEOSFree_r(geos, matrix);
      }
      return sum;
    });
  } else if (task == "valid") {
    count([&](const Pair& p) { return GEOSisValid_r(geos, p.a); });
  } else if (task == "prepared-contains") {
    const GEOSPreparedGeometry* prepared = GEOSPrepare_r(geos, pairs[0].a);
    count([&](const Pair& p) { return GEOSPreparedContains_r(geos, prepared, p.b); });
  } else if (task == "results") {
    // Four results per pair: intersects and contains, each in both orders. 2 means that GEOS threw an exception.
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
