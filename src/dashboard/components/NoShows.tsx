const example = `mutation {
  saveLiveStream(liveStream: {
    id: "autumn-looks", name: "Autumn looks", status: LIVE,
    startedAt: "${new Date().toISOString().slice(0, 16)}:00Z"
  }) { id }
}`;

/** For a store that has not had a show yet. */
export function NoShows() {
  return (
    <div class="empty card">
      <h1>No shows yet</h1>
      <p class="muted">
        A show appears here as soon as it is saved. In <a href="/graphql">GraphiQL</a>, for instance:
      </p>
      <pre tabIndex={0}>
        <code>{example}</code>
      </pre>
    </div>
  );
}
