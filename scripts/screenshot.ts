// `npm run screenshot`: writes docs/overview.png and docs/dashboard.png, the dashboard's overview of the demo store and its
// running show. It needs a Chromium, which TEST_CHROMIUM names (/usr/bin/chromium of Debian's package unless it does).
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const { PATH = "", TEST_CHROMIUM: executablePath = "/usr/bin/chromium" } = process.env;
const folder = await mkdtemp(join(tmpdir(), "vitrine-"));
const server = spawn(process.execPath, ["dist/main.js", "serve"], {
  env: { PATH, PORT: "0", DATA_DIR: folder, LOG_LEVEL: "warn" },
  stdio: ["ignore", "pipe", "inherit"],
});
const ended = once(server, "exit");

/** The address that the banner gives, which has the demo store's token. */
async function dashboardAddress(): Promise<string> {
  let printed = "";
  for await (const text of server.stdout.setEncoding("utf8")) {
    printed += String(text);
    const [, address] = /(\S+\/dashboard#token=\S+)\n/u.exec(printed) ?? [];
    if (address !== undefined) return address;
  }
  throw new Error(`The server did not start: ${printed}`);
}

try {
  const address = await dashboardAddress();
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  const page = await browser.newPage({ viewport: { width: 1280, height: 930 }, locale: "en-US" });
  await page.goto(address);
  await page.getByRole("region", { name: "Best products" }).getByRole("row").nth(3).waitFor();
  await page.screenshot({ path: "docs/overview.png" });
  await page.setViewportSize({ width: 1280, height: 1320 }); // down to the pictures of products
  await page.goto(address.replace("#", "?show=autumn-looks#"));
  await page.locator(".chart canvas").nth(3).waitFor();
  await page.getByText("Up to date").waitFor();
  await page.locator("img.image").first().waitFor();
  await page.screenshot({ path: "docs/dashboard.png" });
  await browser.close();
} finally {
  server.kill("SIGTERM");
  await ended;
  await rm(folder, { recursive: true, force: true });
}
