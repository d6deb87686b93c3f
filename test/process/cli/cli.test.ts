// @tier all
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, inject, test } from "vitest";
import { createProgram } from "../../../src/cli/program.js";
import { parseDuration, parseFuture } from "../../../src/cli/terminal/duration.js";
import { exitStatus } from "../../../src/cli/terminal/failure.js";
import { cli, cliJson } from "../../support/process/cli.js";
import { endOf, makeSharedPlace, type Place, removePlace, start, vitrine, vitrineJson } from "../../support/process.js";

let env: Place["env"];
beforeAll(async () => {
  const place = await makeSharedPlace();
  ({ env } = place);
  return () => removePlace(place);
});

const newStore = () => `store-${randomUUID()}`;

/** What a command that must fail says; nothing may be printed on standard output. */
async function failure(args: string[], variables: Place["env"] = env, expected = 1): Promise<string> {
  const { status, stdout, stderr } = await cli(args, variables);
  expect({ status, stdout }, args.join(" ")).toEqual({ status: expected, stdout: "" });
  return stderr;
}

const uuid = expect.stringMatching(/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/u);
const secret = expect.stringMatching(/^vt_[\w-]{43}$/u);
const moment = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/u);

const everything = ["catalog:read", "catalog:write", "shows:write", "events:write", "analytics:read"];

test("a store, a site and tokens are created, listed, rotated and revoked, each printed as one JSON object", async () => {
  const store = newStore();
  const named = ["store", "create", store, "--name", "Acme Fashion"];
  expect(await vitrineJson(named, env)).toEqual({ store, name: "Acme Fashion" });
  expect(await cliJson(["site", "add", store, "de", "--type", "SHOP"], env)).toEqual({
    store,
    site: "de",
    type: "SHOP",
  });
  const issued = await cliJson(["token", "issue", store], env);
  expect(issued).toEqual({ id: uuid, token: secret, store, scopes: everything, expiresAt: null });
  const rotated = await cliJson(["token", "rotate", store, issued.id, "--grace", "1h"], env);
  expect(rotated).toEqual({ id: uuid, token: secret, store, scopes: everything, expiresAt: null });
  expect(rotated.token).not.toBe(issued.token);
  expect(await cliJson(["token", "revoke", store, rotated.id], env)).toEqual({
    id: rotated.id,
    store,
    revokedAt: moment,
    replacedBy: null,
    alsoRevoked: [],
  });
  const listed = { label: null, scopes: everything, createdAt: moment };
  expect(await cliJson(["token", "list", store], env)).toEqual({
    store,
    tokens: [
      { ...listed, id: issued.id, expiresAt: moment, revokedAt: null, replacedBy: rotated.id },
      { ...listed, id: rotated.id, expiresAt: null, revokedAt: moment, replacedBy: null },
    ],
  });
});

test("a token may be issued with scopes, which its successor keeps", async () => {
  const store = newStore();
  await cliJson(["store", "create", store], env);
  const issue = ["token", "issue", store, "--scope", "analytics:read", "--scope", "catalog:read"];
  const issued = await cliJson(issue, env);
  expect(issued.scopes).toEqual(["catalog:read", "analytics:read"]);
  expect((await cliJson(["token", "rotate", store, issued.id], env)).scopes).toEqual(issued.scopes);
  expect((await cli(["token", "list", store], env)).stdout).toContain(
    "(no label)  catalog:read analytics:read  issued",
  );
  expect(await failure(["token", "issue", store, "--scope", "everything"], env, 2)).toContain(
    "It must be one of catalog:read, catalog:write, shows:write, events:write, analytics:read.",
  );
});

test("public keys are issued for origins, listed and revoked", async () => {
  const store = newStore();
  await cliJson(["store", "create", store], env);
  const origins = ["https://shop.example", "https://*.shop.example"];
  const issue = ["key", "issue", store, ...origins.flatMap((origin) => ["--origin", origin]), "--label", "shop"];
  const issued = await vitrineJson(issue, env);
  const key = expect.stringMatching(/^vp_[\w-]{22}$/u);
  expect(issued).toEqual({ id: uuid, key, store, origins });
  const listed = { id: issued.id, key, label: "shop", origins, createdAt: moment };
  expect(await cliJson(["key", "list", store], env)).toEqual({ store, keys: [{ ...listed, revokedAt: null }] });
  expect(await cliJson(["key", "revoke", store, issued.id], env)).toEqual({ id: issued.id, store, revokedAt: moment });
  expect(await cliJson(["key", "list", store], env)).toEqual({ store, keys: [{ ...listed, revokedAt: moment }] });
  expect((await cli(["key", "list", store], env)).stdout).toMatch(
    /^\S{36} {2}vp_\S{22} {2}shop {2}https:\/\/shop\.example https:\/\/\*\.shop\.example {2}issued \S+ {2}revoked \S+\n$/u,
  );
  expect((await cli(["key", "issue", store, "--origin", "https://shop.example"], env)).stdout).toMatch(
    /^vp_[\w-]{22}\n\(key [\da-f-]{36}, for pages of https:\/\/shop\.example\)\n$/u,
  );
  expect(await failure(["key", "revoke", store, "no-such-id"])).toBe(
    `vitrine: Store ${store} has no public key no-such-id.\n`,
  );
  expect(await failure(["key", "issue", store, "--origin", "shop.example"])).toBe(
    `vitrine: origin must be an origin such as https://shop.example, or https://*.shop.example for its subdomains, not "shop.example".\n`,
  );
});

