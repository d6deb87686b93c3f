/** For a store that has not had a show yet. */
export function NoShows({ onNew }: { readonly onNew: () => void }) {
  return (
    <div class="empty card">
      <h1>No shows yet</h1>
      <p class="muted">
        A show appears here as soon as it is saved: by your shop, over <a href="graphql">GraphQL</a>, or here.
      </p>
      <button class="primary" type="button" onClick={onNew}>
        Create the first show
      </button>
    </div>
  );
}
