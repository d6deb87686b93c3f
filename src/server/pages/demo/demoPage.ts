import { createPage, htmlPage } from "../page.js";
import { createTokenPage, type DemoToken, inScript } from "../pageToken.js";
import { picturedIds, pictureFile, pictureOf, picturePath } from "./pictures.js";
import { AppError } from "../../../errors.js";
import type { Route } from "../../http/exchange.js";
import { sendRestError } from "../../http/sendError.js";

export interface DemoShop {
  /** The demo store's public key. Besides pages of the service, those of `origins` may use it. */
  readonly key: string;
  readonly origins: readonly string[];
  readonly show: { readonly id: string; readonly name: string };
  readonly products: readonly { readonly id: string; readonly title: string; readonly price: number }[];
  readonly currency: string;
}

/** A shop with a running show. It uses the tracker as any shop would. @param token for its link to the dashboard */
function demoPage({ key, origins, show, products, currency }: DemoShop, token?: string): string {
  const fragment = token === undefined ? "" : `#token=${encodeURIComponent(token)}`;
  const dashboard = escaped(`dashboard?show=${encodeURIComponent(show.id)}${fragment}`);
  const money = new Intl.NumberFormat("en", { style: "currency", currency });
  const cards = products.map((product) => cardOf(product, money));
  const body = `<body>
<header>
  <p class="name">Demo shop</p>
  <p class="cart">Cart <output id="count" aria-label="Products in the cart">0</output></p>
  <a class="dashboard" href="${dashboard}" target="vitrine-dashboard" rel="noopener">Open the dashboard</a>
</header>
<main>
  <section class="show" aria-labelledby="show">
    <div class="screen">
      <video controls muted autoplay playsinline aria-label="Live video of the show: drawn, without sound"></video>
      <strong class="live">Live</strong>
    </div>
    <h1 id="show">${escaped(show.name)}</h1>
    <p>Everything here is made up, but what you do is measured as in a real shop: watch, pause, add to the cart, and see it
    on the <a href="${dashboard}" target="vitrine-dashboard" rel="noopener">dashboard</a> within a second.</p>
    <p id="status" role="status"></p>
    <p id="uncounted" role="alert" hidden></p>
  </section>
  <section aria-labelledby="products">
    <h2 id="products">In this show</h2>
    <ul>${cards.join("")}
    </ul>
  </section>
</main>
<script>
  window.vitrine = window.vitrine && vitrine.push ? vitrine : { q: [], push(c) { this.q.push(c) } }
  vitrine.push(["watch", "video"])
  const shop = ${inScript({ key, origins, show: show.id, products: products.map(({ id, title }) => ({ id, title })) })}
${script}</script>
<script async src="tracker/v1.js" data-key="${escaped(key)}" data-show="${escaped(show.id)}" data-channel="LIVE"></script>
</body>`;
  return htmlPage({ title: `${escaped(show.name)} – demo shop`, style, body });
}

function cardOf({ id, title, price }: DemoShop["products"][number], money: Intl.NumberFormat): string {
  return `
      <li>
        ${pictureOf(id)}
        <h3>${escaped(title)}</h3>
        <p>${money.format(price)}</p>
        <button type="button" data-product="${escaped(id)}">Add to cart<span class="unseen">: ${escaped(title)}</span></button>
      </li>`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}

