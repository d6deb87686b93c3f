import { clip } from "./text.js";

/** Texts are cut to this length before they are searched for secrets. */
const searchedMax = 4_096;
/** Tokens, and credentials and secret parameters of URLs. */
const secrets =
  /\bvt_[\w-]+|\b((?:bearer\s+)+)\S+|(?<=\/\/)[^\s/?#@]*@|(?<=[?&;](?:\w*[_-])?(?:token|key|password|secret|signature|sig)=)[^&#\s]+/giu;
/** Invisible characters, most of which JSON strings do not escape. */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;

/** A number as it was sent, which may have more digits than its value. */
export class SentNumber {
  constructor(readonly digits: string) {}
}

/** Makes messages such as `price must be a number, not "cheap".` */
export function mustBe(name: string, expected: string, value: unknown): string {
  return `${name} must be ${expected}, not ${shownValue(value)}.`;
}

/** A value for messages: texts quoted, clipped, escaped and without secrets; lists and objects by kind. */
export function shownValue(value: unknown): string {
  if (typeof value === "string") {
    const text = value.slice(0, searchedMax).replace(secrets, masked);
    return JSON.stringify(clip(text)).replace(invisible, escaped);
  }
  if (Array.isArray(value)) return "an array";
  if (value instanceof SentNumber) return clip(value.digits);
  if (value instanceof Date) return value.toISOString();
  return typeof value === "object" && value !== null ? "an object" : String(value);
}

function masked(found: string, scheme = ""): string {
  return found.endsWith("@") ? "…@" : `${scheme}…`;
}

/** Escapes a character as JSON does, with two escapes above U+FFFF. */
function escaped(character: string): string {
  return Array.from(
    { length: character.length },
    (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`,
  ).join("");
}
