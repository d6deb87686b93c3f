/** Each server has its own key, even below different paths of one host. GraphiQL uses the same token. */
const key = () => `vitrine.token ${new URL(".", location.href).pathname}`;
/** Set when the server has accepted the token. */
const acceptedKey = () => `${key()} accepted`;

/** The access token of this tab, from the address, or kept from before a reload. */
export function readToken(): string | undefined {
  return takeTokenFromAddress() ?? attempt(() => sessionStorage.getItem(key())) ?? undefined;
}

/** Takes the token out of `#token=…`, which browsers never send to a server. */
export function takeTokenFromAddress(): string | undefined {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token === null) return undefined;
  history.replaceState(history.state, "", `${location.pathname}${location.search}`);
  keepToken(token);
  return token;
}

/** Keeps a token until the tab is closed. */
export function keepToken(token: string): void {
  forgetToken();
  attempt(() => sessionStorage.setItem(key(), token));
}

export function forgetToken(): void {
  attempt(() => sessionStorage.removeItem(key()));
  attempt(() => sessionStorage.removeItem(acceptedKey()));
}

export function markAccepted(): void {
  attempt(() => sessionStorage.setItem(acceptedKey(), "yes"));
}

/** Whether the server has accepted the kept token, now or before a reload. */
export function wasAccepted(): boolean {
  return attempt(() => sessionStorage.getItem(acceptedKey())) === "yes";
}

/** Whether it is valid in a header. */
export function isSendable(token: string): boolean {
  return /^[\x21-\x7e]+$/u.test(token);
}

/** A token is `vt_` and 256 bits in base64url. The demo's token may be any other text. */
const prefix = "vt_";
const tokenCharacters = 46;

/** Says why the server refuses a token, or why it cannot be sent, if we know that, and what to do. */
export function whyRefused(token: string, isAccepted: boolean): string {
  if (isAccepted) return "The access token no longer works: it was revoked or has expired. Enter another one.";
  const again = "Copy the whole link or token again.";
  if (token === "") return `The link has no access token. ${again}`;
  const { length } = token;
  if (token.startsWith(prefix) && length !== tokenCharacters) {
    const problem = length < tokenCharacters ? "incomplete" : "too long";
    return `The access token is ${problem}: it has ${length} characters, and should have ${tokenCharacters}. ${again}`;
  }
  if (!isSendable(token) || (token.startsWith(prefix) && !/^[\w-]+$/u.test(token))) {
    return `The access token is mistyped: it has characters that no token has. ${again}`;
  }
  return "The server does not know this access token: it may be mistyped or for another server, or it no longer works. Copy it again, or ask whoever runs the server for a new one.";
}

/** If the browser forbids storage, the token is lost on reload. */
function attempt<Value>(use: () => Value): Value | undefined {
  try {
    return use();
  } catch {
    return undefined;
  }
}
