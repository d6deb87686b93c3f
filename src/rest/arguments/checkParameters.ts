import { AppError, Problems, validationFailed } from "../../errors.js";
import { shownValue } from "../../lib/mustBe.js";
import { clip } from "../../lib/text.js";
import type { BodyMembers } from "./bodyArguments.js";
import { pathParameters, type RestRoute } from "../routes/route.js";

/**
 * Checks the names of a query string's parameters, where none may be ignored: a misspelled dryRun would store products.
 *
 * @param search without its question mark
 * @throws {AppError} BAD_REQUEST where one belongs elsewhere, VALIDATION_FAILED where one is unknown or repeated; with
 *   every such problem
 */
export type CheckParameters = (search: string) => void;

interface ParameterRules {
  /** The names that are taken, each once. */
  readonly taken: Iterable<string>;
  /** Those of lists, which may be repeated. */
  readonly lists?: readonly string[];
  /** Where others belong: what follows the name in a message. */
  readonly elsewhere: ReadonlyMap<string, string>;
  /** A sentence with what may be given, for messages on unknown names. */
  readonly hint: string;
  /** Whether others are ignored. */
  readonly ignoresOthers?: boolean;
}

/** Clients that fill in the documented defaults send these empty with any body; an empty site counts as none. */
const noneIfEmpty: ReadonlySet<string> = new Set(["siteId", "siteType"]);

/** Takes these, each once but for lists. */
export function onlyParameters(
  names: readonly string[],
  { elsewhere = new Map(), ...rules }: Partial<ParameterRules> = {},
): CheckParameters {
  const hint = names.length === 0 ? "The path takes none." : `The parameters are ${names.join(", ")}.`;
  return parameterCheck({ ...rules, taken: names, elsewhere, hint });
}

/** Takes what may accompany a file: all arguments but the file itself, and options of how it is read. */
export function parametersBesideFile(
  names: readonly string[],
  { argument, mediaTypes, readingOptions = [], repeated = [] }: NonNullable<RestRoute["upload"]>,
): CheckParameters {
  const others = names.filter((name) => name !== argument);
  const place = `is the body itself where that is ${mediaTypes[0] ?? "a file"}`;
  return onlyParameters([...others, ...readingOptions], { lists: repeated, elsewhere: new Map([[argument, place]]) });
}

/** Takes none: the arguments are members of the body. */
export function noneBesideMembers(route: RestRoute, members: BodyMembers): CheckParameters {
  const { upload } = route;
  const fileType = upload?.mediaTypes[0] ?? "";
  const otherwise = upload && `; beside a body of ${fileType} it is a parameter`;
  const fields = [...members].flatMap(([member, { fields: ofMember }]) =>
    [...ofMember].map((field) => [field, `belongs in the body, in ${member}`] as const),
  );
  const inBody = [...members.keys()].map((member) => {
    const isFile = member === upload?.argument;
    return [member, `belongs in the body${isFile ? "" : (otherwise ?? "")}`] as const;
  });
  const inPath = pathParameters(route).map((name) => [name, "is in the path"] as const);
  const ofFile = (upload?.readingOptions ?? []).map(
    (name) => [name, `is a parameter beside a body of ${fileType} only`] as const,
  );
  const hint = `The arguments are members of the body: ${[...members.keys()].join(", ")}.`;
  return parameterCheck({ taken: [], elsewhere: new Map([...fields, ...ofFile, ...inPath, ...inBody]), hint });
}

function parameterCheck({ taken, lists = [], elsewhere, hint, ignoresOthers }: ParameterRules): CheckParameters {
  const known = new Set(taken);
  return (search) => {
    const problems = new Problems();
    let isMisplaced = false;
    for (const [name, values] of valuesByName(search)) {
      const place = elsewhere.get(name);
      const path = [clip(name)];
      if (known.has(name)) {
        if (values.length === 1 || lists.includes(name)) continue;
        problems.add({ code: "INVALID_VALUE", message: `${name} is given ${values.length} times, not once.`, path });
      } else if (ignoresOthers === true) {
        continue;
      } else if (place === undefined) {
        problems.add({ code: "UNKNOWN_FIELD", message: `Unknown parameter ${shownValue(name)}. ${hint}`, path });
      } else if (!noneIfEmpty.has(name) || values.length > 1 || values[0] !== "") {
        problems.add({ code: "BAD_REQUEST", message: `${name} ${place}.`, path });
        isMisplaced = true;
      }
    }
    if (problems.total === 0) return;
    const refusal = validationFailed(problems);
    if (!isMisplaced) throw refusal;
    throw new AppError("BAD_REQUEST", refusal.message, { problems: refusal.problems, problemsTotal: problems.total });
  };
}

function valuesByName(search: string): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(search)) {
    const values = found.get(name);
    if (values === undefined) found.set(name, [value]);
    else values.push(value);
  }
  return found;
}
