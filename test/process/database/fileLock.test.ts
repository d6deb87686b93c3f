// @tier all
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { lockFile } from "../../../src/database/embedded/fileLock.js";
import type { Holder } from "../../../src/database/embedded/lockOwner.js";
import { folderForTest } from "../../support/folder.js";
import { until } from "../../support/until.js";

test("a zombie holds no lock: it has ended, though its parent has not noticed", async () => {
  const parent = spawn("sh", ["-c", "sleep 0.1 & echo $!; exec sleep 60"]); // which never waits for the child of its shell
  onTestFinished(() => void parent.kill("SIGKILL"));
  const [printed] = (await once(parent.stdout, "data")) as [Buffer];
  const pid = Number(String(printed));
  const statOfChild = async () => (await readFile(`/proc/${pid}/stat`, "utf8")).split(") ")[1]?.split(" ") ?? [];
  await until(async () => (await statOfChild())[0] === "Z", "the child to end");
  const zombie: Holder = { pid, startedAt: (await statOfChild())[19] ?? "" };
  const path = join(await folderForTest(), "lock");
  await writeFile(path, JSON.stringify(zombie));
  expect(await lockFile(path)).toMatchObject({ abandonedBy: zombie });
});

test("processes never hold one lock at the same time, even when some are killed", async () => {
  const path = join(await folderForTest(), "lock");
  const marks = join(path, "..", "marks");
  await mkdir(marks);
  const source = new URL("../../../src/database/embedded/fileLock.ts", import.meta.url).href;
  // Each takes the lock, makes sure that it is alone by a folder that only one can make, and dies or releases.
  const script = `
    import { lockFile } from ${JSON.stringify(source)};
    import { mkdirSync, rmdirSync } from "node:fs";
    for (let done = 0; done < 10; ) {
      const lock = await lockFile(process.argv[1]);
      if (!("release" in lock)) { await new Promise((r) => setImmediate(r)); continue; }
      mkdirSync(process.argv[2]); rmdirSync(process.argv[2]);
      if (++done === 10 && process.argv[3] === "dies") process.kill(process.pid, "SIGKILL");
      await lock.release();
    }`;
  const ends = ["dies", "ends", "dies"].map(
    (how) =>
      new Promise<string>((resolve) => {
        const child = spawn(process.execPath, [
          "--import",
          "tsx",
          "--input-type=module",
          "-e",
          script,
          path,
          join(marks, "alone"),
          how,
        ]);
        child.once("exit", (code, signal) => resolve(signal ?? String(code)));
      }),
  );
  expect((await Promise.all(ends)).toSorted()).toEqual(["0", "SIGKILL", "SIGKILL"]);
  expect(await lockFile(path)).toHaveProperty("release");
});
