import { type Command, Option } from "commander";
import { findLiveStream, type LiveStreamStatus, liveStreamStatuses, timesOf } from "../../shows/liveStream.js";
import { deleteLiveStream } from "../../shows/liveStream.delete.js";
import { type LiveStreamPosition, listLiveStreams } from "../../shows/liveStream.list.js";
import type { Database } from "../../database/client.js";
import { count } from "../../lib/text.js";
import { withRelay, withStore } from "../runtime.js";
import { addCommand, addGroup, confirm, type ConfirmOptions } from "../terminal/command.js";
import { type OutputOptions, print } from "../terminal/output.js";
import { addMomentsCommand } from "./momentsCommand.js";

const examples = `
Examples:
  npx vitrine show list acme --status LIVE
  npx vitrine show moments acme spring-show pins.csv
  npx vitrine show delete acme spring-show`;

const deleteHelp = `
A show with events needs --force. The command first archives it, then removes its events in batches: if it is interrupted, run it
again. Subscriptions of the show end.

Examples:
  npx vitrine show delete acme spring-show
  npx vitrine show delete acme spring-show --force --yes`;

export function addShowCommands(program: Command): void {
  const show = addGroup(program, "show", "live streams of a store", examples);
  const listing = "list the shows of a store, newest first and scheduled ones last";
  addCommand(show, "list <store>", listing, "show list acme --status LIVE")
    .addOption(new Option("--status <status>", "only shows in this status").choices(liveStreamStatuses))
    .action(async (store: string, options: OutputOptions & { status?: LiveStreamStatus }) => {
      const liveStreams = await withStore(store, (db) => listAll(db, store, options.status));
      const lines = liveStreams.map(
        ({ id, status, startedAt, name }) => `${id}  ${status}  ${startedAt.toISOString()}  ${name}`,
      );
      const none = options.status === undefined ? "no live streams" : `no live streams that are ${options.status}`;
      await print({ store, liveStreams }, lines.length === 0 ? `Store ${store} has ${none}.` : lines, options);
    });
  addMomentsCommand(show);
  addCommand(show, "delete <store> <lsid>", "delete a show; with --force also one that has events", deleteHelp)
    .option("--force", "delete its events, too")
    .option("--yes", "do not ask")
    .action(deleteAfterAsking);
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

type DeleteOptions = OutputOptions & ConfirmOptions & { readonly force?: boolean };

async function deleteAfterAsking(store: string, lsId: string, options: DeleteOptions, command: Command) {
  const { force = false } = options;
  const { events } = await withStore(store, async (db, config, database) => {
    const { name } = await findLiveStream(db, store, lsId);
    await confirm(command, `Delete live stream ${lsId} (${name})${force ? " and its events" : ""}?`, options);
    return withRelay(database, config, (changed) =>
      deleteLiveStream(db, store, lsId, { force }).finally(() => changed(store, lsId)),
    );
  });
  const text = `Live stream ${lsId} was deleted, with ${count(events, "event")}.`;
  await print({ store, liveStream: lsId, events }, text, options);
}
