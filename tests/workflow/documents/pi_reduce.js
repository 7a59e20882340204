function weevil_main(points) {
  var result = 0;
  for (var i = 0; i < points.length; ++i) result += (points[i] / points.length) * 4;
  return result;
}
