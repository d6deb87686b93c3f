/** Runs work when its turn comes, and settles as the work does. */
export type InTurn = <Result>(key: string, work: () => Promise<Result>) => Promise<Result>;

interface Lane {
  running: number;
  readonly waiting: (() => void)[];
}

/** For each key, at most so many pieces of work at a time; others wait in the order in which they came. */
export function createTurns(atOnceMax: number): InTurn {
  const lanes = new Map<string, Lane>();
  return async (key, work) => {
    const lane = lanes.get(key) ?? { running: 0, waiting: [] };
    lanes.set(key, lane);
    if (lane.running < atOnceMax) lane.running += 1;
    else await new Promise<void>((resolve) => lane.waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = lane.waiting.shift();
      if (next !== undefined) next(); // it takes this one's place
      else lane.running -= 1;
      if (lane.running === 0) lanes.delete(key);
    }
  };
}
