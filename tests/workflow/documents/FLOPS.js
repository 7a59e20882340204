// Attained performance: ten operations in each turn; what it returns is how many were done.
function weevil_main(a) {
  var flop_count = 0;
  var op = 0;
  for (var i = 0; i < a; ++i) {
    op = op + 13 - 10 * 14 * 2 * 15 * 2 * 4 * 2 * 3.6 * 1.2;
    flop_count += 10;
  }
  return flop_count;
}
