// Loaded into a server with --import, by `npm run measure`: on SIGUSR2, writes the names of source files of which a function
// was called since it wrote the last ones, one a line, into the file CALLED_FILES. Threads report over a channel.
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { Session } from "node:inspector";
import { SourceMap } from "node:module";
import { relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { BroadcastChannel, isMainThread } from "node:worker_threads";

/** How long threads have to report. */
const threadsMs = 500;

const session = new Session();
session.connect();
session.post("Profiler.enable");
session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });

const channel = new BroadcastChannel("called files");
channel.unref();
const maps = new Map();

if (isMainThread) {
  const found = new Set();
  channel.addEventListener("message", ({ data }) => {
    for (const file of data.files ?? []) found.add(file);
  });
  process.on("SIGUSR2", () => {
    found.clear();
    for (const file of calledFiles()) found.add(file);
    channel.postMessage({});
    setTimeout(() => {
      const target = process.env.CALLED_FILES;
      writeFileSync(`${target}.new`, [...found].toSorted((one, other) => one.localeCompare(other)).join("\n"));
      calledFiles(); // forgets what timers called meanwhile
      channel.postMessage({});
      renameSync(`${target}.new`, target);
    }, threadsMs);
  });
} else {
  channel.addEventListener("message", ({ data }) => {
    if (data.files === undefined) channel.postMessage({ files: calledFiles() });
  });
}

/** Paths below the working folder, of the service's own sources. */
function calledFiles() {
  const files = new Set();
  session.post("Profiler.takePreciseCoverage", (error, coverage) => {
    if (error) throw error;
    for (const { url, functions } of coverage.result) {
      if (!url.includes("/dist/")) continue;
      const calls = functions.filter(({ functionName, ranges }) => functionName !== "" || ranges[0].startOffset > 0);
      for (const { ranges } of calls) {
        if (ranges[0].count > 0) files.add(sourceOf(url, ranges[0].startOffset));
      }
    }
  });
  return [...files].filter((file) => file?.startsWith("src/") && !file.startsWith("src/generated/"));
}

/** The source that a position in a built file stems from. */
function sourceOf(url, offset) {
  if (!maps.has(url)) maps.set(url, readMap(fileURLToPath(url)));
  const { map, lineStarts, folder } = maps.get(url);
  const line = lineStarts.findLastIndex((start) => start <= offset);
  const { originalSource } = map.findEntry(line, offset - lineStarts[line]);
  return originalSource && relative(".", resolve(folder, originalSource));
}

function readMap(file) {
  const text = readFileSync(file, "utf8");
  const lineStarts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lineStarts.push(at + 1);
  return {
    map: new SourceMap(JSON.parse(readFileSync(`${file}.map`, "utf8"))),
    lineStarts,
    folder: resolve(file, ".."),
  };
}
