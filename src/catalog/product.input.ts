import type { Path, Problems } from "../errors.js";
import { mustBe } from "../lib/mustBe.js";
import { clip } from "../lib/text.js";
import { charactersMax, flag, images, price, type Report, type Rule, text, url } from "./product.rules.js";

export interface ProductInput {
  readonly id: string;
  readonly sku: string;
  readonly title: string;
  readonly description?: string | null | undefined;
  readonly price?: number | null | undefined;
  readonly price_min?: number | null | undefined;
  readonly price_max?: number | null | undefined;
  readonly available: boolean;
  readonly images?: readonly string[] | null | undefined;
  readonly featured_image: string;
  readonly url: string;
}

export const productFields: { readonly [F in keyof ProductInput]-?: { required: boolean; rule: Rule } } = {
  id: { required: true, rule: text(charactersMax.id) },
  sku: { required: true, rule: text(charactersMax.sku) },
  title: { required: true, rule: text(charactersMax.title) },
  description: { required: false, rule: text(charactersMax.description, { blank: true }) },
  price: { required: false, rule: price },
  price_min: { required: false, rule: price },
  price_max: { required: false, rule: price },
  available: { required: true, rule: flag },
  images: { required: false, rule: images },
  featured_image: { required: true, rule: url },
  url: { required: true, rule: url },
};

export const productFieldNames = Object.keys(productFields) as readonly (keyof ProductInput)[];

// As lists, which are faster to go through for each product.
const checkedFields = productFieldNames.map((name) => ({ name, rule: productFields[name].rule }));
const knownNames: ReadonlySet<string> = new Set(productFieldNames);

/** Each field as a bit, for sets of fields. */
export const fieldBits = Object.fromEntries(productFieldNames.map((name, index) => [name, 1 << index])) as {
  readonly [F in keyof ProductInput]-?: number; // productFieldNames holds all
};

export const requiredBits = productFieldNames
  .filter((name) => productFields[name].required)
  .reduce((bits, name) => bits | fieldBits[name], 0);

/** Changes the product with its id or else sku: missing fields stay as they are. */
export type ProductPatch = Partial<ProductInput>;

/** The fields of a patch as `fieldBits`. A null key is not there. */
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
}

/** Reports every problem of one product by itself. */
export function checkProduct(product: unknown, place: Place, problems: Problems): product is ProductInput {
  return checkFields(product, { place, problems, missing: missingField });
}

function checkPatch(patch: unknown, place: Place, problems: Problems): patch is ProductPatch {
  return checkFields(patch, { place, problems, missing: missingInPatch });
}

export function checkerOf(isPatch: boolean): (product: unknown, place: Place, problems: Problems) => boolean {
  return isPatch ? checkPatch : checkProduct;
}

function missingField(name: keyof ProductInput): string | undefined {
  return productFields[name].required ? `${name} is required.` : undefined;
}

/** A required field may be missing, but not null; one of both keys must be there. */
function missingInPatch(name: keyof ProductInput, patch: ProductPatch): string | undefined {
  if (name === "id") return (patch.sku ?? undefined) === undefined ? "id or sku is required." : undefined;
  if (name === "sku" || !productFields[name].required || !Object.hasOwn(patch, name) || patch[name] === undefined)
    return undefined;
  return `${name} is required: it can be changed, but not cleared.`;
}

interface FieldChecks {
  readonly place: Place;
  readonly problems: Problems;
  /** The problem of a field that is missing or null, if it is one. */
  readonly missing: (name: keyof ProductInput, product: ProductPatch) => string | undefined;
}

function checkFields(product: unknown, { place, problems, missing }: FieldChecks): boolean {
  const totalBefore = problems.total;
  const report: Report = (field, code, message) =>
    problems.addLazily(() => ({
      code,
      message: typeof message === "string" ? message : message(),
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
  for (const { name, rule } of checkedFields) {
    const value = (product as Partial<ProductInput>)[name];
    if (value !== undefined && value !== null) {
      rule(value, name, report);
      continue;
    }
    const fault = missing(name, product);
    if (fault !== undefined) report(name, "REQUIRED", fault);
  }
  const { price_min: min, price_max: max } = product as Partial<ProductInput>;
  if (typeof min === "number" && typeof max === "number" && min > max) {
    report("price_min", "INVALID_VALUE", `price_min must not be above price_max, but ${min} is above ${max}.`);
  }
  return problems.total === totalBefore;
}
