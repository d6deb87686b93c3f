import { readFile, writeFile } from "node:fs/promises";
import { withLayouts } from "./layoutDocs.js";

// Writes the tables of docs/formats.md from those of the layouts; a test fails when they differ.
const page = new URL("../docs/formats.md", import.meta.url);
await writeFile(page, withLayouts(await readFile(page, "utf8")));
