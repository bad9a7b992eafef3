// GeographicLib in C++: the inverse problem, polylines and polygons. Input: doubles, longitude before latitude.
#include "rounds.h"
#include <GeographicLib/Geodesic.hpp>
#include <GeographicLib/PolygonArea.hpp>
using namespace GeographicLib;

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const std::string task = argv[1];
  const std::vector<double> in = readDoubles(argv[2]);
  const double milliseconds = std::atof(argv[3]);
  const Geodesic& earth = Geodesic::WGS84();
  const size_t vertices = in.size() / 2;
  const auto inverse = [&](size_t index) {
    double s12;
    earth.Inverse(in[index + 1], in[index], in[index + 3], in[index + 2], s12);
    return s12;
  };
  const auto measure = [&](bool polyline, double& perimeter) {
    PolygonArea polygon(earth, polyline);
    // PolygonArea closes a ring itself, so the repeated last position is omitted.
    for (size_t i = 0; i < (polyline ? vertices : vertices - 1); ++i) polygon.AddPoint(in[2 * i + 1], in[2 * i]);
    double area = 0;
    polygon.Compute(false, true, perimeter, area);
    return area < 0 ? -area : area;
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
      measure(true, perimeter);
      return perimeter;
    });
  } else if (task == "area") {
    report(milliseconds, [&] {
      double perimeter;
      return measure(false, perimeter);
    });
  } else {
    return 2;
  }
}