test("without --json the result is text, and the secret is alone on the first line", async () => {
  const store = newStore();
  expect(await cli(["store", "create", store], env)).toEqual({
    status: 0,
    stdout: `Created store ${store}. Issue a token for it: npx vitrine token issue ${store}\n`,
    stderr: "",
  });
  const issue = ["token", "issue", store, "--label", "shop", "--expires", "2999-12-31T00:00:00Z"];
  expect((await cli(issue, env)).stdout).toMatch(
    /^vt_[\w-]{43}\n\(token [\da-f-]{36}, catalog:read catalog:write shows:write events:write analytics:read, expires 2999-12-31T00:00:00\.000Z; the secret is not stored and cannot be shown again\)\n$/u,
  );
  const listed = await cli(["token", "list", store], env);
  expect(listed.stdout).toMatch(
    /^[\da-f-]{36} {2}shop {2}catalog:read [\w: ]+ analytics:read {2}issued \S+ {2}expires 2999-12-31T00:00:00\.000Z\n$/u,
  );
});

test.each([
  ["a failure", ["token", "list", "nobody"], 1, "There is no store nobody.\n"],
  ["misuse", ["bogus"], 2, "unknown command 'bogus' (see --help)\n"],
])("the exit status reflects the outcome: %s", async (_, args, status, reason) => {
  expect(await vitrine(args, env)).toEqual({ status, stdout: "", stderr: `vitrine: ${reason}` });
});

test("migrating an up-to-date database does nothing", async () => {
  expect(await cliJson(["migrate"], env)).toEqual({ applied: [] });
  expect((await cli(["migrate"], env)).stdout).toBe("Nothing to apply.\n");
});

describe("a failed command prints the reason in one line, nothing else, and has an exit status for it", () => {
  test.each([
    [["token", "issue", "nobody", "--json"], "There is no store nobody."],
    [["token", "list", "nobody"], "There is no store nobody."],
    [["site", "add", "nobody", "de", "--type", "SHOP"], "There is no store nobody."],
    [["store", "create", "a b"], "A store id has 1 to 100 letters, digits, dots, dashes and underscores."],
  ])("%j", async (args, reason) => {
    expect(await failure(args)).toBe(`vitrine: ${reason}\n`);
  });

  test("existing ids, and tokens of other stores", async () => {
    const store = newStore();
    await cliJson(["store", "create", store], env);
    const [again, revoked, rotated] = await Promise.all([
      failure(["store", "create", store, "--json"]),
      failure(["token", "revoke", store, "no-such-id"]),
      failure(["token", "rotate", store, "no-such-id", "--json"]),
    ]);
    expect(again).toBe(`vitrine: Store ${store} already exists.\n`);
    expect(revoked).toBe(`vitrine: Store ${store} has no token no-such-id.\n`);
    expect(rotated).toBe(revoked);
  });

  test.each([
    [["bogus"], "unknown command 'bogus'"],
    [["store", "create"], "missing required argument 'store'"],
    [["store", "create", "acme", "extra"], "too many arguments for 'create'. Expected 1 argument but got 2."],
    [["store", "create", "acme", "--jsn"], "unknown option '--jsn' (Did you mean --json?)"],
    [["store", "create", "acme", "--name", ""], "option '--name <name>' argument '' is invalid. It must not be blank."],
    [["store", "create", " "], "command-argument value ' ' is invalid for argument 'store'. It must not be blank."],
    [
      ["token", "issue", "acme", "--label", " \t"],
      "option '--label <label>' argument ' ' is invalid. It must not be blank.",
    ],
    [["token", "list", ""], "command-argument value '' is invalid for argument 'store'. It must not be blank."],
    [["token", "revoke", "acme", ""], "command-argument value '' is invalid for argument 'id'. It must not be blank."],
    [
      ["site", "add", "acme", "", "--type", "T"],
      "command-argument value '' is invalid for argument 'site'. It must not be blank.",
    ],
    [
      ["site", "add", "acme", "de", "--type", ""],
      "option '--type <type>' argument '' is invalid. It must not be blank.",
    ],
    [
      ["analytics", "rebuild", "acme", ""],
      "command-argument value '' is invalid for argument 'lsid'. It must not be blank.",
    ],
    [["site", "add", "acme", "de"], "required option '--type <type>' not specified"],
    [
      ["token", "rotate", "acme", "id", "--grace", "5y"],
      "option '--grace <duration>' argument '5y' is invalid. Give a duration like 90s, 15m, 24h or 7d.",
    ],
    [
      ["token", "issue", "acme", "--expires", "2020-01-01T00:00:00Z"],
      "option '--expires <time>' argument '2020-01-01T00:00:00Z' is invalid. The time lies in the past.",
    ],
  ])("%j, before any folder is opened", async (args, reason) => {
    expect(await failure(args, { DATA_DIR: "/dev/null" }, 2)).toBe(`vitrine: ${reason} (see --help)\n`);
  });

  test("an invalid environment, with every problem", async () => {
    expect(await failure(["store", "create", "acme"], { ...env, PORT: "x", AUTO_MIGRATE: "maybe" }, 2)).toBe(
      "vitrine: The environment is not valid: PORT must be a whole number from 0 to 65535; AUTO_MIGRATE must be true or false.\n",
    );
  });

  test("a database that cannot be reached", async () => {
    const variables = { DATABASE_URL: "postgresql://nobody@127.0.0.1:1/none" };
    expect(await failure(["store", "create", "acme"], variables, 4)).toBe(
      "vitrine: Can't reach database server at 127.0.0.1:1\n",
    );
  });

  test("a data folder that cannot be created", async () => {
    expect(await failure(["migrate"], { DATA_DIR: "/dev/null/data" })).toBe(
      "vitrine: The data folder /dev/null/data cannot be used: it, or what it is in, is a file (ENOTDIR).\n",
    );
  });
});

