import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * What runs a test file: `npm test`, `npm run test:all`, which has what needs other programs or processes, or `npm run test:long`.
 */
export type Tier = "test" | "all" | "long";

export type Engine = "embedded" | "postgresql";

interface TestFile {
  readonly path: string;
  readonly tier: Tier;
  readonly engines: readonly Engine[];
  /** Whether it tries random inputs, of which `npm run test:long` tries more, on both engines. */
  readonly hasProperties: boolean;
  /** Whether it does more in `npm run test:long` (tier.ts), or has support do so. */
  readonly doesMoreInLong: boolean;
}

/** The first line of a file that is not for `npm test`, or not for the embedded engine alone. */
const marks = /^\/\/ (?:@tier (?<tier>all|long))?(?: ?@engine (?<engine>postgresql|both))?\n/u;

const engines: Readonly<Record<string, readonly Engine[]>> = {
  postgresql: ["postgresql"],
  both: ["embedded", "postgresql"],
};

/**
 * The test files that a tier has on an engine. What runs on both engines is in `npm test` on the embedded one, and in
 * `npm run test:all` on PostgreSQL.
 */
export function testFiles(tier: Tier, engine: Engine): string[] {
  return allFiles()
    .filter((file) => isIn(file, tier, engine))
    .map(({ path }) => path);
}

function isIn({ tier, engines: own, ...file }: TestFile, wanted: Tier, engine: Engine): boolean {
  if (wanted === "long" && file.hasProperties) return true;
  if (!own.includes(engine)) return false;
  if (wanted === "long" && file.doesMoreInLong) return true;
  const least = engine === "postgresql" ? "all" : "test";
  return (tier === "test" ? least : tier) === wanted;
}

function allFiles(): TestFile[] {
  const paths = readdirSync("test", { recursive: true, encoding: "utf8" }).map((name) => join("test", name));
  return paths.filter((path) => path.endsWith(".test.ts")).map(describeFile);
}

function describeFile(path: string): TestFile {
  const text = readFileSync(path, "utf8");
  const { tier = "test", engine = "" } = marks.exec(text)?.groups ?? {};
  if (text.startsWith("// @") && !marks.test(text)) throw new Error(`${path} begins with a mark that is not known.`);
  return {
    path,
    tier: tier as Tier,
    engines: engines[engine] ?? ["embedded"],
    hasProperties: text.includes('from "fast-check"'),
    doesMoreInLong: /(?:run\/tier|\/repetitions)\.js"/u.test(text),
  };
}
