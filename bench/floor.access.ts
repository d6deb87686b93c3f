import { createHash } from "node:crypto";
import type { FastifyInstance } from "fastify";
import { LRUCache } from "lru-cache";
import type { Pool } from "pg";
import { Problem } from "./floor.problems.js";

declare module "fastify" {
  interface FastifyRequest {
    /** Whose token was sent. */
    storeId: string;
  }
}

const findStore = {
  name: "findStore",
  text: `SELECT "storeId" FROM "AccessToken"
    WHERE hash = $1 AND ("expiresAt" IS NULL OR "expiresAt" > now()) AND ("revokedAt" IS NULL OR "revokedAt" > now())`,
};

/** Lets only calls with a valid token through. Stores are remembered for three seconds. */
export function requireToken(app: FastifyInstance, pool: Pool): void {
  const stores = new LRUCache<string, Promise<string | undefined>>({ max: 10_000, ttl: 3_000 });
  const find = async (hash: string) => {
    const { rows } = await pool.query<{ storeId: string }>({ ...findStore, values: [hash] });
    return rows[0]?.storeId;
  };
  app.decorateRequest("storeId", "");
  app.addHook("onRequest", async (request) => {
    const token = request.headers["x-service-access-token"];
    if (typeof token !== "string") throw new Problem(401, "UNAUTHENTICATED", "The access token is missing.");
    const hash = createHash("sha256").update(token).digest("hex");
    let store = stores.get(hash);
    if (store === undefined) {
      store = find(hash);
      stores.set(hash, store);
      store.catch(() => stores.delete(hash));
    }
    const storeId = await store;
    if (storeId === undefined) throw new Problem(401, "UNAUTHENTICATED", "The access token is not valid.");
    request.storeId = storeId;
  });
}
