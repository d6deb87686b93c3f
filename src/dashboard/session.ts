const key = "vitrine.token";

/** The access token of this tab: from the address, or kept before a reload. */
export function readToken(): string | undefined {
  return takeTokenFromAddress() ?? attempt(() => sessionStorage.getItem(key)) ?? undefined;
}

/** Takes the access token out of the address, `#token=…`. Browsers never send the fragment to a server. */
export function takeTokenFromAddress(): string | undefined {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token === null) return undefined;
  history.replaceState(history.state, "", `${location.pathname}${location.search}`);
  if (!isSendable(token)) return undefined;
  keepToken(token);
  return token;
}

/** Keeps a token in session storage, until the tab is closed. */
export function keepToken(token: string): void {
  attempt(() => sessionStorage.setItem(key, token));
}

export function forgetToken(): void {
  attempt(() => sessionStorage.removeItem(key));
}

/** Whether it is valid in a header. */
export function isSendable(token: string): boolean {
  return /^[\x21-\x7e]+$/u.test(token);
}

/** Browsers may forbid storage: the token is then lost on reload. */
function attempt<Value>(use: () => Value): Value | undefined {
  try {
    return use();
  } catch {
    return undefined;
  }
}
