export function NoShows({ onNew }: { readonly onNew: (() => void) | undefined }) {
  return (
    <div class="empty card">
      <h1>No shows yet</h1>
      <p class="muted">
        A show appears here as soon as it is saved: by your shop, over <a href="graphql">GraphQL</a>
        {onNew !== undefined && ", or here"}.
      </p>
      {onNew === undefined ? (
        <p class="muted small">
          To create shows here, the access token needs the scope <code>shows:write</code>.
        </p>
      ) : (
        <button class="primary" type="button" onClick={onNew}>
          Create the first show
        </button>
      )}
    </div>
  );
}
