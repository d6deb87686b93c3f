/** How many go on in one turn of the event loop: writing to each takes some 20 µs. */
const perTurn = 50;

let waiting: (() => void)[] = [];

/**
 * Settles in a turn of the event loop in which few others go on: a value for thousands is written to some of them, then the
 * loop looks after other requests, then come the next ones.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(goOn);
  });
}

function goOn(): void {
  const now = waiting;
  waiting = now.splice(perTurn);
  for (const resolve of now) resolve();
  if (waiting.length > 0) setImmediate(goOn);
}
