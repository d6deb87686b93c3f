import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** What tests in these folders observe is the same on any database: processes, parsing, validation, HTTP. */
const folders =
  "cli dashboard execution hostile lib process rest soak catalog/sources/csv http/content http/proxies http/server"
    .split(" ")
    .map((name) => join("test", name, "**"));

/** The first line of any other test file of which that is true. */
const mark = "// @engine embedded\n";

/** Patterns of tests that run on the embedded engine alone. Those that read or write through SQL, or lock, run on each engine. */
export function onEmbeddedOnly(): string[] {
  const files = readdirSync("test", { recursive: true, encoding: "utf8" }).map((name) => join("test", name));
  const isMarked = (file: string) => file.endsWith(".test.ts") && readFileSync(file, "utf8").startsWith(mark);
  return [...folders, ...files.filter(isMarked)];
}
