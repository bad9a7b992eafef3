// geodesic.c, as included in libproj: the inverse problem, polylines and polygons. Input: doubles, longitude before latitude.
#include "rounds.h"
#include <cmath>
#include <geodesic.h>

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const std::string task = argv[1];
  const std::vector<double> in = readDoubles(argv[2]);
  const double milliseconds = std::atof(argv[3]);
  geod_geodesic earth;
  geod_init(&earth, 6378137, 1 / 298.257223563);
  const size_t vertices = in.size() / 2;
  const auto inverse = [&](size_t index) {
    double s12;
    geod_inverse(&earth, in[index + 1], in[index], in[index + 3], in[index + 2], &s12, nullptr, nullptr);
    return s12;
  };
  const auto measure = [&](int polyline, double& perimeter) {
    geod_polygon polygon;
    geod_polygon_init(&polygon, polyline);
    for (size_t i = 0; i < (polyline ? vertices : vertices - 1); ++i) {
      geod_polygon_addpoint(&earth, &polygon, in[2 * i + 1], in[2 * i]);
    }
    double area = 0;
    geod_polygon_compute(&earth, &polygon, 0, 1, &area, &perimeter);
    return std::fabs(area);
  };
  if (task == "results") {
    std::vector<double> out;
    for (size_t i = 0; i + 3 < in.size(); i += 4) out.push_back(inverse(i));
    writeDoubles(argv[4], out);
  } else if (task == "inverse") {
    report(milliseconds, [&] {
      double sum = 0;
      for (size_t i = 0; i + 3 < in.size(); i += 4) sum += inverse(i);
      return sum;
    });
  } else if (task == "length") {
    report(milliseconds, [&] {
      double perimeter;
      measure(1, perimeter);
      return perimeter;
    });
  } else if (task == "area") {
    report(milliseconds, [&] {
      double perimeter;
      return measure(0, perimeter);
    });
  } else {
    return 2;
  }
}
