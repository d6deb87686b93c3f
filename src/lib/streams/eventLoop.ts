import { setImmediate } from "node:timers/promises";
import { collectYoungGarbage } from "../threads/garbage.js";

/** The bytes of long bodies and results in one turn of the event loop. With 1 MiB, the slowest request took half as long again. */
const turnBytes = 256 * 1024;
/** The same while connections arrive: libuv accepts one a turn, so the last of sixty waits for sixty turns. */
const acceptingTurnBytes = 64 * 1024;
/** Smaller pieces do not count, because a sender that keeps up with the reader sends pieces of 64 KiB. */
const pieceBytesMin = 16 * 1024;
/** But each takes some microseconds, and a sender may send each byte as a piece. */
const smallPiecesMax = 1_000;
/** After 64 MiB of new buffers, V8 would collect the whole heap, for up to 30 milliseconds. */
const collectedBytes = 24 * 1024 * 1024;

let uncollected = 0;
let taken = 0;
let smallPieces = 0;
let turn: Promise<void> | undefined;
let hasAccepted = false;
let hadAccepted = false;
let accepted = 0;

const quietWaitMs = 250;

interface Waiting {
  readonly until: number;
  readonly resume: () => void;
}

const waiting: Waiting[] = [];

/**
 * Counts a piece that was read from a socket. Once this turn of the event loop has read enough, returns a promise of the next
 * turn. The caller pauses its socket until then, because Node.js reads up to 2 MiB of one socket before it serves others.
 */
export function yieldAfterBytes(bytes: number): Promise<void> | undefined {
  if (bytes < pieceBytesMin) {
    smallPieces += 1;
    if (smallPieces < smallPiecesMax) return undefined;
    smallPieces = 0;
    return (turn ??= endOfTurn());
  }
  uncollected += bytes;
  if (uncollected >= collectedBytes) {
    uncollected = 0;
    collectYoungGarbage();
  }
  taken += bytes;
  turn ??= endOfTurn();
  return taken < (hasAccepted || hadAccepted ? acceptingTurnBytes : turnBytes) ? undefined : turn;
}

export function noteConnection(): void {
  hasAccepted = true;
  accepted += 1;
  turn ??= endOfTurn();
}

async function endOfTurn(): Promise<void> {
  await setImmediate();
  taken = 0;
  turn = undefined;
  hadAccepted = hasAccepted;
  hasAccepted = false;
}

/**
 * Resolves in a turn of the event loop that accepted no connection, for one caller a turn, or after a quarter of a second.
 * Otherwise the last of 400 dashboards that connect together would wait for the work of all others.
 */
export function yieldUntilNoNewConnections(): Promise<void> {
  return new Promise((resume) => {
    waiting.push({ until: performance.now() + quietWaitMs, resume });
    if (waiting.length === 1) void resumeInTurn();
  });
}

async function resumeInTurn(): Promise<void> {
  for (let before = accepted; waiting[0] !== undefined; before = accepted) {
    await setImmediate();
    const [first] = waiting;
    if (accepted === before || performance.now() >= first.until) waiting.shift()?.resume();
  }
}

let lastOwn: Promise<void> = Promise.resolve();

/** Resolves in a later turn of the event loop, for one caller a turn, so that requests are served in between. */
export function yieldInOrder(): Promise<void> {
  lastOwn = lastOwn.then(() => setImmediate());
  return lastOwn;
}
