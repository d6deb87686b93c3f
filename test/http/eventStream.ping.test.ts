import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { multipart, serverSentEvents } from "../../src/graphql/streamFormat.js";
import { sendEvents } from "../../src/http/sendEvents.js";
import { LatestValue } from "../../src/analytics/feed/latestValue.js";

test.each([
  ["server-sent events", serverSentEvents],
  ["the multipart protocol", multipart],
])("a silent stream of %s sends a heartbeat every 12 seconds, so that no proxy cuts it off", async (__, format) => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const events = new LatestValue<never>(() => undefined);
  const server = createServer(
    (_, response) =>
      void sendEvents(response, { status: 200, headers: {}, format, events }, new AbortController().signal),
  );
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { body } = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  expect(await reader?.read(), "the beginning").toEqual({ done: false, value: format.opening.toString() });
  for (let times = 0; times < 2; times += 1) {
    vi.advanceTimersByTime(12_000);
    expect(await reader?.read()).toEqual({ done: false, value: format.heartbeat.toString() });
  }
  await reader?.cancel();
});
