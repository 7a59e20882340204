function weevil_main(n) {
  return Array.from({ length: n }, (_, i) => i + 1);
}
