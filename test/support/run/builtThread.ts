import { Worker, type WorkerOptions } from "node:worker_threads";
import { packageFile } from "../../../src/lib/packageFiles.js";
import type * as thread from "../../../src/lib/threads/thread.js";

// In place of src/lib/threads/thread.ts (vitest.config.ts): threads run dist/, as processes of tests do. To load their sources, tsx
// takes half of the CPU time of opening an embedded database.

export const threadModule: typeof thread.threadModule = (name) => ({ filename: moduleOf(name) });

export const startThread: typeof thread.startThread = (name: string, options: WorkerOptions) =>
  new Worker(new URL(moduleOf(name)), options);

function moduleOf(name: string): string {
  return packageFile(`dist/${name}.js`).href;
}
