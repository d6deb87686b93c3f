// @tier all
import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { cliJson } from "../../support/process/cli.js";
import { makeSharedPlace, type Place, removePlace } from "../../support/process.js";
import { shellOf } from "../../support/process/shell.js";

let env: Place["env"];
const shell = (line: string) => shellOf(line, env);
beforeAll(async () => {
  const place = await makeSharedPlace();
  ({ env } = place);
  return () => removePlace(place);
});

async function newStore() {
  const store = `store-${randomUUID()}`;
  await cliJson(["store", "create", store], env);
  const { id } = await cliJson(["token", "issue", store, "--label", "shop"], env);
  const tokens = async () => (await cliJson(["token", "list", store], env)).tokens;
  return { store, id, tokens };
}

test("a command ends without an error when its reader closes the pipe", async () => {
  const { store } = await newStore();
  expect(await shell(`vitrine token list ${store} | true`)).toEqual({ status: 0, stdout: "", stderr: "" });
  expect(await shell("vitrine --help | true")).toEqual({ status: 0, stdout: "", stderr: "" });
});

test("output that cannot be written fails the command", async () => {
  const { store } = await newStore();
  const { status, stderr } = await shell(`vitrine token list ${store} >/dev/full`);
  expect({ status, stderr }).toEqual({ status: 1, stderr: "vitrine: ENOSPC: no space left on device, write\n" });
});

test.each([
  ["nobody reads it", "| true", "write EPIPE"],
  ["there is no room for it", ">/dev/full", "ENOSPC: no space left on device, write"],
])("a token whose secret cannot be written is revoked: %s", async (_, to, reason) => {
  const { store, tokens } = await newStore();
  const { status, stderr } = await shell(`vitrine token issue ${store} ${to}`);
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: `vitrine: The secret could not be written (${reason}); the change was undone.\n`,
  });
  expect((await tokens()).map(({ revokedAt }: any) => typeof revokedAt)).toEqual(["object", "string"]);
});

test("a rotation whose secret cannot be written is undone: only the old token works", async () => {
  const { store, id, tokens } = await newStore();
  const [before] = await tokens();
  const { status, stderr } = await shell(`vitrine token rotate ${store} ${id} >/dev/full`);
  expect({ status, stderr: stderr.includes("undone") }).toEqual({ status: 1, stderr: true });
  expect(await tokens()).toEqual([before, expect.objectContaining({ revokedAt: expect.any(String) })]);
});

test.each([">&-", ">/dev/null"])("no secret is created if its output would be discarded: %s", async (to) => {
  const { store, id, tokens } = await newStore();
  const before = await tokens();
  for (const command of [`issue ${store}`, `rotate ${store} ${id}`]) {
    expect(await shell(`vitrine token ${command} ${to}`)).toEqual({
      status: 1,
      stdout: "",
      stderr:
        "vitrine: Standard output is closed or /dev/null, and the secret is shown only once: nothing was changed.\n",
    });
  }
  expect(await tokens()).toEqual(before);
});
