import { execFileSync, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "./process.js";

/** A proxy in front of a server, for one test. */
export interface Proxy {
  readonly port: number;
  close(): Promise<void>;
}

/** nginx with a `location /` block of these lines; with TLS and HTTP/2 if wanted, under a certificate of its own. */
export async function startNginx(program: string, location: string, isTls = false): Promise<Proxy> {
  const folder = await mkdtemp(join(tmpdir(), "vt-nginx-"));
  const port = await freePort();
  if (isTls) {
    const files = ["-keyout", join(folder, "key.pem"), "-out", join(folder, "cert.pem")];
    const subject = ["-subj", "/CN=localhost", "-days", "1", "-nodes", "-newkey", "rsa:2048"];
    execFileSync("openssl", ["req", "-x509", ...subject, ...files], { stdio: "ignore" });
  }
  const tls = isTls ? `ssl_certificate ${folder}/cert.pem; ssl_certificate_key ${folder}/key.pem;` : "";
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const config = `daemon off; pid ${folder}/pid; error_log ${folder}/error.log; events {}
    http { access_log off; ${temporary.join(" ")}
      server { listen 127.0.0.1:${port}${isTls ? " ssl http2" : ""}; ${tls} location / { ${location} } } }`;
  await writeFile(join(folder, "nginx.conf"), config);
  return run(program, ["-p", folder, "-c", join(folder, "nginx.conf"), "-e", join(folder, "error.log")], folder, port);
}

/** HAProxy as Debian configures it, in front of a server. */
export async function startHaproxy(program: string, serverPort: string): Promise<Proxy> {
  const folder = await mkdtemp(join(tmpdir(), "vt-haproxy-"));
  const port = await freePort();
  const config = `defaults
  mode http
  timeout connect 5000
  timeout client 50000
  timeout server 50000
listen vitrine
  bind 127.0.0.1:${port}
  server one 127.0.0.1:${serverPort}
`;
  await writeFile(join(folder, "haproxy.cfg"), config);
  return run(program, ["-f", join(folder, "haproxy.cfg"), "-db"], folder, port);
}

async function run(program: string, args: readonly string[], folder: string, port: number): Promise<Proxy> {
  const child = spawn(program, args, { stdio: ["ignore", "ignore", "inherit"] });
  const ended = new Promise((resolve) => child.once("close", resolve));
  await until(() => isListening(port), `${program} to listen`);
  return {
    port,
    close: async () => {
      child.kill();
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}
