// Mean times of the fastest of 15 rounds. Browsers' clocks tick in 0.1 ms, so that a round is long.

const ROUNDS = 15;
/** Length of a round in milliseconds. */
const ROUND = 20;

/** Nanoseconds of each of the `count` parts of a pass. */
export function fastest(count, pass) {
  let passes = 1;
  for (let took = 0; took < ROUND; ) {
    const start = performance.now();
    for (let i = 0; i < passes; i++) pass();
    took = performance.now() - start;
    if (took < ROUND) passes = Math.ceil(passes * Math.min(10, Math.max(2, ROUND / took)));
  }
  let least = Infinity;
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now();
    for (let i = 0; i < passes; i++) pass();
    least = Math.min(least, performance.now() - start);
  }
  return (1e6 * least) / (passes * count);
}
