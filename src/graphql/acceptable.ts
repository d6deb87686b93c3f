import type { Plugin } from "graphql-yoga";
import { AppError } from "../errors.js";
import { presentError } from "../schema/errors.js";

/** What Yoga writes: JSON; server-sent events and parts for whoever wants them. */
const written = [
  ["application", "json"],
  ["application", "graphql-response+json"],
  ["text", "event-stream"],
  ["multipart", "mixed"],
] as const;

const json = "application/json";
/** Whose status tells whether an operation could be run. */
export const graphqlJson = "application/graphql-response+json";

/** The media type in which Yoga answers for a media range that stands first in Accept; undefined for other ranges. */
export function answerType(range: string): typeof json | typeof graphqlJson | undefined {
  const wanted = range.trim().toLowerCase();
  if (wanted === graphqlJson) return graphqlJson;
  return wanted === json || wanted === "*/*" ? json : undefined;
}

/** The media type of a refusal: that of the first range for which there is one. */
export function refusalType(accept = ""): string {
  const types = accept.split(",").map((range) => answerType(range.split(";", 1)[0] ?? ""));
  return types.find((type) => type !== undefined) ?? json;
}

/**
 * Refuses a caller who takes none of the types that GraphQL is answered in. Yoga would find out only once the operation
 * has run.
 *
 * @throws {AppError} NOT_ACCEPTABLE
 */
export function requireAcceptable(accept: string | undefined): void {
  if (!accept) return;
  const ranges = accept.replaceAll(/\s/gu, "").toLowerCase().split(",");
  if (!ranges.some(isWritten)) throw notAcceptable();
}

/** Whether Yoga takes a media range of Accept for one of its types. */
function isWritten(range: string): boolean {
  const [mediaType = "", ...parameters] = range.split(";");
  const charset = parameters.find((parameter) => parameter.includes("charset=")) ?? "charset=utf-8";
  const [type, subtype] = mediaType.split("/");
  const matches = ([ofType, ofSubtype]: readonly [string, string]) =>
    (type === "*" || type === ofType) && (subtype === "*" || subtype === ofSubtype);
  return charset === "charset=utf-8" && written.some(matches);
}

/** Yoga's own 406, where a subscription is wanted in a type for single answers, has no body. */
export const explainNotAcceptable: Plugin = {
  onResponse(answer) {
    if (answer.response.status !== 406) return;
    const { message, extensions } = presentError(notAcceptable(), { requestId: "", reportError: () => undefined });
    const headers = { "content-type": `${json}; charset=utf-8` };
    const body = JSON.stringify({ errors: [{ message, extensions }] });
    answer.setResponse(new answer.fetchAPI.Response(body, { status: 406, headers }));
  },
};

function notAcceptable(): AppError {
  return new AppError(
    "NOT_ACCEPTABLE",
    "Operations are answered as application/json or application/graphql-response+json, subscriptions as text/event-stream.",
  );
}
