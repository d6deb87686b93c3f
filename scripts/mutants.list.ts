import { ofAnalytics } from "./mutants.analytics.js";
import type { Mutant } from "./mutants.type.js";

const ofAccess: readonly Mutant[] = [
  {
    name: "A rotated token stops working at the later of its own end and that of the grace, not at the earlier.",
    file: "src/stores/token.replace.ts",
    from: "old.expiresAt < graceEnds ?",
    to: "old.expiresAt > graceEnds ?",
  },
  {
    name: "A token is trusted for twice as long as it may be, and so works for too long once revoked.",
    file: "src/lib/cached.ts",
    from: "now < known.until &&",
    to: "now < known.until + this.ms &&",
    tests: ["test/lib/cached", "test/stores/"],
  },
  {
    name: "A store may make one call more than its rate limit.",
    file: "src/stores/rateLimits/rateLimit.memory.ts",
    from: "window.calls < policy.callsMax",
    to: "window.calls <= policy.callsMax",
  },
  {
    name: "Where Redis fails, each store gets a whole new rate limit at once.",
    file: "src/stores/rateLimits/rateLimit.memory.ts",
    from: "if (reservation.isGranted) local.add(policy, storeId, reservation.resetMs);",
    to: "",
  },
  {
    name: "A key for the subdomains of shop.example may be used by pages of evilshop.example.",
    file: "src/stores/publicKey.ts",
    from: "origin.endsWith(`.${host}`)",
    to: "origin.endsWith(host)",
    tests: ["test/stores/publicKey", "test/events/collect/collect"],
  },
  {
    name: "A deleted store leaves behind which viewers claimed its orders.",
    file: "src/database/storeTables.ts",
    from: '{ name: "OrderClaim", key: ["orderId"] },',
    to: "",
    tests: ["test/stores/store.delete", "test/stores/ended/"],
  },
];

const ofCatalog: readonly Mutant[] = [
  {
    name: "An import may not remove quite as many products as maxDeletions allows.",
    file: "src/catalog/import/modes/mode.ts",
    from: "if (removed <= allowed) return undefined;",
    to: "if (removed < allowed) return undefined;",
    tests: ["test/catalog/modes/"],
  },
  {
    name: "An idempotency key may be used again for another request by another mutation.",
    file: "src/catalog/import/idempotentImport.ts",
    from: "AND (field = ${field} OR fingerprint <> ${fingerprint})",
    to: "AND field = ${field}",
  },
  {
    name: "A patch of price_min alone may exceed the price_max that the product has.",
    file: "src/catalog/import/check.ts",
    from: 'CASE WHEN ${given(fieldBits.price_max)} THEN s."priceMax" ELSE p."priceMax" END',
    to: 's."priceMax"',
    tests: ["test/catalog/modes/"],
  },
  {
    name: "An export of the embedded engine may mix products of before and after an import that replaces them.",
    file: "src/catalog/export/export.ts",
    from: "stored.products === read.products && stored.versions === read.versions",
    to: "stored.products === read.products",
  },
  {
    name: "A sale in a feed ends with the beginning of its last day.",
    file: "src/files/formats/values/dates.ts",
    from: "time >= to.end",
    to: "time >= to.start",
    tests: ["test/files/formats/"],
  },
  {
    name: "A short import does not keep long ones out of the catalog.",
    file: "src/database/catalogLock.ts",
    from: "? Prisma.sql`pg_try_advisory_xact_lock_shared(${inUse(storeId)})`",
    to: "? Prisma.sql`true`",
    tests: ["test/catalog/import/locks", "test/database/contention"],
  },
  {
    name: "A product is found by its sku although another one has this text as its id.",
    file: "src/catalog/product/product.lookup.ts",
    from: "byId.get(productId) ?? bySku.get(productId)",
    to: "bySku.get(productId) ?? byId.get(productId)",
    tests: ["test/catalog/graphql.test.ts", "test/catalog/rest.test.ts"],
  },
  {
    name: "A token that only reads the catalog may delete products.",
    file: "src/catalog/product/product.schema.ts",
    from: 'extensions: { scope: "catalog:write" },',
    to: 'extensions: { scope: "catalog:read" },',
    tests: ["test/stores/scopes"],
  },
];

