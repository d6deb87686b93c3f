import { request } from "node:http";
import type { IncomingHttpHeaders } from "node:http";
import { text } from "node:stream/consumers";

interface Exchange {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** What is sent of the body. */
  readonly body?: readonly (string | Buffer)[];
  /** Never to end the body: the server must answer without it. */
  readonly unfinished?: boolean;
}

/** One HTTP exchange byte by byte, where fetch would tidy up what is sent. The path goes out as it is. */
export async function exchange(
  url: string,
  path: string,
  { method = "GET", headers = {}, body = [], unfinished = false }: Exchange = {},
) {
  const outgoing = request(url, { path, method, headers, agent: false });
  const answered = new Promise<{ status: number; headers: IncomingHttpHeaders; body: any }>((resolve, reject) => {
    outgoing.once("error", reject);
    outgoing.once("response", (incoming) => {
      const { statusCode: status = 0, headers: received } = incoming;
      text(incoming).then(
        (content) => resolve({ status, headers: received, body: content === "" ? undefined : JSON.parse(content) }),
        reject,
      );
    });
  });
  if (unfinished) outgoing.flushHeaders();
  for (const part of body) outgoing.write(part);
  if (!unfinished) outgoing.end();
  try {
    return await answered;
  } finally {
    outgoing.destroy();
  }
}
