import { execFile } from "node:child_process";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

/** Builds dist/, which the tests in test/process run, where a source is newer. After `npm run build` there is none. */
export default async function setUp(): Promise<void> {
  const [compiledAt, bundledAt] = await Promise.all(["dist/main.js", "dist/dashboard/index.html"].map(changedAt));
  const names = await readdir("src", { recursive: true });
  const sources = names.filter((name) => !name.startsWith("generated"));
  const isCurrent = await Promise.all(
    sources.map(async (name) => {
      const builtAt = name.startsWith("dashboard") ? bundledAt : compiledAt;
      return (await changedAt(join("src", name))) <= (builtAt ?? 0);
    }),
  );
  if (!isCurrent.every(Boolean)) await promisify(execFile)(process.execPath, ["scripts/build.js"]);
}

async function changedAt(path: string): Promise<number> {
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}
