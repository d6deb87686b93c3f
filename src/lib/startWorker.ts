import { Worker, type WorkerOptions } from "node:worker_threads";

/**
 * Starts the worker thread whose compiled module is at `url` (`new URL("./x.worker.js", import.meta.url)`).
 * Run from the TypeScript sources, as tests and development do, there is no such module: Node would not find it and
 * would not map `.js` to `.ts` either, so the `.ts` module is started, with tsx loaded into the thread first.
 */
export function startWorker(url: URL, options: WorkerOptions = {}): Worker {
  if (!import.meta.url.endsWith(".ts")) return new Worker(url, options);
  const module = JSON.stringify(url.href.replace(/\.js$/u, ".ts"));
  const start = `import("tsx/esm/api").then(({ register }) => { register(); return import(${module}); })`;
  return new Worker(start, { ...options, eval: true });
}
