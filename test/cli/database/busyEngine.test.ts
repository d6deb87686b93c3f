import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { socketName } from "../../../src/database/embedded/embeddedEngine.js";
import { connectTimeoutMs } from "../../../src/database/pool.js";
import { givenDatabase } from "../../support/database/database.js";
import { cliJson } from "../../support/process/cli.js";
import { makeSharedPlace, removePlace } from "../../support/process.js";

test("a command waits for its turn at the engine of a busy server, for longer than a request of the server does", async () => {
  const folder = await mkdtemp(join(tmpdir(), "vt-busy-"));
  const engine = join(givenDatabase().connection.host ?? "", socketName);
  const server = createServer();
  await once(server.listen(join(folder, socketName)), "listening");
  const place = await makeSharedPlace(folder);
  const sockets: Socket[] = [];
  const timers = vi.spyOn(globalThis, "setTimeout");
  onTestFinished(async () => {
    timers.mockRestore();
    for (const socket of sockets) socket.destroy();
    server.close();
    await rm(folder, { recursive: true, force: true });
    await removePlace(place);
  });
  const accepted = once(server, "connection");
  const listing = cliJson(["store", "list"], place.env);
  const [client] = (await accepted) as [Socket];
  const limits = timers.mock.calls.map(([, ms]) => ms ?? 0);
  expect(limits).toContain(30_000); // after which it gives up
  expect(limits).not.toContain(connectTimeoutMs);
  const session = connect(engine);
  sockets.push(client, session);
  client.pipe(session).pipe(client);
  expect(await listing).toHaveProperty("stores");
});