const ofCommands: readonly Mutant[] = [
  {
    name: "A server that stops waits for open subscriptions until its grace period is over.",
    file: "src/cli/serve/run.ts",
    from: "await app.feed.close(); // open streams would use up the grace period",
    to: "",
  },
  {
    name: "The log repeats a value that the database refused.",
    file: "src/cli/serve/run.ts",
    from: 'sqlState?.startsWith("22")',
    to: 'sqlState?.startsWith("23")',
    tests: ["test/errors/"],
  },
  {
    name: "An export that fails leaves a part of its file behind.",
    file: "src/cli/terminal/outputFile.ts",
    from: "      remove();",
    to: "",
    tests: ["test/cli/products/"],
  },
  {
    name: "The doctor does not warn of a database whose clock is behind.",
    file: "src/cli/doctor/machineChecks.ts",
    from: "Math.abs(skewMs) <= clockSkewMaxMs",
    to: "skewMs <= clockSkewMaxMs",
  },
];

const ofWorkers: readonly Mutant[] = [
  {
    name: "A scrape lacks the counters of a worker that does not answer it, which look as if they were reset.",
    file: "src/server/cluster/sharedMetrics.ts",
    from: "hasReplied[index] ? latest : countersOf(latest)",
    to: "hasReplied[index] ? latest : []",
    tests: ["test/process/serve/workers"],
  },
  {
    name: "A worker that fails again and again is started ten times a second.",
    file: "src/server/cluster/workerPool.ts",
    from: "Math.max(delayMinMs, delayMs * 2)",
    to: "Math.max(delayMinMs, delayMs)",
  },
];

const ofDatabase: readonly Mutant[] = [
  {
    name: "A transaction is stored although its token was revoked meanwhile.",
    file: "src/database/shares/forStore.ts",
    from: "await caller.confirm(transaction);",
    to: "",
    tests: ["test/stores/ended/"],
  },
  {
    name: "A statement is sent although its token was revoked while it waited for its place.",
    file: "src/database/shares/forStore.ts",
    from: "await caller?.confirm(client);",
    to: "",
    tests: ["test/stores/ended/"],
  },
  {
    name: "A deadlock fails the request: it is not tried again.",
    file: "src/database/transaction.ts",
    from: "attempt === attemptsMax",
    to: "attempt < attemptsMax",
  },
  {
    name: "A process whose lock was taken over removes the lock of the other one.",
    file: "src/database/embedded/fileLock.ts",
    from: "if (isSame(await readHolder(path), self)) await rm(path, { force: true });",
    to: "await rm(path, { force: true });",
  },
  {
    name: "A backup lacks the last part of the log, without which it cannot be restored.",
    file: "src/database/backup/backUp.ts",
    from: "await this.copyBefore(after(last));",
    to: "await this.copyBefore(last);",
    tests: ["test/process/database/backup/"],
  },
];

const ofOperations: readonly Mutant[] = [
  {
    name: "An operation with @skip or @include is compiled, by a package that is known to apply them wrongly.",
    file: "src/api/execution/operation.ts",
    from: "case Kind.DIRECTIVE:",
    to: "",
  },
  {
    name: "Aliases of a fragment count once, however often it is spread.",
    file: "src/api/execution/validation/limits.ts",
    from: "totals.aliases += spread.aliases;",
    to: "",
  },
  {
    name: "Where only persisted operations may run, any other may, if an unknown id is sent with it.",
    file: "src/api/graphql/persisted.ts",
    from: '(!only && typeof params["query"] === "string")',
    to: 'typeof params["query"] === "string"',
  },
  {
    name: "A subscriber gets values that were made for a token with further scopes.",
    file: "src/api/graphql/subscription.ts",
    from: "${[...context.identity.scopes].join()} ",
    to: "",
    tests: ["test/api/graphql/", "test/stores/scopes"],
  },
  {
    name: "A store gets the figures that another store has just asked for.",
    file: "src/schema/limits/sharedReads.ts",
    from: "JSON.stringify([storeId, versions.get(storeId), info.fieldName, byName])",
    to: "JSON.stringify([versions.get(storeId), info.fieldName, byName])",
    tests: ["test/figures/store/", "test/stores/isolation"],
  },
  {
    name: "The items of a list count as calls of their own under the rate limit.",
    file: "src/schema/limits/rateLimit.ts",
    from: "cachedWith(context, `admitted ${name} ${rootKey(info)}`, admission)",
    to: "admission()",
    tests: ["test/stores/rateLimit", "test/figures/store/productPerformance"],
  },
];

