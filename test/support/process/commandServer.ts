import { once } from "node:events";
import { createReadStream } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { cliIn } from "./cli.js";

interface CommandServer {
  /** A function of bash that stands for `npx`. It needs curl. */
  readonly npx: string;
  close(): Promise<void>;
}

/**
 * Runs each `npx vitrine` of a shell script in this process, in the script's folder and with its environment, standard input and
 * exit status. A process of its own would take 0.5 seconds of CPU time to start; a script of the documentation has several.
 */
export async function startCommandServer(): Promise<CommandServer> {
  const server = createServer((request, response) => {
    void (async () => {
      const files = decodeURIComponent((request.url ?? "").slice(1));
      const { folder, args, env } = commandOf(await buffer(request));
      const stdin = createReadStream(join(files, "stdin"));
      const { status, printed } = await cliIn({ folder, stdin }, args, env);
      stdin.destroy();
      for (const [index, { to, text }] of printed.entries()) {
        await writeFile(join(files, `printed.${String(index).padStart(6, "0")}.${to}`), text);
      }
      response.end(String(status));
    })().catch((error: unknown) => response.end(`255 # ${String(error)}`));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return {
    npx: npxOf(`http://127.0.0.1:${port}`),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** What a command prints is written once it has ended. */
const npxOf = (url: string) => `
npx() {
  [ "$1" = vitrine ] || return 127
  shift
  local files status part
  files=$(mktemp -d)
  cat >"$files/stdin"
  status=$({ printf '%s\\0' "$PWD" "$#" "$@"; env -0; } | curl -sS --data-binary @- "${url}/$files")
  for part in "$files"/printed.*; do
    case "$part" in *.stdout) cat "$part" ;; *.stderr) cat "$part" >&2 ;; esac
  done
  rm -rf "$files"
  return "$status"
}`;

/** What the function above sends: the folder, the number of arguments, the arguments, and the variables. */
function commandOf(body: Buffer) {
  const [folder = "", count, ...rest] = body.toString().split("\0").slice(0, -1);
  const variables = rest.slice(Number(count)).map((text) => {
    const at = text.indexOf("=");
    return [text.slice(0, at), text.slice(at + 1)] as const;
  });
  return { folder, args: rest.slice(0, Number(count)), env: Object.fromEntries(variables) };
}
