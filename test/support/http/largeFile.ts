import type { TestApp } from "../app.js";
import { readPage } from "../browser/pages.js";
import { receive } from "./bytes.js";

/** A file of the service that is longer than what the system buffers for a connection. */
export async function largeFile(app: Pick<TestApp, "url">) {
  const { files } = await readPage(app, "/graphql");
  const path = files.find((name) => name.endsWith(".js")) ?? "";
  const { headers } = await receive(app.url, path, { method: "HEAD" });
  return { path, request: `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`, length: Number(headers["content-length"]) };
}
