import { useState } from "preact/hooks";

/** Its host learns of the viewer, but neither of this page nor its token. An image that cannot be loaded is left out. */
export function ProductImage({ url }: { readonly url: string | null | undefined }) {
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

/** Names of the machine that asks: the demo's pictures have one of them, and the page may be open under another. */
const loopback = /^(?:localhost|127\.0\.0\.1|\[::1\])$/u;

/** The address of a product's image, if the page may load it: over HTTPS, without credentials, or from this server. */
function imageSource(url: string | null | undefined): string | undefined {
  if (url === null || url === undefined || !URL.canParse(url, "https://_")) return undefined;
  const { protocol, hostname, pathname, username, password, href } = new URL(url, "https://_"); // `//host/path` is over HTTPS too
  if (protocol === "http:" && loopback.test(hostname)) return `.${pathname}`;
  return protocol === "https:" && username === "" && password === "" ? href : undefined;
}
