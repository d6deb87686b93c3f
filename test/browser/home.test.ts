// @tier all
import { expect, test } from "vitest";
import { expectAccessibleAs, expectClean, openAppInBrowser, screens, setLook } from "../support/browser/browser.js";
import { ofDay } from "../support/run/tier.js";

const { app, browser } = await openAppInBrowser();

test.each(ofDay(screens, 2))(
  "the first page names the service and leads to the others, each of which exists: %s",
  async (_, options, looks) => {
    const opened = await browser.open(app.url, options);
    await expect.poll(() => opened.page.getByRole("heading", { level: 1 }).textContent()).toBe("Vitrine");
    const commands = await opened.page.locator("main p code").allTextContents();
    expect(commands).toEqual(
      expect.arrayContaining(["npx vitrine store create STORE", "npx vitrine token issue STORE"]),
    );
    const links = await opened.page.getByRole("link").all();
    const paths = await Promise.all(links.map((link) => link.getAttribute("href")));
    expect(paths).toEqual(expect.arrayContaining(["graphql", "docs", "openapi.json", "healthz", "readyz"]));
    for (const path of paths) {
      const { status } = await fetch(`${app.url}/${path}`, { headers: { accept: "text/html" } });
      expect([path, status]).toEqual([path, 200]);
    }
    await opened.page.keyboard.press("Tab");
    await expect
      .poll(() => opened.page.evaluate("document.activeElement.getAttribute('href')"), { message: "by keyboard" })
      .toBe("graphql");
    for (const look of looks) {
      await setLook(opened.page, look);
      await expectAccessibleAs(look, opened);
      await opened.screenshot(`home.${look}`);
    }
    expectClean(opened);
    await opened.close();
  },
);
