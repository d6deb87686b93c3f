// The floor: what a good engineer would write by hand for the measured operations and nothing else, on the same database.
// It prints its address and serves until SIGTERM.
import Fastify from "fastify";
import pg from "pg";
import { requireToken } from "./floor.access.js";
import { addBulk } from "./floor.bulk.js";
import { addCsv } from "./floor.csv.js";
import { addEvents } from "./floor.events.js";
import { addGraphql } from "./floor.graphql.js";
import { addProblems } from "./floor.problems.js";
import { addRest } from "./floor.rest.js";

const pool = new pg.Pool({
  connectionString: process.env["DATABASE_URL"],
  max: Number(process.env["DATABASE_POOL_MAX"]),
});
const app = Fastify({
  bodyLimit: 64 * 1_024 * 1_024,
  routerOptions: { maxParamLength: 1_000 },
  ajv: { customOptions: { coerceTypes: false, removeAdditional: false } },
});
addProblems(app);
requireToken(app, pool);
addRest(app, pool);
addBulk(app, pool);
addCsv(app, pool);
addEvents(app, pool);
await addGraphql(app, pool);

process.once("SIGTERM", () => void app.close().then(() => pool.end()));
process.stdout.write(`Floor listens on ${await app.listen({ host: "127.0.0.1", port: 0 })}\n`);
