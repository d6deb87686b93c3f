import { expect } from "vitest";
import type { TestApp, TestStore } from "../app.js";

/** What a subscription gives to a client of the graphql-sse protocol (distinct connections mode): each `next` event. */
export async function* subscribe(
  { url }: Pick<TestApp, "url">,
  { token }: Pick<TestStore, "token">,
  operation:
    | { readonly query: string; readonly variables: object }
    | { readonly documentId: string; readonly variables: object },
  signal: AbortSignal,
) {
  const response = await fetch(`${url}/graphql`, {
    method: "POST",
    signal,
    headers: { "X-Service-Access-Token": token, "content-type": "application/json", accept: "text/event-stream" },
    body: JSON.stringify(operation),
  });
  expect(response.headers.get("content-type")).toContain("text/event-stream");
  let text = "";
  for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += part;
    const events = text.split("\n\n");
    text = events.pop() ?? "";
    for (const event of events) {
      const data = /^event: next\ndata: (.*)$/mu.exec(event)?.[1];
      if (data !== undefined) yield JSON.parse(data);
    }
  }
}
