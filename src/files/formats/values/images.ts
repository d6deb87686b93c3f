import { parseFlatJson } from "../../../lib/text.js";
import { imagesMax, urlCharactersMax } from "../../product/product.rules.js";

/** A cell with more UTF-16 code units than all images of a product may have; it is refused as one URL that is too long. */
const cellUnitsMax = imagesMax * 2 * (urlCharactersMax + 10);
/** What shops write where there is no image. */
const noImage = "no_selection";

/** A line break, a bar, and before a URL a comma, a semicolon or a blank; a comma or blank within a URL does not separate. */
const separators = /[|\r\n]|[,;](?=\s)|[\s,;](?=(?:https?:)?\/\/)/iu;
const separatorsOfPaths = /[,;|\r\n]|\s(?=(?:https?:)?\/\/)/iu;
const imageName = /\.(?:jpe?g|png|gif|webp|avif|svg|bmp|tiff?|heic)$/iu;

/**
 * The images of a cell, which may be a list in JSON.
 *
 * @param isPaths whether commas are never part of one
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

/** Without what separates entries of a list, and characters that nobody sees. */
export function trimmedUrl(url: string): string {
  let end = url.length;
  while (end > 0 && /[\s,;|\p{Cc}\p{Cf}]/u.test(url.charAt(end - 1))) end -= 1;
  return url.slice(0, end).trimStart();
}

/** A semicolon separates what ends as images do; in a URL it may be part of a parameter. */
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
