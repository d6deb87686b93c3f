import { access, readdir, readFile } from "node:fs/promises";
import { expect, test } from "vitest";

const pages = ["README.md", "CONTRIBUTING.md", "SECURITY.md"].concat(
  (await readdir("docs")).filter((name) => name.endsWith(".md")).map((name) => `docs/${name}`),
);

/** Paths of this repository in code spans. Those of folders end with a slash. */
const paths = /`((?:src|test|docs|bench|prisma|scripts)\/[\w./-]+)`/gu;

test.each(pages)("every file and folder that %s names is there", async (page) => {
  const named = [...(await readFile(page, "utf8")).matchAll(paths)].map(([, path = ""]) => path);
  const made = new Set(["test/screenshots/"]); // by `npm test`
  const missing: string[] = [];
  for (const path of named) if (!made.has(path) && !(await exists(path))) missing.push(path);
  expect(missing).toEqual([]);
});

test("the architecture names at least a file of each step", async () => {
  expect([...(await readFile("docs/architecture.md", "utf8")).matchAll(paths)].length).toBeGreaterThan(40);
});

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
