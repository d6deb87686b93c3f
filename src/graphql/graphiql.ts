import { graphqlPath } from "./gateway.js";

/** GraphiQL, from an installed package: it loads nothing from another host. */
export async function graphiqlPage(): Promise<string> {
  const { renderGraphiQL } = await import("@graphql-yoga/render-graphiql"); // 9 MB, which a server without browsers need not load
  return renderGraphiQL({
    title: "Vitrine",
    endpoint: graphqlPath,
    defaultQuery: exampleQuery,
    headers: JSON.stringify({ "X-Service-Access-Token": "paste your access token here" }, null, 2),
  });
}

const exampleQuery = `# Paste your access token into the header editor below, then run this.
query Products {
  products(first: 5) {
    nodes {
      id
      sku
      title
      price
    }
  }
  liveStreams(first: 5) {
    nodes {
      id
      name
      status
    }
  }
}
`;
