import { getPriority, setPriority } from "node:os";
import { Worker, type WorkerOptions } from "node:worker_threads";
import { packageFile } from "../packageFiles.js";

/** In development and in tests, tsx loads the sources of threads. */
const isFromSources = import.meta.url.endsWith(".ts");

/** Arguments for piscina. @param name the path in src/ without `.ts`, ending with `.worker` (an entry of the build) */
export function threadModule(name: string): { readonly filename: string; readonly execArgv?: string[] } {
  const filename = moduleOf(name);
  return isFromSources ? { filename, execArgv: ["--import", "tsx"] } : { filename };
}

/** Starts a thread by its `name` as above. Node.js 20 can import a `.ts` module in a thread, but cannot start a thread from it. */
export function startThread(name: string, options: WorkerOptions): Worker {
  if (!isFromSources) return new Worker(new URL(moduleOf(name)), options);
  const start = `import("tsx/esm/api").then(({ register }) => { register(); return import("${moduleOf(name)}"); })`;
  return new Worker(start, { ...options, eval: true });
}

const lowestPriority = 19;

/** Lowers the priority of this thread on Linux. Other systems have no priorities of threads. */
export function lowerPriority(by: number): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(Math.min(lowestPriority, getPriority() + by));
  } catch {
    // A container may forbid it. The thread then works at normal priority.
  }
}

function moduleOf(name: string): string {
  return packageFile(isFromSources ? `src/${name}.ts` : `dist/${name}.js`).href;
}
