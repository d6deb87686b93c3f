import { expect } from "vitest";
import { problemTypes } from "../../../src/api/rest/problemDetails.js";
import type { RawAnswer } from "./fuzz.js";

/** What only the inside of the program knows. */
const inside =
  /prisma|pglite|node_modules|\bat \S+ \(|[/\\](?:src|dist|home|tmp|usr)[/\\]|\.[jt]s:\d|\bSELECT\b|INSERT INTO|relation "|SQLSTATE|root:x:/u;
const problemCodes = /^[A-Z][A-Z_]+$/u;
const errorCodes = Object.keys(problemTypes);
/** A hundred problems, each with a message and a place that repeat at most 60 characters of the input. */
const errorLengthMax = 64_000;

/** The JSON of an answer whose text may be shown to anybody. */
function parsed({ text }: RawAnswer): any {
  expect(text).toBeDefined();
  expect(text).not.toMatch(inside);
  return JSON.parse(text ?? "");
}

/** A redirect of a path to the one without the slash at its end, with the query string. */
export function checkRedirect({ status, headers, text }: RawAnswer, path: string, search: string): void {
  const to = path.slice(path.lastIndexOf("/", path.length - 2), -1);
  expect([status, headers["location"], text]).toEqual([308, `..${to}${search && `?${search}`}`, undefined]);
}

/** A REST answer: 200 with JSON, an export as a line of JSON for each product, or problem details with the status of its code, and never a 5xx. Gives its body. @param titles of codes, where they differ */
export function checkedRest(answer: RawAnswer, titles: Partial<Record<string, string>> = {}): any {
  if (answer.status === 200 && answer.headers["content-type"] === "application/x-ndjson") {
    return answer.text
      ?.split("\n")
      .filter(Boolean)
      .map((text) => parsed({ ...answer, text }));
  }
  const body = parsed(answer);
  expect(answer.status).toBeLessThan(500);
  if (answer.status === 200) {
    expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
    return body;
  }
  expect(answer.headers["content-type"]).toBe("application/problem+json");
  const { code } = body;
  expect(errorCodes).toContain(code);
  expect(body).toEqual({
    type: `urn:vitrine:problem:${code.toLowerCase().replaceAll("_", "-")}`,
    title: titles[code] ?? problemTypes[code as keyof typeof problemTypes].title,
    status: answer.status,
    detail: expect.stringMatching(/\S/u),
    code,
    errors: expect.any(Array),
    errorsTotal: expect.any(Number),
  });
  expect(answer.status).toBe(problemTypes[code as keyof typeof problemTypes].status);
  checkProblems(body, answer);
  return body;
}

/** A GraphQL answer: data, or errors with known codes, and never INTERNAL or UNAVAILABLE. Gives its body. */
export function checkedGraphQL(answer: RawAnswer): any {
  const body = parsed(answer);
  expect(answer.status).toBeLessThan(500);
  expect(answer.headers["content-type"]).toMatch(/^application\/(?:graphql-response\+)?json; charset=utf-8$/u);
  expect(Object.keys(body).filter((name) => name !== "data" && name !== "errors")).toEqual([]);
  if (!("errors" in body)) {
    expect({ status: answer.status, data: body.data }).toEqual({ status: 200, data: expect.any(Object) });
    return body;
  }
  expect(body.errors.length).toBeGreaterThan(0);
  for (const error of body.errors) {
    const { message, locations = [], path = [], extensions, ...others } = error;
    expect({ message, locations, path, extensions, others }).toEqual({
      message: expect.stringMatching(/\S/u),
      locations: expect.any(Array),
      path: expect.any(Array),
      extensions: { code: expect.any(String), errors: expect.any(Array), errorsTotal: expect.any(Number) },
      others: {},
    });
    expect(errorCodes).toContain(extensions.code);
    expect(["INTERNAL", "UNAVAILABLE"]).not.toContain(extensions.code);
    checkProblems(extensions, answer);
  }
  return body;
}

function checkProblems(
  { errors, errorsTotal }: { errors: any[]; errorsTotal: number },
  { text = "" }: RawAnswer,
): void {
  expect(errors.length).toBe(Math.min(errorsTotal, 100));
  expect(errors.length).toBeGreaterThan(0);
  for (const { code, message, path, line, ...others } of errors) {
    expect({ code, message, path, line: line ?? 1, others }).toEqual({
      code: expect.stringMatching(problemCodes),
      message: expect.stringMatching(/\S/u),
      path: expect.any(Array),
      line: expect.any(Number),
      others: {},
    });
    for (const part of [message, ...path]) expect(String(part).isWellFormed()).toBe(true);
  }
  expect(text.length).toBeLessThan(errorLengthMax);
}
