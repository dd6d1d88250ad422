// Takes turns: every round runs each contestant once, each round beginning with another one.
export async function alternate(rounds, contestants, run) {
  const samples = Object.fromEntries(contestants.map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < contestants.length; turn++) {
      const name = contestants[(round + turn) % contestants.length];
      samples[name].push(await run(name));
    }
    process.stderr.write(".");
  }
  return samples;
}

export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Takes the median of `baseline` off every sample of `names`. */
export function minusMedian(samples, baseline, names) {
  const base = median(samples[baseline]);
  for (const name of names) samples[name] = samples[name].map((value) => value - base);
  return samples;
}
