/** Work that goes on until it is told to end, and what tells how much of it is under way. */
export function heldWork() {
  let running = 0;
  const ends: (() => void)[] = [];
  return {
    running: () => running,
    end: () => ends.shift()?.(),
    work: async () => {
      running += 1;
      await new Promise<void>((resolve) => ends.push(resolve));
      running -= 1;
    },
  };
}
