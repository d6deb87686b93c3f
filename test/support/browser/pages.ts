import type { TestApp } from "../app.js";

/** The text of a page as a browser gets it, and the paths of the files that it loads. */
export async function readPage({ url }: Pick<TestApp, "url">, path: string) {
  const response = await fetch(`${url}${path}`, { headers: { accept: "text/html" } });
  const html = await response.text();
  const files = [...html.matchAll(/<(?:script|link rel="stylesheet")\s(?:src|href)="([^"]*)"/gu)];
  return { headers: response.headers, html, files: files.map(([, file = ""]) => new URL(file, response.url).pathname) };
}
