import * as z from "zod";
import { readConfig, sections } from "../../../src/config.js";

/** What is known of a variable from its schema. */
interface Variable {
  readonly name: string;
  /** As it is written; empty where there is none. */
  readonly byDefault: string;
  /** Of whole numbers. */
  readonly bounds: { readonly min: number; readonly max: number } | undefined;
  /** A value that changes the setting. */
  readonly other: string;
}

/** Texts of all kinds that variables are. */
const texts = [
  "https://another.example:4318",
  "postgresql://vitrine@another.example/vitrine",
  "redis://another.example:6379",
  "/another-path",
  "another-text-of-27-letters",
  "production",
];

/** What some variables need of others. */
export const neededWith: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  WEB_CONCURRENCY: { DATABASE_URL: "postgresql://vitrine@db.example/vitrine" },
  PERSISTED_OPERATIONS_ONLY: { PERSISTED_OPERATIONS: "operations.json" },
};

/** All variables, from the schema of the configuration. */
export const everyVariable: readonly Variable[] = Object.values(sections).flatMap(Object.values).map(variableOf);

function variableOf(schema: z.ZodType): Variable {
  const name = schema.meta()?.title ?? "";
  const { enum: choices = [], ...text } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  const { default: given = text.default ?? "", ...setting } = z.toJSONSchema(schema, { unrepresentable: "any" });
  const byDefault = typeof given === "string" ? given : JSON.stringify(given);
  const { minimum: min, maximum: max } = setting;
  const isNumber = min !== undefined && max !== undefined;
  const values = isNumber ? [String(Number(byDefault) + 1)] : choices.length > 0 ? choices.map(String) : texts;
  const other = values.find((value) => value !== byDefault && changes(name, value));
  if (other === undefined) throw new Error(`No value changes ${name}: texts has none that it takes.`);
  return { name, byDefault, bounds: isNumber ? { min, max } : undefined, other };
}

function changes(name: string, value: string): boolean {
  const others = neededWith[name] ?? {};
  try {
    return JSON.stringify(readConfig({ ...others, [name]: value })) !== JSON.stringify(readConfig(others));
  } catch {
    return false;
  }
}
