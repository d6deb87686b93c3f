import { createConnection, type Socket } from "node:net";
import { afterAll, afterEach } from "vitest";
import { createTestStore, startApp, type TestApp, type TestStore } from "../app.js";

/** What a client saw of a connection: bytes as they came. */
export interface Conversation {
  readonly socket: Socket;
  /** What has come so far. */
  received(): string;
  /** Resolves when the connection is closed, by whichever side. */
  closed(): Promise<void>;
}

/** Opens a connection and sends bytes on it as they are, where an HTTP client would tidy them up. */
export function converse(url: string, sent: string | Buffer = ""): Conversation {
  const { hostname, port } = new URL(url);
  let received = "";
  const socket = createConnection({ host: hostname, port: Number(port) });
  socket.on("data", (chunk: Buffer) => {
    received += chunk.toString("latin1");
  });
  socket.on("error", () => undefined); // a reset is a way to close
  const closed = new Promise<void>((resolve) => {
    socket.once("close", () => resolve());
  });
  socket.write(sent, "latin1");
  return { socket, received: () => received, closed: () => closed };
}

/** Everything that the server sends until it closes. */
export async function answerTo(url: string, sent: string | Buffer): Promise<string> {
  const conversation = converse(url, sent);
  await conversation.closed();
  return conversation.received();
}

/** The only answer in what was received, whole. */
export function onlyAnswer(received: string) {
  const [head = "", ...rest] = received.split("\r\n\r\n");
  const body = rest.join("\r\n\r\n");
  const [statusLine = "", ...lines] = head.split("\r\n");
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const status = /^HTTP\/1\.1 (\d{3}) \S/u.exec(statusLine)?.[1];
  if (status === undefined || Number(headers["content-length"] ?? 0) !== body.length) {
    throw new Error(`Not one whole answer: ${JSON.stringify(received)}`);
  }
  return { status: Number(status), headers, body: body === "" ? undefined : JSON.parse(body) };
}

interface RawApp {
  readonly app: TestApp;
  readonly store: TestStore;
  /** A request of these lines. The server is asked to close, so that the answer has an end. */
  readonly request: (...lines: readonly string[]) => string;
  /** The only answer to it. */
  readonly ask: (...lines: readonly string[]) => Promise<ReturnType<typeof onlyAnswer>>;
}

/** The service until the last test of the file. It may log nothing: anybody can send anything. */
export async function openRawApp(): Promise<RawApp> {
  const app = await startApp({ logLevel: "debug" });
  afterAll(() => app.close());
  afterEach(() => {
    if (app.logged.length > 0) throw new Error(`Anybody can send anything, but it was logged: ${app.logged.join("")}`);
  });
  const request = (...lines: readonly string[]) => `${[...lines, "Connection: close"].join("\r\n")}\r\n\r\n`;
  const ask = async (...lines: readonly string[]) => onlyAnswer(await answerTo(app.url, request(...lines)));
  return { app, store: await createTestStore(app), request, ask };
}
