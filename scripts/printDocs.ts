import { readFile, writeFile } from "node:fs/promises";
import { generatedPages } from "./generatedDocs.js";

// Writes what is generated of the documentation; a test fails where it differs.
for (const [path, generate] of Object.entries(generatedPages)) {
  const page = new URL(`../${path}`, import.meta.url);
  await writeFile(page, generate(await readFile(page, "utf8").catch(() => "")));
}
