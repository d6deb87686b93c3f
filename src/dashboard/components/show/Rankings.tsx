import type { ComponentChildren } from "preact";
import { deviceName, type FormatMoney, formatCount, formatShare } from "../../format.js";
import type { Kpis, ShowAnalytics, TopProductFigure } from "../../queries/show.js";
import { useState } from "preact/hooks";

interface RankingProps<Item> {
  readonly heads: readonly [name: string, figure: string];
  readonly isHeadHidden?: boolean;
  readonly items: readonly Item[];
  readonly keyOf: (item: Item) => string;
  readonly nameOf: (item: Item) => ComponentChildren;
  readonly figureOf: (item: Item) => string;
}

/** Named items, each with the figure by which they are ranked. */
export function Ranking<Item>({ heads, isHeadHidden, items, keyOf, nameOf, figureOf }: RankingProps<Item>) {
  return (
    <table class="ranking">
      <thead class={isHeadHidden === true ? "hidden" : undefined}>
        <tr>
          {heads.map((head) => (
            <th key={head} scope="col">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {items.map((item) => (
          <tr key={keyOf(item)}>
            <th scope="row">{nameOf(item)}</th>
            <td>{figureOf(item)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface TopProductsProps {
  readonly products: ShowAnalytics["topProducts"];
  /** The figure by which the products are ordered. */
  readonly by: TopProductFigure;
  /** Whether the token may read the catalog. */
  readonly withCatalog: boolean;
  readonly formatMoney?: FormatMoney;
  /** Beside the heading. */
  readonly children?: ComponentChildren;
}

const productHeads = { carts: "Added to cart", orders: "Orders", sales: "Sales" } as const;

/** The top products by a figure. Shows the id if the catalog has no title, or if the token may not read it. */
export function TopProducts({ products, by, withCatalog, formatMoney, children }: TopProductsProps) {
  const most = Math.max(1, ...products.map((product) => product[by]));
  const format = by === "sales" ? (formatMoney ?? formatCount) : formatCount;
  return (
    <section class="card" aria-labelledby="products-heading">
      <header class="card-header">
        <h2 id="products-heading">Top products</h2>
        {children}
      </header>
      {products.length === 0 ? (
        <p class="muted">No product has been put into a cart or ordered yet.</p>
      ) : (
        <Ranking
          heads={["Product", productHeads[by]]}
          items={products}
          keyOf={({ productId }) => productId}
          nameOf={(product) => <ProductName {...product} share={product[by] / most} />}
          figureOf={(product) => format(product[by])}
        />
      )}
      {!withCatalog && products.length > 0 && <CatalogHint />}
    </section>
  );
}

export function CatalogHint() {
  return (
    <p class="muted small">
      For titles and images, the access token needs the scope <code>catalog:read</code>.
    </p>
  );
}

interface ProductNameProps {
  readonly productId: string;
  /** Missing if the catalog does not have the product, or the token may not read it. */
  readonly product?: { readonly title: string; readonly featured_image?: string | null } | null | undefined;
  /** From 0 to 1, of the figure by which products are ordered. */
  readonly share: number;
}

export function ProductName({ productId, product, share }: ProductNameProps) {
  return (
    <>
      <span class="product">
        <ProductImage key={product?.featured_image} url={product?.featured_image} />
        <span class="name" dir="auto">
          {product?.title ?? productId}
        </span>
      </span>
      <Bar share={share} />
    </>
  );
}

/** Clients may report any text as a device, so we only count devices beyond this number. */
const shownMax = 6;

export function Devices({ devices }: { readonly devices: Kpis["devices"] }) {
  const others = devices.length - shownMax;
  const nameOf = ({ device, value }: Kpis["devices"][number]) => (
    <>
      <span class="name" dir="auto">
        {deviceName(device)}
      </span>
      <Bar share={value / 100} />
    </>
  );
  return (
    <section class="card" aria-labelledby="devices-heading">
      <h2 id="devices-heading">Devices</h2>
      <Ranking
        heads={["Device", "Share of viewers"]}
        isHeadHidden
        items={devices.slice(0, shownMax)}
        keyOf={({ device }) => device}
        nameOf={nameOf}
        figureOf={({ value }) => formatShare(value)}
      />
      {others > 0 && <p class="muted small">and {formatCount(others)} more</p>}
    </section>
  );
}

/** Hidden from screen readers, because the number next to it says the same. @param share from 0 to 1 */
export function Bar({ share }: { readonly share: number }) {
  return (
    <svg class="bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
      <rect width={share * 100} height="1" />
    </svg>
  );
}

/** Its host sees the user's address, but neither this page nor the token. An image that cannot be loaded is hidden. */
function ProductImage({ url }: { readonly url: string | null | undefined }) {
  const [isBroken, setBroken] = useState(false);
  const source = imageSource(url);
  if (source === undefined || isBroken) return <span class="image" aria-hidden="true" />;
  return (
    <img
      class="image"
      src={source}
      alt="" // the title follows it
      width="32"
      height="32"
      loading="lazy"
      decoding="async"
      referrerpolicy="no-referrer"
      onError={() => setBroken(true)}
    />
  );
}

/** Names of this machine. The demo's pictures use one of them, and the page may be open under another. */
const loopback = /^(?:localhost|127\.0\.0\.1|\[::1\])$/u;

/** The address of a product's image, if the page may load it: over HTTPS, without credentials, or from this server. */
function imageSource(url: string | null | undefined): string | undefined {
  if (url === null || url === undefined || !URL.canParse(url, "https://_")) return undefined;
  const { protocol, hostname, pathname, username, password, href } = new URL(url, "https://_"); // so `//host/path` is HTTPS, too
  if (protocol === "http:" && loopback.test(hostname)) return `.${pathname}`;
  return protocol === "https:" && username === "" && password === "" ? href : undefined;
}
