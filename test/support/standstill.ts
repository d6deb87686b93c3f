import { Worker } from "node:worker_threads";

/** A thread of its own looks at the clock this often: what the process itself is at makes no difference to it. */
const lookMs = 50;
/** What is noticed as a standstill of the machine, and not as cores that others want too. */
const standstillMsMin = 300;
const remembered = 256;

/** The time of the last look, and of the last standstills when each ended and how long it was. */
const [last, ends, lengths] = [new Float64Array(new SharedArrayBuffer(8)), newRing(), newRing()];

function newRing(): Float64Array {
  return new Float64Array(new SharedArrayBuffer(8 * remembered));
}

const thread = `
  const { last, ends, lengths } = require("node:worker_threads").workerData;
  let noticed = 0;
  setInterval(() => {
    const now = Date.now();
    const late = last[0] === 0 ? 0 : now - last[0] - ${lookMs};
    last[0] = now;
    if (late < ${standstillMsMin}) return;
    const place = noticed++ % ${remembered};
    [ends[place], lengths[place]] = [now, late];
  }, ${lookMs});
`;
new Worker(thread, { eval: true, workerData: { last, ends, lengths } }).unref();

/** How long this machine has stood still since a time of `Date.now()`, in milliseconds: a virtual one may for seconds. */
export function standstillSince(time: number): number {
  const [now, lastLook = 0] = [Date.now(), last[0]];
  const current = lastLook === 0 ? 0 : now - lastLook - lookMs; // not noticed yet
  let total = current < standstillMsMin ? 0 : current;
  for (const [place, end] of ends.entries()) if (end > time) total += Math.min(lengths[place] ?? 0, end - time);
  return total;
}
