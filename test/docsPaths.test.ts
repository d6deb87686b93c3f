import { access, readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { generatedPages } from "../scripts/generatedDocs.js";

const pages = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "bench/README.md"].concat(
  (await readdir("docs")).filter((name) => name.endsWith(".md")).map((name) => `docs/${name}`),
);

/** Paths of this repository in code spans. Those of folders end with a slash. */
const paths = /`((?:src|test|docs|bench|prisma|scripts)\/[\w./-]+)`/gu;

const cellCharactersMax = 120;

test.each(pages)("every file and folder that %s names exists", async (page) => {
  const named = [...(await read(page)).matchAll(paths)].map(([, path = ""]) => path);
  const made = new Set(["test/screenshots/"]); // by tests, where TEST_SCREENSHOTS is true
  const missing: string[] = [];
  for (const path of named) if (!made.has(path) && !(await exists(path))) missing.push(path);
  expect(missing).toEqual([]);
});

test.each(pages)("every link of %s within the repository leads to a file and a heading", async (page) => {
  const broken: string[] = [];
  for (const [, path = "", anchor] of (await read(page)).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/gu)) {
    const target = path === "" ? page : join(dirname(page), path);
    const isThere = anchor === undefined ? await exists(target) : anchorsOf(await read(target)).has(anchor);
    if (!isThere) broken.push(`${path}#${anchor ?? ""}`);
  }
  expect(broken).toEqual([]);
});

test.each(pages)(`no table cell of %s has more than ${cellCharactersMax} characters`, async (page) => {
  const lines = (await read(page)).split("\n");
  const long = lines.flatMap((line, index) =>
    cellsOf(line)
      .filter((cell) => cell.length > cellCharactersMax)
      .map((cell) => `line ${index + 1}: ${cell}`),
  );
  expect(long).toEqual([]);
});

test.each(Object.entries(generatedPages))("%s is as npm run docs writes it", async (path, generate) => {
  const page = await read(path);
  expect(generate(page)).toBe(page);
});

test("the architecture names at least a file of each step", async () => {
  expect([...(await read("docs/architecture.md")).matchAll(paths)].length).toBeGreaterThan(40);
});

function read(page: string): Promise<string> {
  return readFile(page, "utf8");
}

/** The cells of a line of a table, trimmed; none of any other line. */
function cellsOf(line: string): string[] {
  if (!line.startsWith("|")) return [];
  return line
    .split(/(?<!\\)\|/u)
    .slice(1, -1)
    .map((cell) => cell.trim())
    .filter((cell) => !/^:?-+:?$/u.test(cell));
}

/** The anchors of a page's headings, as GitHub forms them. */
function anchorsOf(markdown: string): Set<string> {
  const headings = [...markdown.replaceAll(/^```[\s\S]*?^```$/gmu, "").matchAll(/^#+ (.+)$/gmu)];
  return new Set(
    headings.map(([, text = ""]) =>
      text
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
