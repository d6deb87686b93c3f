import type { TestContext } from "vitest";
import { issueKey } from "../../../src/stores/publicKey.js";
import { findHolder } from "../../../src/database/embedded/folder.js";
import { connect, embeddedConnection, type OpenDatabase } from "../../../src/database/open.js";
import { createTestStore, storeAt } from "../app.js";
import { kindsOf } from "./breaks.kinds.js";
import { createMigratedDatabase } from "../database/ownDatabase.js";
import { makePlaceWithStore, type Place, removePlace, serve, type Serving } from "../process.js";
import { addShows, saved } from "../shows.js";

/** A server, with a connection of its own to its database. */
export interface Served {
  readonly server: Serving;
  readonly place: Place;
  readonly database: OpenDatabase;
}

type Variables = Readonly<Record<string, string>>;
type OfTest = Pick<TestContext, "onTestFinished">;

/** Unlimited reads and events: all requests are answered. */
const unlimited = { ANALYTICS_RATE_LIMIT: "0", COLLECT_RATE_LIMIT: "0" };

export async function serveOnEmbedded({ onTestFinished }: OfTest, env: Variables = {}): Promise<Served> {
  const place = await makePlaceWithStore();
  onTestFinished(() => removePlace(place));
  const server = await serve({ ...place.env, ...unlimited, ...env });
  const socketFolder = (await findHolder(place.dataDir))?.socketFolder ?? "";
  return { server, place, database: connect(embeddedConnection(socketFolder), () => undefined) };
}

/** @param name of the database */
export async function serveOnPostgresql(
  name: string,
  { onTestFinished }: OfTest,
  env: Variables = {},
): Promise<Served> {
  const [own, place] = await Promise.all([createMigratedDatabase(name), makePlaceWithStore()]);
  onTestFinished(() => Promise.all([own.drop(), removePlace(place)]).then(() => undefined));
  const server = await serve({ TMPDIR: place.temporary, DATABASE_URL: own.url, ...unlimited, ...env });
  return { server, place, database: own.open() };
}

/** A store with shows, and all kinds of requests for it. */
export async function storeWithKinds(server: Serving, { client }: OpenDatabase) {
  const { id, token } = await createTestStore({ url: server.url, db: client });
  const store = storeAt(server.url, { id, token });
  await addShows({ db: client }, store, { count: 600, name: "'a'", newest: new Date(), apartSeconds: 60 });
  const { id: lsId } = await saved(store, { status: "LIVE", durationSeconds: null });
  const { key } = await issueKey(client, id, { origins: ["https://shop.example"] });
  return { store, kinds: kindsOf({ token, lsId, key }) };
}
