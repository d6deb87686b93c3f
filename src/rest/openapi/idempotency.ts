import type { JsonSchema } from "./types.js";
import type { RestRoute } from "../routes.js";

const text: JsonSchema = { type: "string" };

/** Whether calls of a route may carry an Idempotency-Key: the imports, which say what becomes of one. */
export function takesIdempotencyKey({ errors }: RestRoute): boolean {
  return errors.includes("IDEMPOTENCY_KEY_REUSED");
}

/** The header that makes it safe to send a call again. */
export const idempotencyParameter = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description: `A name that the caller gives this call, such as a UUID (IETF draft-ietf-httpapi-idempotency-key-header). A call that succeeded is not carried out again: for 24 hours the same body with the same key gets the same answer, with the header Idempotency-Replayed. A call that was refused stored nothing; it may be corrected and sent with the same key. Keys belong to their store.`,
  schema: { ...text, pattern: "^[\\x21-\\x7e]{1,255}$" },
  example: "8e03978e-40d5-43dd-bc93-6894a57f9324",
};

/** The header of an answer that was given before. */
export const idempotencyReplayedHeader = {
  description:
    "`true` where this is the stored answer to an earlier call with the same Idempotency-Key. Else not there.",
  required: false,
  schema: { ...text, enum: ["true"] },
  example: "true",
};