const ofRequests: readonly Mutant[] = [
  {
    name: "A read does not say that it depends on the token: a cache may give it to another store.",
    file: "src/server/http/respond.ts",
    from: 'addVary(response, "X-Service-Access-Token");',
    to: "",
    tests: ["test/server/content/caching"],
  },
  {
    name: "Connections that were closed count under the limit of open ones.",
    file: "src/server/server.ts",
    from: 'socket.once("close", () => (open -= 1));',
    to: "",
  },
  {
    name: "A file of exactly MAX_UPLOAD_BYTES is refused.",
    file: "src/server/content/upload.ts",
    from: "spool.bytes + chunk.length > bytesMax",
    to: "spool.bytes + chunk.length >= bytesMax",
    tests: ["test/catalog/import/upload"],
  },
  {
    name: "Behind a proxy, a client counts under the address that it makes up itself.",
    file: "src/server/http/routes/collect.route.ts",
    from: "const hop = Math.min(trustedProxies, all.length - 1);",
    to: "const hop = trustedProxies > 0 ? all.length - 1 : 0;",
    tests: ["test/server/http/proxies/", "test/events/collect/"],
  },
  {
    name: "A refused body does not say that batches before were recorded.",
    file: "src/api/rest/batches.ts",
    from: "this.#done += lines.length;",
    to: "",
  },
  {
    name: "A siteId beside a body, where it belongs into it, is ignored.",
    file: "src/api/rest/arguments/readArguments.ts",
    from: '!noneIfEmpty.has(name) || values.length > 1 || values[0] !== ""',
    to: "!noneIfEmpty.has(name)",
  },
  {
    name: "Where somebody gives up waiting, those behind whose wishes would fit wait on.",
    file: "src/lib/fairShare.ts",
    from: "this.#admitNext(); // a smaller amount may fit",
    to: "",
  },
  {
    name: "Each failed call of an outage writes a warning, not the first alone.",
    file: "src/lib/circuitBreaker.ts",
    from: "if (isDown) return;",
    to: "",
    tests: ["test/lib/", "test/stores/rateLimit"],
  },
  {
    name: "A request whose client left amid the answer is logged as if it had got all of it.",
    file: "src/server/telemetry/telemetry.ts",
    from: "outcome: isWhole || isStream ?",
    to: "outcome: isWhole || headersSent ?",
    tests: ["test/server/slowReaders"],
  },
];

const ofBrowsers: readonly Mutant[] = [
  {
    name: "The dashboard connects again before the time that the server asks for.",
    file: "src/dashboard/connection/reconnect.ts",
    from: "failure.retryAfterMs ?? backoffMs(failures)",
    to: "backoffMs(failures)",
    tests: ["test/dashboard/", "test/browser/dashboard/connection"],
  },
  {
    name: "At the end of a long month, the shorter month before it is compared with days of this one.",
    file: "src/dashboard/overview/range.ts",
    from: "Math.min(momentShowing(fromMs + passedMs), Date.parse(from))",
    to: "momentShowing(fromMs + passedMs)",
  },
  {
    name: "While the machine sleeps, more than an hour counts as watched.",
    file: "src/tracker/clock.ts",
    from: "const gapMsMax = 61_000;",
    to: "const gapMsMax = 6_100_000;",
  },
  {
    name: "The events of a browser whose clock is wrong are dropped.",
    file: "src/tracker/delivery.ts",
    from: "event.at = undefined;",
    to: "outbox.settle(event);",
  },
];

export const mutants: readonly Mutant[] = [
  ...ofAccess,
  ...ofAnalytics,
  ...ofCatalog,
  ...ofCommands,
  ...ofWorkers,
  ...ofDatabase,
  ...ofOperations,
  ...ofRequests,
  ...ofBrowsers,
];
