// @tier all
import { expect, test } from "vitest";
import { openTestApp, testDatabase } from "../support/app.js";
import { largeFile } from "../support/http/largeFile.js";
import { converse } from "../support/http/socket.js";
import { until } from "../support/until.js";

/** Longer than this process is ever stopped for. */
const timeouts = { requestTimeoutMs: 30_000, keepAliveTimeoutMs: 30_000, stalledTimeoutMs: 2_000, checkIntervalMs: 20 };

test("a client that reads slowly gets the whole response, however long it takes", async () => {
  const app = await openTestApp({}, testDatabase(), timeouts);
  const { request, length } = await largeFile(app);
  const conversation = converse(app.url, request.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"));
  const { socket } = conversation;
  // More gulps than `until` looks in twice the time: one is taken each time that it does.
  const gulps = 250;
  let taken = 0;
  socket.on("data", (bytes) => {
    taken += Buffer.byteLength(bytes);
    socket.pause();
  });
  let looked = 0;
  await until(() => {
    looked += 1;
    if (taken < (looked * length) / gulps) socket.resume();
    return socket.closed;
  }, "the end of the response");
  expect(looked).toBeGreaterThanOrEqual(gulps - 1);
  expect(conversation.received().slice(conversation.received().indexOf("\r\n\r\n") + 4)).toHaveLength(length);
});
