import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { socketName } from "../../src/database/embedded/engine.js";
import { cliJson } from "../support/process/cli.js";
import { makeSharedPlace, removePlace } from "../support/process.js";
import { givenDatabase } from "../support/database/database.js";

/** Longer than a request of the server waits for a connection. */
const busyMs = 6_000;

test("a command waits for its turn at the engine of a busy server", async () => {
  const folder = await mkdtemp(join(tmpdir(), "vt-busy-"));
  const sockets: Socket[] = [];
  const engine = join(givenDatabase().connection.host ?? "", socketName);
  const server = createServer((client) => {
    void (async () => {
      await sleep(busyMs);
      const session = connect(engine);
      sockets.push(client, session);
      client.pipe(session).pipe(client);
    })();
  });
  await once(server.listen(join(folder, socketName)), "listening");
  const place = await makeSharedPlace(folder);
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await rm(folder, { recursive: true, force: true });
    await removePlace(place);
  });
  expect(await cliJson(["store", "list"], place.env)).toHaveProperty("stores");
});
