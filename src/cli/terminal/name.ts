import { InvalidArgumentError } from "commander";
import { nameCharactersMax, textFault } from "../../lib/text.js";

/** Parses an id, a name, a type or a label. */
export function parseName(text: string): string {
  const fault = textFault(text, "It", nameCharactersMax);
  if (fault !== undefined) throw new InvalidArgumentError(fault.message);
  return text;
}
