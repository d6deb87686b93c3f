import type { Plugin } from "graphql-yoga";
import { AppError } from "../errors.js";
import { presentError } from "../schema/errors.js";

const written = [
  ["application", "json"],
  ["application", "graphql-response+json"],
  ["text", "event-stream"],
  ["multipart", "mixed"],
] as const;

const json = "application/json";
/** Here the HTTP status says whether the operation was executed. */
export const graphqlJson = "application/graphql-response+json";

/** Yoga's media type for the first range of Accept; undefined for ranges it does not serve. */
export function responseType(range: string): typeof json | typeof graphqlJson | undefined {
  const wanted = range.trim().toLowerCase();
  if (wanted === graphqlJson) return graphqlJson;
  return wanted === json || wanted === "*/*" ? json : undefined;
}

export function refusalType(accept = ""): string {
  const types = accept.split(",").map((range) => responseType(range.split(";", 1)[0] ?? ""));
  return types.find((type) => type !== undefined) ?? json;
}

/** Yoga would refuse after execution. @throws {AppError} NOT_ACCEPTABLE */
export function requireAcceptable(accept: string | undefined): void {
  if (!accept) return;
  const ranges = accept.replaceAll(/\s/gu, "").toLowerCase().split(",");
  if (!ranges.some(isWritten)) throw notAcceptable();
}

function isWritten(range: string): boolean {
  const [mediaType = "", ...parameters] = range.split(";");
  const charset = parameters.find((parameter) => parameter.includes("charset=")) ?? "charset=utf-8";
  const [type, subtype] = mediaType.split("/");
  const matches = ([ofType, ofSubtype]: readonly [string, string]) =>
    (type === "*" || type === ofType) && (subtype === "*" || subtype === ofSubtype);
  return charset === "charset=utf-8" && written.some(matches);
}

/** Adds a body to Yoga's 406 for a subscription requested in a type for single answers. */
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
    "Operations are answered as application/json or application/graphql-response+json, subscriptions as text/event-stream or multipart/mixed;subscriptionSpec=1.0.",
  );
}
