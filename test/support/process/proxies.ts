import { execFileSync, spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../until.js";

/** A proxy in front of a server, for one test. */
export interface Proxy {
  readonly port: number;
  close(): Promise<void>;
}

/** A proxy whose configuration can change, as an operator changes it: connections that are open keep the one before. */
export interface Nginx extends Proxy {
  reload(location: string): Promise<void>;
}

/** nginx with a `location` block of these lines; with TLS and HTTP/2 if wanted, under a certificate of its own. */
export async function startNginx(program: string, location: string, isTls = false, path = "/"): Promise<Nginx> {
  const folder = await mkdtemp(join(tmpdir(), "vt-nginx-"));
  const port = await freePort();
  if (isTls) {
    await makeCertificate(folder);
  }
  const tls = isTls ? `ssl_certificate ${folder}/cert.pem; ssl_certificate_key ${folder}/key.pem;` : "";
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const file = join(folder, "nginx.conf");
  const configure = (lines: string) =>
    writeFile(
      file,
      `daemon off; pid ${folder}/pid; error_log ${folder}/error.log; events {}
    http { access_log off; ${temporary.join(" ")}
      server { listen 127.0.0.1:${port}${isTls ? " ssl http2" : ""}; ${tls} location ${path} { ${lines} } } }`,
    );
  await configure(location);
  const proxy = await run(program, ["-p", folder, "-c", file, "-e", join(folder, "error.log")], folder, port);
  return {
    ...proxy,
    reload: async (lines) => {
      await configure(lines);
      process.kill(Number(await readFile(join(folder, "pid"), "utf8")), "SIGHUP");
    },
  };
}

/** HAProxy as Debian configures it, in front of a server, with more lines of configuration if wanted. */
export async function startHaproxy(program: string, serverPort: string, lines: readonly string[] = []): Promise<Proxy> {
  const folder = await mkdtemp(join(tmpdir(), "vt-haproxy-"));
  const port = await freePort();
  const config = `defaults
  mode http
  timeout connect 5000
  timeout client 50000
  timeout server 50000
listen vitrine
  bind 127.0.0.1:${port}
${lines.map((line) => `  ${line}\n`).join("")}  server one 127.0.0.1:${serverPort}
`;
  await writeFile(join(folder, "haproxy.cfg"), config);
  return run(program, ["-f", join(folder, "haproxy.cfg"), "-db"], folder, port);
}

/** nginx with a `server` block as an operator writes it, which listens on `port` with the certificate in these files. */
export async function startNginxSite(
  program: string,
  port: number,
  site: (files: Certificate) => string,
): Promise<Proxy> {
  const folder = await mkdtemp(join(tmpdir(), "vt-nginx-"));
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const file = join(folder, "nginx.conf");
  await writeFile(
    file,
    `daemon off; pid ${folder}/pid; error_log ${folder}/error.log; events {}
    http { access_log off; ${temporary.join(" ")}\n${site(await makeCertificate(folder))}\n}`,
  );
  return run(program, ["-p", folder, "-c", file, "-e", join(folder, "error.log")], folder, port);
}

/** HAProxy with a whole configuration as an operator writes it. */
export async function startHaproxySite(
  program: string,
  port: number,
  site: (files: Certificate) => string,
): Promise<Proxy> {
  const folder = await mkdtemp(join(tmpdir(), "vt-haproxy-"));
  await writeFile(join(folder, "haproxy.cfg"), site(await makeCertificate(folder)));
  return run(program, ["-f", join(folder, "haproxy.cfg"), "-db"], folder, port);
}

/** Paths of a certificate, of its key, and of both in one file. */
interface Certificate {
  readonly certificate: string;
  readonly key: string;
  readonly both: string;
}

async function makeCertificate(folder: string): Promise<Certificate> {
  const [certificate, key, both] = [join(folder, "cert.pem"), join(folder, "key.pem"), join(folder, "both.pem")];
  const subject = ["-subj", "/CN=localhost", "-days", "1", "-nodes"];
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]; // a thousand handshakes take little time
  execFileSync("openssl", ["req", "-x509", ...subject, ...curve, "-keyout", key, "-out", certificate], {
    stdio: "ignore",
  });
  await writeFile(both, (await readFile(certificate, "utf8")) + (await readFile(key, "utf8")));
  return { certificate, key, both };
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

export async function freePort(): Promise<number> {
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
