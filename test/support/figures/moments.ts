import { expect } from "vitest";
import type { TestStore } from "../app.js";
import { readAnswer } from "../call.js";
import { analyticsPath } from "../shows.js";

/** A moment as it is sent. */
export interface SentMoment {
  readonly id: string;
  readonly kind: string;
  readonly startedAt: string;
  readonly endedAt?: string | null;
  readonly productId?: string | null;
  readonly host?: { readonly name: string; readonly email: string } | null;
  readonly title?: string | null;
}

const showStart = Date.parse("2026-05-04T18:30:00Z");

/** A second of the show that `show()` makes. */
export function second(number: number): string {
  return new Date(showStart + number * 1_000).toISOString();
}

/** A pin of the product "shirt" from this second on, and what else is given. */
export function pin(id: string, start: number, fields: Partial<SentMoment> = {}): SentMoment {
  return { id, kind: "PIN", startedAt: second(start), productId: "shirt", ...fields };
}

const save = `mutation ($lsId: String!, $moments: [MomentInput!]!) {
  saveMoments(lsId: $lsId, moments: $moments) { accepted created replaced } }`;
const remove = "mutation ($lsId: String!, $id: String!) { deleteMoment(lsId: $lsId, id: $id) { id message } }";
const read = `query ($lsId: String!, $kind: MomentKind) { liveStreamAnalytics(lsId: $lsId) {
  moments(kind: $kind, first: 2000) { id kind startedAt endedAt productId host { name email } title } } }`;

export function momentsPath(lsId: string): string {
  return `${analyticsPath(lsId)}/moments`;
}

type Answered = Readonly<Record<string, any>>;

/** Calls about moments. Each gives the result, or the code and the problems of a refusal. */
export interface MomentCalls {
  save(store: TestStore, lsId: string, moments: readonly object[]): Promise<Answered>;
  delete(store: TestStore, lsId: string, id: string): Promise<Answered>;
}

const ofGraphql = async (answer: ReturnType<TestStore["graphql"]>): Promise<Answered> => {
  const { data, errors } = await answer;
  const { code, errors: problems } = errors?.[0].extensions ?? {};
  return errors === undefined ? (Object.values<Answered>(data)[0] ?? {}) : { code, errors: problems };
};
const ofRest = async (sent: Promise<Response>): Promise<Answered> => {
  const { status, body } = await readAnswer(await sent);
  return status === 200 ? body : { code: body.code, errors: body.errors };
};

export const styles: Readonly<Record<"GraphQL" | "REST", MomentCalls>> = {
  GraphQL: {
    save: (store, lsId, moments) => ofGraphql(store.graphql(save, { lsId, moments })),
    delete: (store, lsId, id) => ofGraphql(store.graphql(remove, { lsId, id })),
  },
  REST: {
    save: (store, lsId, moments) => ofRest(putMoments(store, lsId, moments)),
    delete: (store, lsId, id) =>
      ofRest(store.fetch(`${momentsPath(lsId)}/${encodeURIComponent(id)}`, { method: "DELETE" })),
  },
};

export function putMoments(store: TestStore, lsId: string, moments: readonly object[], headers: object = {}) {
  const options = { method: "PUT", headers: { "content-type": "application/json", ...headers } };
  return store.fetch(momentsPath(lsId), { ...options, body: JSON.stringify({ moments }) });
}

/** Saves moments. @throws if they are refused */
export async function savedMoments(store: TestStore, lsId: string, moments: readonly SentMoment[]): Promise<void> {
  expect(await styles.GraphQL.save(store, lsId, moments)).toMatchObject({ accepted: moments.length });
}

/** The moments of a show as they are read, with null for what they lack. */
export async function momentsOf(store: TestStore, lsId: string, kind?: string): Promise<SentMoment[]> {
  const { data, errors } = await store.graphql(read, { lsId, kind });
  expect(errors).toBeUndefined();
  return data.liveStreamAnalytics.moments;
}

/** When moments end, by their ids. */
export async function endsOf(store: TestStore, lsId: string): Promise<Record<string, unknown>> {
  return Object.fromEntries((await momentsOf(store, lsId)).map(({ id, endedAt }) => [id, endedAt]));
}
