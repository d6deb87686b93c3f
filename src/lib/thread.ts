import { Worker, type WorkerOptions } from "node:worker_threads";
import { packageFile } from "./packageFiles.js";

/** In development and in tests there are only the TypeScript sources of threads, which are loaded with tsx. */
const isFromSources = import.meta.url.endsWith(".ts");

/**
 * What piscina needs to start a thread.
 *
 * @param name the path of its module in src/ without `.ts`; it must end with `.worker`, so that the build makes an entry of it
 */
export function threadModule(name: string): { readonly filename: string; readonly execArgv?: string[] } {
  const filename = moduleOf(name);
  return isFromSources ? { filename, execArgv: ["--import", "tsx"] } : { filename };
}

/** Starts one thread, from a `name` as above. Node.js 20 can import a `.ts` module there, but not start it. */
export function startThread(name: string, options: WorkerOptions): Worker {
  if (!isFromSources) return new Worker(new URL(moduleOf(name)), options);
  const start = `import("tsx/esm/api").then(({ register }) => { register(); return import("${moduleOf(name)}"); })`;
  return new Worker(start, { ...options, eval: true });
}

function moduleOf(name: string): string {
  return packageFile(isFromSources ? `src/${name}.ts` : `dist/${name}.js`).href;
}
