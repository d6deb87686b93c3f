/** Pseudorandom numbers that a seed determines. */
export interface Random {
  /** A whole number from `min` to `max`. */
  whole(min: number, max: number): number;
  /** Another source, which this one determines: for what runs beside others. */
  fork(): Random;
}

/** Mulberry32, by Tommy Ettinger: 32 bits of state, enough to choose moments and sizes. */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  return {
    whole: (min, max) => min + (next() % (max - min + 1)),
    fork: () => seeded(next()),
  };
}
