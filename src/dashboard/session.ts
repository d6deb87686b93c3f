const key = "vitrine.token";

/** The access token that this tab already has: from the address, or from before the page was reloaded. */
export function readToken(): string | undefined {
  return takeTokenFromAddress() ?? attempt(() => sessionStorage.getItem(key)) ?? undefined;
}

/**
 * The access token that the address holds, `#token=…`, which is taken out of it at once. What stands behind # is never
 * sent to a server.
 */
export function takeTokenFromAddress(): string | undefined {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token === null) return undefined;
  history.replaceState(history.state, "", `${location.pathname}${location.search}`);
  if (!isSendable(token)) return undefined;
  keepToken(token);
  return token;
}

/** Keeps a token until the tab is closed; in its session storage and nowhere else. */
export function keepToken(token: string): void {
  attempt(() => sessionStorage.setItem(key, token));
}

export function forgetToken(): void {
  attempt(() => sessionStorage.removeItem(key));
}

/** Whether a header can hold it. */
export function isSendable(token: string): boolean {
  return /^[\x21-\x7e]+$/u.test(token);
}

/** Browsers may forbid storage: then the token lives until the page is reloaded. */
function attempt<Value>(use: () => Value): Value | undefined {
  try {
    return use();
  } catch {
    return undefined;
  }
}
