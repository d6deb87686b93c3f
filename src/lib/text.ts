/** Whether PostgreSQL can hold the text as it is: it refuses NUL, and a lone surrogate would become another character. */
export function isStorable(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed();
}

/** What keeps a text from being stored. */
export interface TextFault {
  readonly code: "REQUIRED" | "TOO_LONG" | "INVALID_VALUE";
  readonly message: string;
}

const visible = /\S/u;

/**
 * Why a text cannot be stored; undefined where it can.
 *
 * @param name of the field, for the message
 * @param mayBeBlank whether it may be empty, or nothing but white space
 */
export function textFault(
  text: string,
  name: string,
  charactersMax: number,
  mayBeBlank = false,
): TextFault | undefined {
  if (!mayBeBlank && !visible.test(text)) return { code: "REQUIRED", message: `${name} must not be blank.` };
  if (isLongerThan(text, charactersMax)) {
    return { code: "TOO_LONG", message: `${name} must have at most ${charactersMax} characters.` };
  }
  // PostgreSQL cannot store NUL, and lone surrogates would all become U+FFFD, so that two skus could collide.
  if (text.includes("\0")) return { code: "INVALID_VALUE", message: `${name} must not contain a NUL character.` };
  if (!text.isWellFormed()) return { code: "INVALID_VALUE", message: `${name} must not contain a lone surrogate.` };
  return undefined;
}

/** The most that ids, and whatever else names something stored, may have. */
export const nameCharactersMax = 255;

/** Whether anything stored may have this as its id or sku: where not, it need not be looked for. */
export function canBeKey(text: string): boolean {
  return !isLongerThan(text, nameCharactersMax) && isStorable(text);
}

/** Input shortened to what a message can bear, with lone surrogates made printable. */
export function clip(text: string, charactersMax = 60): string {
  return (text.length > charactersMax ? `${text.slice(0, charactersMax)}…` : text).toWellFormed();
}

/** Characters are Unicode code points, as in PostgreSQL; counted only where UTF-16 length leaves a doubt. */
export function isLongerThan(value: string, max: number): boolean {
  if (value.length <= max) return false;
  if (value.length > max * 2) return true;
  let characters = 0;
  for (const _ of value) characters += 1;
  return characters > max;
}
