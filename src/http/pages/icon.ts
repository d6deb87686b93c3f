const drawing = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#5b3df5"/><path d="M7 13h18v11H7z" fill="#fff"/><path d="M6 8h20l2 5H4z" fill="#ffb84d"/><path d="M10 24v-7h5v7z" fill="#5b3df5"/></svg>`;

/** The icon of every page, a shop window, for `<link rel="icon" href="…">`: browsers would else ask for /favicon.ico. */
export const icon = `data:image/svg+xml,${encodeURIComponent(drawing)}`;
