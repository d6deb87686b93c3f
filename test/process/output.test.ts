// @tier all
import { mkdtemp, readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { recordEvents } from "../../src/events/record/events.record.js";
import { issueToken, listTokens } from "../../src/stores/token.js";
import { asInputs, newShow, someEvents } from "../support/figures.js";
import { openSharedPlace } from "../support/process/cli.js";
import { programInShell, shellOf } from "../support/process/shell.js";

// What becomes of a command's standard output, which a process of its own has.

const { place, database } = await openSharedPlace();
const shell = (lines: string) => shellOf(lines, place.env);

async function recordedShow() {
  const { client } = database;
  const { storeId, lsId } = await newShow(client);
  await recordEvents(client, storeId, lsId, asInputs(someEvents(1_200))); // more than a pipe holds
  await issueToken(client, storeId, { label: "shop" });
  return { storeId, lsId, tokens: () => listTokens(client, storeId) };
}

const done = { status: 0, stdout: "", stderr: "" };
const full = { status: 1, stdout: "", stderr: "vitrine: ENOSPC: no space left on device, write\n" };

test("a command ends without an error when its reader closes the pipe, and fails where there is no room", async () => {
  const { storeId, lsId } = await recordedShow();
  expect(await shell(`vitrine token list ${storeId} | true`)).toEqual(done);
  const first = await shell(`vitrine events export ${storeId} ${lsId} | head -n 1`);
  expect({ ...first, stdout: "" }).toEqual(done);
  expect(JSON.parse(first.stdout)).toHaveProperty("id");
  expect(await shell(`vitrine token list ${storeId} >/dev/full`)).toEqual(full);
  expect(await shell(`vitrine events export ${storeId} ${lsId} >/dev/full`)).toEqual(full);
});

test("a token whose secret nobody would see is not created, and one whose secret cannot be written is revoked", async () => {
  const { storeId, tokens } = await recordedShow();
  const before = await tokens();
  const discarded =
    "vitrine: Standard output is closed or /dev/null, and the secret is shown only once: nothing was changed.\n";
  for (const command of [`issue ${storeId} >&-`, `rotate ${storeId} ${before[0]?.id} >/dev/null`]) {
    expect(await shell(`vitrine token ${command}`)).toEqual({ status: 1, stdout: "", stderr: discarded });
  }
  expect(await tokens()).toEqual(before);
  expect(await shell(`vitrine token issue ${storeId} >/dev/full`)).toEqual({
    status: 1,
    stdout: "",
    stderr:
      "vitrine: The secret could not be written (ENOSPC: no space left on device, write); the change was undone.\n",
  });
  expect((await tokens()).map(({ revokedAt }) => revokedAt === null)).toEqual([true, false]);
});

test("an export that is interrupted leaves no file", async () => {
  const { storeId, lsId } = await recordedShow();
  const target = await mkdtemp(join(place.dataDir, "interrupted"));
  // The draft beside its target is there before the database is asked.
  const { status } = await shell(`
    ${programInShell} events export ${storeId} ${lsId} ${target}/events.ndjson &
    until [ -n "$(ls ${target})" ]; do kill -0 $! || exit 99; sleep 0.01; done
    kill -TERM $!; wait $!`);
  expect({ status, files: await readdir(target) }).toEqual({ status: 143, files: [] });
});
