import { describe, expect, test } from "vitest";
import { cli, openCommands } from "../../support/process/cli.js";

const { env, run, json, refusal, newStore } = await openCommands();

const uuid = expect.stringMatching(/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/u);
const secret = expect.stringMatching(/^vt_[\w-]{43}$/u);
const moment = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/u);
const everything = ["catalog:read", "catalog:write", "shows:write", "events:write", "analytics:read"];

describe("tokens", () => {
  test("are issued, rotated, revoked and listed, each printed as one JSON object", async () => {
    const store = await newStore();
    const issued = await json("token", "issue", store);
    expect(issued).toEqual({ id: uuid, token: secret, store, scopes: everything, expiresAt: null });
    const rotated = await json("token", "rotate", store, issued.id, "--grace", "1h");
    expect(rotated).toEqual({ id: uuid, token: secret, store, scopes: everything, expiresAt: null });
    expect(rotated.token).not.toBe(issued.token);
    const revoked = { id: rotated.id, store, revokedAt: moment, replacedBy: null, alsoRevoked: [] };
    expect(await json("token", "revoke", store, rotated.id)).toEqual(revoked);
    const listed = { label: null, scopes: everything, createdAt: moment };
    expect(await json("token", "list", store)).toEqual({
      store,
      tokens: [
        { ...listed, id: issued.id, expiresAt: moment, revokedAt: null, replacedBy: rotated.id },
        { ...listed, id: rotated.id, expiresAt: null, revokedAt: moment, replacedBy: null },
      ],
    });
    for (const action of ["revoke", "rotate"]) {
      const reason = `Store ${store} has no token no-such-id.`;
      expect(await refusal("token", action, store, "no-such-id")).toEqual([1, reason]);
    }
  });

  test("may have scopes, which their successors keep", async () => {
    const store = await newStore();
    const { id, scopes } = await json("token", "issue", store, "--scope", "analytics:read", "--scope", "catalog:read");
    expect(scopes).toEqual(["catalog:read", "analytics:read"]);
    expect((await json("token", "rotate", store, id)).scopes).toEqual(scopes);
    expect((await run("token", "list", store)).stdout).toContain("(no label)  catalog:read analytics:read  issued");
    expect(await refusal("token", "issue", store, "--scope", "everything")).toEqual([
      2,
      expect.stringContaining(`It must be one of ${everything.join(", ")}.`),
    ]);
  });

  test("have their secret alone on the first line", async () => {
    const store = await newStore();
    const issue = ["token", "issue", store, "--label", "shop", "--expires", "2999-12-31T00:00:00Z"];
    expect((await run(...issue)).stdout).toMatch(
      /^vt_[\w-]{43}\n\(token [\da-f-]{36}, catalog:read catalog:write shows:write events:write analytics:read, expires 2999-12-31T00:00:00\.000Z; the secret is not stored and cannot be shown again\)\n$/u,
    );
    expect((await run("token", "list", store)).stdout).toMatch(
      /^[\da-f-]{36} {2}shop {2}catalog:read [\w: ]+ analytics:read {2}issued \S+ {2}expires 2999-12-31T00:00:00\.000Z\n$/u,
    );
  });

  test.each([
    ["nobody reads it", "EPIPE", "write EPIPE"],
    ["there is no room for it", "ENOSPC", "ENOSPC: no space left on device, write"],
  ])("whose secret cannot be written are revoked, and rotations are undone: %s", async (_, code, message) => {
    const store = await newStore();
    const { id } = await json("token", "issue", store);
    const tokens = async (): Promise<any[]> => (await json("token", "list", store)).tokens;
    const [before] = await tokens();
    const outputError = Object.assign(new Error(message), { code });
    for (const args of [
      ["issue", store],
      ["rotate", store, id],
    ]) {
      expect(await cli(["token", ...args], env, { outputError })).toEqual({
        status: 1,
        stdout: "",
        stderr: `vitrine: The secret could not be written (${message}); the change was undone.\n`,
      });
    }
    const [first, ...others] = await tokens();
    expect([first, others.length]).toEqual([before, 2]);
    for (const { revokedAt } of others) expect(revokedAt).toEqual(moment);
  });
});

test("public keys are issued for origins, listed and revoked", async () => {
  const store = await newStore();
  const origins = ["https://shop.example", "https://*.shop.example"];
  const issue = ["key", "issue", store, ...origins.flatMap((origin) => ["--origin", origin]), "--label", "shop"];
  const issued = await json(...issue);
  const key = expect.stringMatching(/^vp_[\w-]{22}$/u);
  expect(issued).toEqual({ id: uuid, key, store, origins });
  const listed = { id: issued.id, key, label: "shop", origins, createdAt: moment };
  expect(await json("key", "list", store)).toEqual({ store, keys: [{ ...listed, revokedAt: null }] });
  expect(await json("key", "revoke", store, issued.id)).toEqual({ id: issued.id, store, revokedAt: moment });
  expect(await json("key", "list", store)).toEqual({ store, keys: [{ ...listed, revokedAt: moment }] });
  expect((await run("key", "list", store)).stdout).toMatch(
    /^\S{36} {2}vp_\S{22} {2}shop {2}https:\/\/shop\.example https:\/\/\*\.shop\.example {2}issued \S+ {2}revoked \S+\n$/u,
  );
  expect((await run("key", "issue", store, "--origin", "https://shop.example")).stdout).toMatch(
    /^vp_[\w-]{22}\n\(key [\da-f-]{36}, for pages of https:\/\/shop\.example\)\n$/u,
  );
  expect(await refusal("key", "revoke", store, "no-such-id")).toEqual([
    1,
    `Store ${store} has no public key no-such-id.`,
  ]);
  expect(await refusal("key", "issue", store, "--origin", "shop.example")).toEqual([
    1,
    `origin must be an origin such as https://shop.example, or https://*.shop.example for its subdomains, not "shop.example".`,
  ]);
});
