// A process that runs one command of dist/ after the other, as its parent asks: starting one for each takes most of their time.
import { Writable } from "node:stream";

const main = new URL("../../../dist/main.js", import.meta.url);
let count = 0;
process.setMaxListeners(0); // each adds those of a process

process.on("message", (args) => {
  const printed = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) {
    const write = (chunk, _, done) => {
      printed[name] += String(chunk);
      done();
    };
    Object.defineProperty(process, name, { configurable: true, value: new Writable({ write }) });
  }
  process.argv.splice(1, Infinity, main.pathname, ...args);
  process.exitCode = undefined;
  count += 1;
  main.search = String(count); // so that it is evaluated again, with the same parts
  void import(main.href).then(() => process.send({ status: process.exitCode ?? 0, ...printed }));
});
