import type { JsonSchema } from "./types.js";

const text: JsonSchema = { type: "string" };
const exampleTag = 'W/"9hXNCUbsKkNZRdrGHy9X2g"';

/** The header ETag of answers to GET. */
export const entityTagHeader = {
  description: "Names this state of what was read (RFC 9110, section 8.8.3): it changes whenever the answer does.",
  schema: text,
  example: exampleTag,
};

/** The header that makes a GET conditional. */
export const conditionParameter = {
  name: "If-None-Match",
  in: "header",
  required: false,
  description:
    "ETags of answers that the caller has, separated by commas, or `*`. Is the answer one of them, it is 304.",
  schema: text,
  example: exampleTag,
};

/** The answer to a condition that matches; `headers` are those of the 200. */
export function notModified(headers: object): object {
  return { description: "The caller has this answer already. There is no body.", headers };
}
