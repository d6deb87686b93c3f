import { packageVersion } from "../../lib/packageFiles.js";
import type { RestRoute } from "../routes/route.js";

const description = `A store's product catalog and the analytics of its live shopping shows.

- Every call needs an access token in the header \`X-Service-Access-Token\`.
- Errors are problem details (RFC 9457). Programs should look at \`code\`, and at \`errors\` for every problem and its place.
- HEAD is supported wherever GET is. Methods that a path does not support return 405 with the header \`Allow\`.
- Responses to GET have an \`ETag\`. With its value as \`If-None-Match\`, the response is 304 without a body while nothing has changed. A 304 counts as a call.
- Large responses are compressed with brotli or gzip for callers that accept it. Request bodies may be compressed, with \`Content-Encoding\` gzip, deflate or br.
- A call that is refused changes nothing.
- An import with an \`Idempotency-Key\` may be sent again and is carried out once. Other calls refuse the header.`;

const tagDescriptions: Readonly<Record<RestRoute["tag"], string>> = {
  Products: "Import, retrieve and delete the products of the store's catalog.",
  "Live streams": "List and save the store's live shopping shows, and record what their shoppers do.",
  Orders: "Record the shop's orders, and see for which shows they count and why.",
  Store: "Read what the access token is of.",
  Analytics: "Read how the store's live shopping shows perform.",
};

export function describeInfo(): object {
  return {
    title: "Vitrine: product catalog and live shopping analytics",
    version: packageVersion(),
    description,
    license: { name: "MIT", identifier: "MIT" },
  };
}

/** The tags in use, in the order of the routes. */
export function describeTags(routes: readonly RestRoute[]): object[] {
  return [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name, description: tagDescriptions[name] }));
}
