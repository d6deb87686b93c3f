import type { Path, Problems } from "../../errors.js";
import { mustBe, SentNumber } from "../../lib/mustBe.js";
import { clip } from "../../lib/text.js";
import { fieldBits, type FieldName, type ProductPatch, productFieldNames, productFields } from "./product.fields.js";
import { type Report, ruleOf } from "./product.rules.js";

// A list, because iterating over it for each product is faster.
const checkedFields = productFieldNames.map((name) => ({ name, rule: ruleOf(productFields[name]) }));
const knownNames: ReadonlySet<string> = new Set(productFieldNames);

/** The fields of a patch as `fieldBits`. A null key counts as missing. */
export function presentFields(patch: ProductPatch): number {
  let bits = 0;
  for (const name of productFieldNames) {
    const value = patch[name];
    const isThere = value !== undefined && (value !== null || !isKeyName(name));
    if (isThere && Object.hasOwn(patch, name)) bits |= fieldBits[name];
  }
  return bits;
}

function isKeyName(name: string): boolean {
  return name === "id" || name === "sku";
}

export interface Place {
  readonly path: Path;
  readonly line?: number;
  /** The digits of an invalid number as they were sent. */
  readonly digitsOf?: (name: FieldName, value: number) => string | undefined;
}

/**
 * Reports every problem of one product by itself.
 *
 * @param isPatch whether it is a ProductPatch
 */
export function checkProduct(
  product: unknown,
  place: Place,
  problems: Problems,
  isPatch = false,
): product is ProductPatch {
  const totalBefore = problems.total;
  const report: Report = (field, code, message) =>
    problems.addLazily(() => ({
      code,
      message: typeof message === "string" ? message : message(asSent(product, field, place)),
      path: place.path.concat(field),
      ...(place.line !== undefined && { line: place.line }),
    }));

  if (typeof product !== "object" || product === null || Array.isArray(product)) {
    report([], "INVALID_TYPE", () => mustBe("A product", "an object", product));
    return false;
  }
  for (const name in product) {
    if (!knownNames.has(name)) report(clip(name), "UNKNOWN_FIELD", `A product has no field "${clip(name)}".`);
  }
  checkFields(product, report, isPatch);
  return problems.total === totalBefore;
}

function checkFields(product: ProductPatch, report: Report, isPatch: boolean): void {
  for (const { name, rule } of checkedFields) {
    const value = product[name];
    if (value !== undefined && value !== null) {
      rule(value, name, report);
      continue;
    }
    const fault = isPatch ? missingInPatch(name, product) : missingField(name);
    if (fault !== undefined) report(name, "REQUIRED", fault);
  }
  const { price_min: min, price_max: max } = product;
  if (typeof min === "number" && typeof max === "number" && min > max) {
    report("price_min", "INVALID_VALUE", `price_min must not be above price_max, but ${min} is above ${max}.`);
  }
}

function asSent(product: unknown, field: string | Path, { digitsOf }: Place): SentNumber | undefined {
  const name = productFieldNames.find((known) => known === field);
  const value = name && (product as ProductPatch)[name];
  const digits = name && typeof value === "number" ? digitsOf?.(name, value) : undefined;
  return digits === undefined ? undefined : new SentNumber(digits);
}

function missingField(name: FieldName): string | undefined {
  return productFields[name].required ? `${name} is required.` : undefined;
}

/** A required field may be missing, but not null, and id or sku must be given. */
function missingInPatch(name: FieldName, patch: ProductPatch): string | undefined {
  if (name === "id") return (patch.sku ?? undefined) === undefined ? "id or sku is required." : undefined;
  if (name === "sku" || !productFields[name].required || !Object.hasOwn(patch, name) || patch[name] === undefined)
    return undefined;
  return `${name} is required: it can be changed, but not cleared.`;
}
