import { htmlPage } from "../page.js";
import { inScript } from "../token.js";
import { pictureOf } from "./pictures.js";
import { script } from "./script.js";
import { style } from "./style.js";

export interface DemoShop {
  /** The demo store's public key, with the origins besides the service's own whose pages may use it. */
  readonly key: string;
  readonly origins: readonly string[];
  readonly show: { readonly id: string; readonly name: string };
  readonly products: readonly { readonly id: string; readonly title: string; readonly price: number }[];
  readonly currency: string;
}

/** A shop with a running show, which uses the tracker as any shop would. @param token opens the dashboard by a click */
export function demoPage({ key, origins, show, products, currency }: DemoShop, token?: string): string {
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
