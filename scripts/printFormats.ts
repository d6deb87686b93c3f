import { readFile, writeFile } from "node:fs/promises";
import { withLayouts } from "./layoutDocs.js";

// Writes the columns of all layouts into docs/formats.md; a test fails when they differ.
const page = new URL("../docs/formats.md", import.meta.url);
await writeFile(page, withLayouts(await readFile(page, "utf8")));
