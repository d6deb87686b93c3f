import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

type Close = () => Promise<unknown>;

/** What is open: processes, databases, folders. Benchmarks only open; run.ts closes after each, and when interrupted. */
const open: Close[] = [];
let closing = Promise.resolve();
let isEnding = false;

/** Has something closed after the benchmark. Gives a function that closes it earlier; it is closed once. */
export function closeLater(close: Close): () => Promise<void> {
  if (isEnding) {
    void close();
    throw new Error("The run is ending.");
  }
  let closed: Promise<unknown> | undefined;
  const closeOnce = async () => {
    closed ??= close();
    await closed;
  };
  open.push(closeOnce);
  return closeOnce;
}

/** Closes everything, the last opened first, after what an earlier call is still closing. */
export function closeAll(): Promise<void> {
  closing = closing.then(closeOpen);
  return closing;
}

/** Closes everything and lets nothing more be opened. */
export async function endRun(): Promise<void> {
  isEnding = true;
  await closeAll();
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "vitrine-bench-"));
  closeLater(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** What fails to close does not keep the rest open. */
async function closeOpen(): Promise<void> {
  for (let close = open.pop(); close !== undefined; close = open.pop()) {
    await close().catch((error: unknown) => process.stderr.write(`not closed: ${String(error)}\n`));
  }
}