const style = `
  :root {
    --ink: #1b1730; --soft: #5a5572; --ground: #f6f5fb; --card: #fff; --line: #dedaf0; --accent: #5b3df5; --on-accent: #fff;
    --picture: #ece8ff; --live: #c2213f; font: 1rem/1.55 system-ui, sans-serif;
  }
  @media (prefers-color-scheme: dark) {
    :root {
      --ink: #f1effa; --soft: #b3adcb; --ground: #14111f; --card: #1e1a2e; --line: #37314f; --accent: #b3a4ff;
      --on-accent: #17112f; --picture: #2a2442;
    }
  }
  * { box-sizing: border-box; }
  body { margin: 0 auto; padding: 0 1.25rem 3rem; max-width: 72rem; background: var(--ground); color: var(--ink); }
  header { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem 1.25rem; padding: 1rem 0; }
  header p { margin: 0; }
  .name { flex: 1; font-size: 1.25rem; font-weight: 700; letter-spacing: -.01em; }
  .cart output {
    display: inline-block; min-width: 1.75rem; padding: 0 .5rem; border-radius: 1rem; text-align: center; font-weight: 600;
    background: var(--picture);
  }
  a { color: var(--accent); }
  .dashboard {
    padding: .5rem 1rem; border-radius: .6rem; background: var(--accent); color: var(--on-accent); font-weight: 600;
    text-decoration: none;
  }
  main { display: grid; gap: 2rem; }
  @media (min-width: 60rem) { main { grid-template-columns: 3fr 2fr; } }
  .screen { position: relative; }
  video { display: block; width: 100%; aspect-ratio: 16 / 9; border-radius: .9rem; background: #241a52; }
  .live {
    position: absolute; top: .9rem; left: .9rem; padding: .1rem .7rem; border-radius: .4rem; background: var(--live); color: #fff;
    font-size: .85rem; letter-spacing: .04em; text-transform: uppercase;
  }
  h1 { margin: 1rem 0 .25rem; font-size: clamp(1.6rem, 4vw, 2.2rem); line-height: 1.15; letter-spacing: -.02em; }
  h2 { margin: 0 0 .75rem; font-size: 1.15rem; }
  .show p { margin: .25rem 0; max-width: 40rem; color: var(--soft); }
  .show #status { min-height: 1.6rem; color: var(--ink); font-weight: 600; }
  #uncounted { padding: .6rem 1rem; border: 1px solid var(--live); border-radius: .6rem; }
  ul { display: grid; grid-template-columns: repeat(auto-fill, minmax(9.5rem, 1fr)); gap: .9rem; margin: 0; padding: 0; list-style: none; }
  li { display: flex; flex-direction: column; padding: .8rem; background: var(--card); border: 1px solid var(--line); border-radius: .9rem; }
  li svg { aspect-ratio: 4 / 3; padding: .6rem; border-radius: .6rem; background: var(--picture); fill: var(--accent); fill-rule: evenodd; }
  h3 { margin: .6rem 0 0; font-size: 1rem; }
  li p { flex: 1; margin: 0 0 .6rem; color: var(--soft); }
  button {
    min-height: 2.5rem; border: 0; border-radius: .6rem; background: var(--accent); color: var(--on-accent); font: inherit;
    font-weight: 600; cursor: pointer;
  }
  button:active { transform: translateY(1px); }
  .unseen { position: absolute; overflow: hidden; width: 1px; height: 1px; clip-path: inset(50%); }
  :focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; }
`;

/**
 * Draws the show's video, fills the cart, and says if clicks are not counted. The page defines `shop` and `vitrine`.
 */
