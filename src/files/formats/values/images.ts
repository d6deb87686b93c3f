import { parseFlatJson } from "../../../lib/text.js";
import { imagesMax, urlCharactersMax } from "../../product/product.rules.js";

/** All images of a product have fewer UTF-16 code units. A longer cell is refused as one URL that is too long. */
const cellUnitsMax = imagesMax * 2 * (urlCharactersMax + 10);
/** What shops write if there is no image. */
const noImage = "no_selection";

/** A line break, a bar, or, before a URL, a comma, a semicolon or a blank. A comma or blank within a URL does not separate. */
const separators = /[|\r\n]|[,;](?=\s)|[\s,;](?=(?:https?:)?\/\/)/iu;
const separatorsOfPaths = /[,;|\r\n]|\s(?=(?:https?:)?\/\/)/iu;
const imageName = /\.(?:jpe?g|png|gif|webp|avif|svg|bmp|tiff?|heic)$/iu;

/**
 * The images of a cell, which may be a JSON list.
 *
 * @param isPaths whether commas never belong to an image
 */
export function splitUrls(text: string, isPaths = false): string[] {
  if (text.length > cellUnitsMax) return [text];
  if (!/[|;,\s]|^\[/u.test(text)) return text === "" || text === noImage ? [] : [trimmedUrl(text)];
  if (text.startsWith("[")) return jsonTexts(text)?.map(trimmedUrl) ?? [text];
  return text
    .split(isPaths ? separatorsOfPaths : separators)
    .flatMap(splitNames)
    .map(trimmedUrl)
    .filter((url) => url !== "" && url !== noImage);
}

/** Removes separators of a list, and invisible characters, at the ends. */
export function trimmedUrl(url: string): string {
  let end = url.length;
  while (end > 0 && /[\s,;|\p{Cc}\p{Cf}]/u.test(url.charAt(end - 1))) end -= 1;
  return url.slice(0, end).trimStart();
}

/** A semicolon separates names that end like images; in a URL it may belong to a parameter. */
function splitNames(text: string): string[] {
  if (!text.includes(";")) return [text];
  const parts = text.split(";").filter((part) => part.trim() !== "");
  return parts.every((part) => isImage(part)) ? parts : [parts.join(";")];
}

function isImage(text: string): boolean {
  const [path = ""] = text.trim().split(/[?#]/u, 1);
  return imageName.test(path);
}

function jsonTexts(text: string): string[] | undefined {
  try {
    const list = parseFlatJson(text);
    return Array.isArray(list) && list.every((item) => typeof item === "string") ? list : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a text can be the path of an image at a shop: not a host, a drive, a tag, or a word for none. */
export function isPath(text: string): boolean {
  if (/["'<>\\\t\r\n]|:\/\/|^(?:www\.|[a-z][a-z\d+.-]*:)/iu.test(text)) return false;
  const [first = ""] = text.split("/", 1);
  const isHost = first !== text && first.includes(".") && !/^\.+$/u.test(first);
  return !isHost && (text.startsWith("/") || isImage(text));
}
