import { issueKey } from "../../src/access/key.js";
import type { OpenDatabase } from "../../src/database/open.js";
import { createTestStore, storeAt } from "./app.js";
import { kindsOf } from "./breaks.kinds.js";
import type { Serving } from "./process.js";
import { addShows, saved } from "./shows.js";

/** A store with shows, and all kinds of requests for it. */
export async function storeWithKinds(server: Serving, { client }: OpenDatabase) {
  const { id, token } = await createTestStore({ url: server.url, db: client });
  const store = storeAt(server.url, { id, token });
  await addShows({ db: client }, store, { count: 600, name: "'a'", newest: new Date(), apartSeconds: 60 });
  const { id: lsId } = await saved(store, { status: "LIVE", durationSeconds: null });
  const { key } = await issueKey(client, id, { origins: ["https://shop.example"] });
  return { store, kinds: kindsOf({ token, lsId, key }) };
}