const script = `
  const part = (id) => document.getElementById(id)
  const titles = new Map(shop.products.map(({ id, title }) => [id, title]))

  let inCart = 0
  for (const button of document.querySelectorAll("button[data-product]")) {
    const { product } = button.dataset
    button.addEventListener("click", () => {
      vitrine.push(["addToCart", product])
      part("count").textContent = String(++inCart)
      part("status").textContent = titles.get(product) + " is in the cart. Look at the dashboard!"
    })
  }

  // The service refuses this if a proxy hides the page's address from it. Without events, nothing is stored.
  fetch("collect/v1", { method: "POST", body: JSON.stringify({ key: shop.key, show: shop.show, events: [] }) })
    .then(({ status }) => {
      if (status !== 403) return
      part("uncounted").hidden = false
      part("uncounted").textContent = "Nothing is counted at this address, because a proxy changes the Host header. Open " +
        shop.origins.join(" or ") + ", or let the proxy pass the header on."
    })
    .catch(() => undefined) // the tracker tries again anyway

  const canvas = Object.assign(document.createElement("canvas"), { width: 960, height: 540 })
  const brush = canvas.getContext("2d", { alpha: false })
  const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches
  const outlines = [...document.querySelectorAll("li svg path")].map((path) => new Path2D(path.getAttribute("d")))
  const shown = shop.products.map(({ title }) => title)

  function disc(x, y, radius, color) {
    brush.fillStyle = color
    brush.beginPath()
    brush.arc(x, y, radius, 0, 7)
    brush.fill()
  }
  function box(x, y, width, height, radius, color) {
    brush.fillStyle = color
    brush.beginPath()
    brush.roundRect(x, y, width, height, radius)
    brush.fill()
  }

  // A studio: a host who sways and speaks, and the product of the moment.
  function draw() {
    const seconds = performance.now() / 1000
    const time = isCalm ? 0 : seconds
    const wall = brush.createLinearGradient(0, 0, 960, 540)
    wall.addColorStop(0, "#3a2a8c")
    wall.addColorStop(0.6, "#7a3d8f")
    wall.addColorStop(1, "#d9735a")
    brush.fillStyle = wall
    brush.fillRect(0, 0, 960, 540)
    for (let lamp = 0; lamp < 7; lamp++) {
      const drift = Math.sin(time * 0.4 + lamp * 2)
      disc(80 + lamp * 140 + drift * 24, 110 + (lamp % 3) * 60 + drift * 12, 34 + (lamp % 2) * 22, "#ffffff12")
    }
    brush.fillStyle = "#241a52"
    brush.fillRect(0, 450, 960, 90)

    const sway = Math.sin(time * 1.3) * 10
    box(275 + sway, 235, 50, 80, 22, "#d89a78")
    box(205 + sway, 292, 190, 260, 70, "#ffb84d")
    disc(300 + sway * 1.2, 190, 70, "#e8b08e")
    brush.fillStyle = "#2b1a3d"
    brush.beginPath()
    brush.ellipse(300 + sway * 1.2, 152, 76, 50, 0, Math.PI, 0)
    brush.fill()
    const isBlinking = time % 4 > 3.85
    for (const side of [-26, 26]) box(295 + sway * 1.2 + side, 182, 10, isBlinking ? 2 : 12, 5, "#2b1a3d")
    box(286 + sway * 1.2, 220, 28, 6 + Math.abs(Math.sin(time * 5)) * 12, 8, "#8c3b4a")

    const number = Math.floor(seconds / 6) % shown.length
    const rise = isCalm ? 0 : Math.max(0, 1 - (seconds % 6) * 2) * 40
    box(520, 90 + rise, 340, 340, 28, "#fffffff0")
    brush.save()
    brush.translate(560, 100 + rise)
    brush.scale(4, 4)
    brush.fillStyle = "#5b3df5"
    brush.fill(outlines[number], "evenodd")
    brush.restore()
    brush.fillStyle = "#1b1730"
    brush.font = "600 30px system-ui, sans-serif"
    brush.textAlign = "center"
    brush.fillText(shown[number], 690, 402 + rise)
  }

  const video = document.querySelector("video")
  draw()
  setInterval(draw, isCalm ? 500 : 40)
  video.srcObject = canvas.captureStream()
  video.play().catch(() => undefined) // a browser may require a click first
`;

export const demoPath = "/demo";

/** Undefined if the service has no demo store. */
export type FindDemoShop = () => DemoShop | undefined;

/** Anybody may open the page. Only on this machine does its link contain a token for the dashboard. */
export function createDemoRoute(demoShop: FindDemoShop, demoToken: DemoToken): Route {
  let made: { readonly shop: DemoShop; readonly page: Route } | undefined;
  return (exchange) => {
    const shop = demoShop();
    if (shop === undefined) return sendRestError(exchange, noDemo());
    if (made?.shop !== shop) made = { shop, page: createTokenPage((token) => demoPage(shop, token), demoToken) };
    return made.page(exchange);
  };
}

/** Pictures of the demo store's products. */
export function pictureRoutes(demoShop: FindDemoShop): [path: string, route: Route][] {
  return picturedIds.map((id) => {
    const picture = createPage("image/svg+xml", () => pictureFile(id), { cacheControl: "public, max-age=3600" });
    return [
      picturePath(id),
      (exchange) => (demoShop() === undefined ? sendRestError(exchange, noDemo()) : picture(exchange)),
    ];
  });
}

const noDemo = () => new AppError("NOT_FOUND", "There is no demo store here.");
