import { setTimeout as sleep } from "node:timers/promises";
import { serve } from "../server.js";
import { progress } from "../table.js";
import type { Stage } from "./stage.js";

const recoveryMs = 20_000;
const pollMs = 250;

/** The neighbour waits no longer than this, for half a second: what came before has come to its end. */
const calmMs = 100;
const calmWindowMs = 500;
const calmLimitMs = 15_000;

/** Waits for a while until the neighbour is served as usual, which the work that an attack has left behind may delay. */
export async function settle({ neighbour }: Stage): Promise<void> {
  const end = performance.now() + calmLimitMs;
  while (performance.now() < end) {
    const { seen } = await neighbour.during(() => sleep(calmWindowMs));
    if (seen.all.errors === 0 && seen.all.longestMs <= calmMs) return;
  }
}

/** Waits until the server is ready, and where it does not become that puts another one in its place. @returns which it was */
export async function recover(stage: Stage): Promise<"ready" | "replaced"> {
  const end = performance.now() + recoveryMs;
  while (performance.now() < end) {
    if (await isReady(stage.server.url)) return "ready";
    await sleep(pollMs);
  }
  progress("  the server does not come back: it is replaced");
  try {
    process.kill(stage.server.pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
  await stage.server.stop();
  stage.server = await serve(stage.database);
  stage.neighbour.moveTo(stage.server.url);
  return "replaced";
}

async function isReady(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2_000) });
    await response.arrayBuffer();
    return response.status === 200;
  } catch {
    return false;
  }
}
