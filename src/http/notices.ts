import { rateLimitHeaders } from "../access/rateLimits/rateLimit.js";
import type { Notice } from "../schema/context.js";
import type { Exchange } from "./exchange.js";

/** Turns what resolvers report into headers. Those of a response that has begun are not sent. */
export function noticesOf({ response, observation, path }: Exchange): (notice: Notice) => void {
  return (notice) => {
    if (notice.kind === "replayed") observation.replayed();
    if (response.headersSent) return;
    for (const [name, value] of headersOf(notice, path)) response.setHeader(name, value);
  };
}

type Headers = readonly (readonly [name: string, value: string])[];

function headersOf(notice: Notice, path: string): Headers {
  switch (notice.kind) {
    case "deprecated": // RFC 9745
      return [
        ["deprecation", `@${notice.at.getTime() / 1_000}`],
        ["link", `<${docsUrl(path)}>; rel="deprecation"; type="text/html"`],
      ];
    case "replayed":
      return [["idempotency-replayed", "true"]];
    case "counted":
      return Object.entries(rateLimitHeaders(notice.reservations));
    default: // what was read of a file is a part of the body
      return [];
  }
}

/** Relative to the URL of the request, for any proxy. */
function docsUrl(path: string): string {
  return `${"../".repeat(path.split("/").length - 2)}docs`;
}
