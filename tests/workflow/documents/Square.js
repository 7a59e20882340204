function weevil_main(a) {
  return a * a;
}
