import { Worker, type WorkerOptions } from "node:worker_threads";

/** In development and in tests there are only the TypeScript sources of threads, which are loaded with tsx. */
const isFromSources = import.meta.url.endsWith(".ts");

/** What piscina needs to start a thread whose compiled module is at `url` (`new URL("./x.worker.js", import.meta.url)`). */
export function threadModule(url: URL): { readonly filename: string; readonly execArgv?: string[] } {
  return isFromSources ? { filename: sourceOf(url), execArgv: ["--import", "tsx"] } : { filename: url.href };
}

/** Starts one thread, from a `url` as above. Node.js 20 can import a `.ts` module there, but not start it. */
export function startThread(url: URL, options: WorkerOptions): Worker {
  if (!isFromSources) return new Worker(url, options);
  const start = `import("tsx/esm/api").then(({ register }) => { register(); return import("${sourceOf(url)}"); })`;
  return new Worker(start, { ...options, eval: true });
}

function sourceOf({ href }: URL): string {
  return href.replace(/\.js$/u, ".ts");
}
