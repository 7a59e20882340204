function weevil_main(n) {
  var inside = 0;
  for (var i = 0; i < n; ++i) {
    var x = Math.random();
    var y = Math.random();
    if (x * x + y * y <= 1) inside++;
  }
  return inside / n;
}
