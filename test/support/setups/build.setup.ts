import { execFile } from "node:child_process";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

/** Builds dist/, which the tests in test/process run, where a source is newer. After `npm run build` there is none. */
export default async function setUp(): Promise<void> {
  const results = ["dist/main.js", "dist/dashboard/index.html", "dist/tracker/v1.js"];
  const [compiledAt, dashboardAt, trackerAt] = await Promise.all(results.map(changedAt));
  const names = await readdir("src", { recursive: true });
  const sources = names.filter((name) => !name.startsWith("generated"));
  const isCurrent = await Promise.all(
    sources.map(async (name) => {
      const bundledAt = name.startsWith("tracker") ? trackerAt : compiledAt;
      const builtAt = name.startsWith("dashboard") ? dashboardAt : bundledAt;
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
