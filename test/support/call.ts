import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";

export interface Answer {
  readonly status: number;
  readonly type: string | null;
  readonly body: any;
}

interface Call {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The server has gone, or has sent half an answer. */
export class NoAnswerError extends Error {
  override readonly name = "NoAnswerError";
}

const agent = new Agent({ keepAlive: true });

/**
 * A request and its answer in JSON, for a fifth of the CPU time of `fetch`, which also asks for compressed answers.
 *
 * @throws {NoAnswerError}
 */
export async function call(url: string, { method, headers, body }: Call): Promise<Answer> {
  const outgoing = request(url, { method, headers, agent });
  outgoing.on("error", () => undefined); // those after the answer has begun end the answer too
  const answered = once(outgoing, "response");
  outgoing.end(body);
  const received = async () => {
    const [incoming] = (await answered) as [IncomingMessage];
    return { incoming, content: await text(incoming) };
  };
  const { incoming, content } = await received().catch((cause: unknown) => {
    throw new NoAnswerError(`${method} ${url} was not answered.`, { cause });
  });
  return answerOf(incoming.statusCode ?? 0, incoming.headers["content-type"] ?? null, content);
}

export async function readAnswer(response: Response): Promise<Answer> {
  return answerOf(response.status, response.headers.get("content-type"), await response.text());
}

function answerOf(status: number, type: string | null, content: string): Answer {
  return { status, type, body: content === "" ? undefined : JSON.parse(content) };
}