describe("durations and times", () => {
  test("a duration is a whole number with a unit", () => {
    const given = ["0", "90s", "15m", "24h", "7d"];
    expect(given.map((text) => parseDuration(text))).toEqual([0, 90_000, 900_000, 86_400_000, 604_800_000]);
  });

  test.each(["", "5", "24", "-1h", "1.5h", "5y", "1h30m", " 1h", "1 h", "9999999d"])(
    "the duration %j is refused",
    (text) => {
      expect(() => parseDuration(text)).toThrow("Give a duration like 90s, 15m, 24h or 7d.");
    },
  );

  test("a time is ISO 8601, with or without a time of day", () => {
    expect(parseFuture("2999-01-31T12:00:00+02:00")).toEqual(new Date("2999-01-31T10:00:00Z"));
    expect(parseFuture("2999-01-31t12:00:00z")).toEqual(new Date("2999-01-31T12:00:00Z"));
    expect(parseFuture("2999-01-31")).toEqual(new Date("2999-01-31T00:00:00Z"));
  });

  test.each([
    "",
    "yesterday",
    "2999",
    "2999-13-01",
    "31.12.2999",
    "2999-01-31T25:00:00Z",
    "2999-02-30T00:00:00Z",
    "2999-01-31 (noon)",
  ])("the time %j is refused", (text) => {
    expect(() => parseFuture(text)).toThrow("Give an ISO 8601 time like 2030-01-31T00:00:00Z.");
  });

  test("a past time is refused", () => {
    expect(() => parseFuture("2020-01-01T00:00:00Z")).toThrow("The time lies in the past.");
  });
});

const groups = createProgram().commands.filter(({ commands }) => commands.length > 0);

test.each(groups.map((group) => group.name()))("the help of the group %s has examples", async (group) => {
  const { status, stdout } = await cli([group, "--help"], { DATA_DIR: "/dev/null" });
  expect(status).toBe(0);
  expect(stdout).toMatch(/\nExamples?:\n {2}npx vitrine /u);
  expect(stdout).toContain(`npx vitrine ${group} `);
});

test("the help names every exit status", async () => {
  const { stdout } = await cli(["--help"], { DATA_DIR: "/dev/null" });
  for (const status of Object.values(exitStatus))
    expect(stdout).toMatch(new RegExp(`Exit status:[^]*\\b${status} [a-z]`, "u"));
});

test.each([[["--help"]], [["token", "--help"]], [["token", "issue", "--help"]]])(
  "%j prints its usage on standard output",
  async (args) => {
    const { status, stdout, stderr } = await cli(args, { DATA_DIR: "/dev/null" });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toMatch(/^Usage: vitrine/u);
  },
);

test("the statements of a process are recorded, so that the run checks them for Citus", async () => {
  const listing = start(["store", "list"], env);
  expect((await endOf(listing)).status).toBe(0);
  const recorded = await readFile(join(inject("statementsFolder"), `${listing.process.pid}.ndjson`), "utf8");
  expect(recorded).toContain("/* all_stores */ SELECT");
});
