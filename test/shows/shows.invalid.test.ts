import { describe, expect, test } from "vitest";
import { createTestStore, openTestApp } from "../support/app.js";
import { invalidVariables } from "../support/problems.js";
import { refusedShow, saveShow, type SentShow, show, showProblem } from "../support/shows.js";

const app = await openTestApp({ analyticsRateLimit: 0 });
const store = await createTestStore(app);

describe("a show that breaks a rule is refused with the field named, and nothing is stored", () => {
  const durationRange = "durationSeconds must be from 0 to 31622400, not ";
  const host = { name: "Robin Host", email: "robin@shop.example" };
  const latest = { startedAt: "9999-12-31T23:59:59Z", durationSeconds: 1 };
  test.each<[fields: Partial<SentShow>, field: string | string[], code: string, message: string]>([
    [{ id: "" }, "id", "REQUIRED", "id must not be blank."],
    [{ name: " \t\n" }, "name", "REQUIRED", "name must not be blank."],
    [{ id: "x".repeat(256) }, "id", "TOO_LONG", "id must have at most 255 characters."],
    [{ name: "x".repeat(1_001) }, "name", "TOO_LONG", "name must have at most 1000 characters."],
    [{ name: "a\0b" }, "name", "INVALID_VALUE", "name must not contain a NUL character."],
    [{ id: "a\ud800" }, "id", "INVALID_VALUE", "id must not contain a lone surrogate."],
    [{ durationSeconds: -1 }, "durationSeconds", "INVALID_VALUE", `${durationRange}-1.`],
    [{ durationSeconds: 366 * 86_400 + 1 }, "durationSeconds", "INVALID_VALUE", `${durationRange}31622401.`],
    [latest, "durationSeconds", "INVALID_VALUE", "A show must end by 9999-12-31T23:59:59.999Z."],
    [{ host: { ...host, name: " " } }, ["host", "name"], "REQUIRED", "name must not be blank."],
    [
      { host: { ...host, email: "robin" } },
      ["host", "email"],
      "INVALID_VALUE",
      'email must be an e-mail address, not "robin".',
    ],
  ])("%.80j", async (fields, field, code, message) => {
    const refused = refusedShow(showProblem(field, code, message));
    expect(await store.graphql(saveShow, { liveStream: show(fields) })).toEqual(refused);
    expect(await app.db.liveStream.count({ where: { storeId: store.id } })).toBe(0);
  });

  test("several problems at once", async () => {
    const liveStream = show({ name: "", durationSeconds: -5, host: { name: "x".repeat(256), email: "@" } });
    expect(await store.graphql(saveShow, { liveStream })).toEqual(
      refusedShow(
        showProblem("name", "REQUIRED", "name must not be blank."),
        showProblem("durationSeconds", "INVALID_VALUE", `${durationRange}-5.`),
        showProblem(["host", "name"], "TOO_LONG", "name must have at most 255 characters."),
        showProblem(["host", "email"], "INVALID_VALUE", 'email must be an e-mail address, not "@".'),
      ),
    );
  });

  test("values of another type", async () => {
    const liveStream = { ...show(), name: 5, startedAt: "yesterday", durationSeconds: 1.5, host: { name: "R" }, at: 1 };
    expect(await store.graphql(saveShow, { liveStream })).toEqual(
      invalidVariables(
        showProblem("at", "UNKNOWN_FIELD", 'Unknown field "at".'),
        showProblem("name", "INVALID_TYPE", "name must be a string, not 5."),
        showProblem(
          "startedAt",
          "INVALID_TYPE",
          'startedAt must be an ISO 8601 timestamp with a time zone, not "yesterday".',
        ),
        showProblem("durationSeconds", "INVALID_TYPE", "durationSeconds must be a 32-bit integer, not 1.5."),
        showProblem(["host", "email"], "REQUIRED", "email is required."),
      ),
    );
    expect(await app.db.liveStream.count({ where: { storeId: store.id } })).toBe(0);
  });

  test.for([
    "2026-05-04T18:30:00",
    "2026-05-04",
    "2026-13-01T00:00:00Z",
    "2026-02-30T00:00:00Z",
    "0000-01-01T00:00:00Z",
    "9999-12-31T23:59:59-01:00",
    "+012026-05-04T18:30:00Z",
    "",
  ])("the start %s, which is no moment with a time zone that can be stored", async (startedAt) => {
    expect(await store.graphql(saveShow, { liveStream: show({ startedAt }) })).toEqual(
      invalidVariables(
        showProblem(
          "startedAt",
          "INVALID_TYPE",
          `startedAt must be an ISO 8601 timestamp with a time zone, not "${startedAt}".`,
        ),
      ),
    );
  });

  test("a start that is no moment, written in the operation itself", async () => {
    const operation = `mutation { saveLiveStream(liveStream: {id: "a", name: "A", status: LIVE, startedAt: "tomorrow"}) { id } }`;
    const message = 'startedAt must be an ISO 8601 timestamp with a time zone, not "tomorrow".';
    expect(await store.graphql(operation)).toMatchObject({
      errors: [{ message, extensions: { code: "BAD_REQUEST" } }],
    });
  });

  test("an unknown status", async () => {
    const answer = await store.graphql(saveShow, { liveStream: show({ status: "PAUSED" }) });
    expect(answer).toEqual(
      invalidVariables(
        showProblem(
          "status",
          "INVALID_TYPE",
          expect.stringMatching(/^status must be one of .*LIVE.*, not "PAUSED"\.$/u),
        ),
      ),
    );
  });
});
