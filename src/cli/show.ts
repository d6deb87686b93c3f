import { type Command, Option } from "commander";
import { requireStore } from "../access/store.js";
import { findLiveStream, type LiveStreamStatus, liveStreamStatuses, timesOf } from "../analytics/shows/liveStream.js";
import { deleteLiveStream } from "../analytics/shows/liveStream.delete.js";
import { type LiveStreamPosition, listLiveStreams } from "../analytics/shows/liveStream.list.js";
import type { Database } from "../database/client.js";
import { count } from "../lib/text.js";
import { confirm, type ConfirmOptions } from "./terminal/confirm.js";
import { parseName } from "./terminal/name.js";
import { type OutputOptions, print } from "./terminal/output.js";
import { openRelay, withDatabase } from "./runtime.js";

const examples = `
Examples:
  npx vitrine show list acme --status LIVE
  npx vitrine show delete acme spring-show`;

const deleteHelp = `
A show with events needs --force. It is archived first, and its events are removed in batches: if the command is interrupted,
run it again. Subscriptions of the show end.

Examples:
  npx vitrine show delete acme spring-show
  npx vitrine show delete acme spring-show --force --yes`;

export function addShowCommands(program: Command): void {
  const show = program.command("show").description("live streams of a store").addHelpText("after", examples);
  addListCommand(show);
  addDeleteCommand(show);
}

function addListCommand(show: Command): void {
  show
    .command("list")
    .description("list the shows of a store, newest first; those that are scheduled come last")
    .argument("<store>", "its id", parseName)
    .addOption(new Option("--status <status>", "only shows in this status").choices(liveStreamStatuses))
    .option("--json", "print one JSON object")
    .addHelpText("after", "\nExample:\n  npx vitrine show list acme --status LIVE")
    .action(async (store: string, options: OutputOptions & { status?: LiveStreamStatus }) => {
      const liveStreams = await withDatabase(async (db) => {
        await requireStore(db, store);
        return listAll(db, store, options.status);
      });
      const lines = liveStreams.map(
        ({ id, status, startedAt, name }) => `${id}  ${status}  ${startedAt.toISOString()}  ${name}`,
      );
      const none = options.status === undefined ? "no live streams" : `no live streams that are ${options.status}`;
      await print({ store, liveStreams }, lines.length === 0 ? `Store ${store} has ${none}.` : lines, options);
    });
}

const pageSize = 1_000;

async function listAll(db: Database, store: string, status: LiveStreamStatus | undefined) {
  const all = [];
  let after: LiveStreamPosition | undefined;
  for (;;) {
    const { nodes, hasNextPage } = await listLiveStreams(db, store, { first: pageSize, after, status });
    for (const found of nodes) {
      const { id, name, startedAt } = found;
      all.push({ id, name, status: found.status, startedAt, ...timesOf(found) });
      after = { startedAt, id, isScheduled: found.status === "SCHEDULED" };
    }
    if (!hasNextPage) return all;
  }
}

function addDeleteCommand(show: Command): void {
  show
    .command("delete")
    .description("delete a show: without events, or by --force with them")
    .argument("<store>", "its id", parseName)
    .argument("<lsid>", "id of the live stream", parseName)
    .option("--force", "delete its events, too")
    .option("--yes", "do not ask")
    .option("--json", "print one JSON object")
    .addHelpText("after", deleteHelp)
    .action(
      async (
        store: string,
        lsId: string,
        options: OutputOptions & ConfirmOptions & { force?: boolean },
        command: Command,
      ) => {
        const { force } = options;
        const { events } = await withDatabase(async (db, config, database) => {
          await requireStore(db, store);
          const { name } = await findLiveStream(db, store, lsId);
          const what = force === true ? " and its events" : "";
          await confirm(command, `Delete live stream ${lsId} (${name})${what}?`, options);
          const relay = await openRelay(database, config);
          try {
            return await deleteLiveStream(db, store, lsId, { force: force === true });
          } finally {
            relay?.send(store, lsId);
            await relay?.close();
          }
        });
        const text = `Live stream ${lsId} was deleted, with ${count(events, "event")}.`;
        await print({ store, liveStream: lsId, events }, text, options);
      },
    );
}
