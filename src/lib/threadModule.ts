/**
 * How piscina starts the thread whose compiled module is at `url` (`new URL("./x.worker.js", import.meta.url)`). Run from the
 * TypeScript sources, as tests and development do, there is no such module: the `.ts` module is started, with tsx loaded first.
 */
export function threadModule(url: URL): { readonly filename: string; readonly execArgv?: string[] } {
  if (!import.meta.url.endsWith(".ts")) return { filename: url.href };
  return { filename: url.href.replace(/\.js$/u, ".ts"), execArgv: ["--import", "tsx"] };
}
