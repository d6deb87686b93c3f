import { AppError } from "../errors.js";

/** The fields that take an Idempotency-Key, as execution and REST name them. */
const importFields = ["importProduct", "importProducts", "importProductsCsv", "patchProducts"];
const takingKey: ReadonlySet<string> = new Set(importFields.map((name) => `Mutation.${name}`));

/** @param fields the root fields of a call, as `Mutation.importProduct` */
export function takesIdempotencyKey(fields: readonly string[]): boolean {
  return fields.some((field) => takingKey.has(field));
}

/** What answers a call with a key that would have no effect: it could be carried out twice. */
export function keyNotTaken(): AppError {
  const message = `This call takes no Idempotency-Key. Imports do: POST below /external/product/v1, and the mutations ${importFields.join(", ")}.`;
  return new AppError("BAD_REQUEST", message);
}
