export interface Example {
  readonly query: string;
  readonly variables: object;
}

/** The first contents of GraphiQL's tabs, with ids of the demo store. */
export const examples: readonly Example[] = [
  {
    query: `# Run with Ctrl+Enter.
# The access token above is sent with it.
query Products($search: String) {
  products(first: 10, search: $search) {
    nodes {
      id
      sku
      title
      price
      available
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
`,
    variables: { search: "" },
  },
  {
    query: `# Run it twice: one with the same id is
# replaced as a whole.
mutation ImportProduct($product: ProductInput!) {
  importProduct(product: $product) {
    message
    imported
    created
    updated
  }
}
`,
    variables: {
      product: {
        id: "mug",
        sku: "M-1",
        title: "Mug",
        available: true,
        price: 12.5,
        featured_image: "https://shop.example/mug.jpg",
        url: "https://shop.example/mug",
      },
    },
  },
  {
    query: `# How a show performs.
query Analytics($show: String!) {
  liveStreamAnalytics(lsId: $show) {
    name
    startedAt
    durationSeconds
    kpis {
      sales { live replay total }
      orders { live replay total }
      viewers { live replay total unique }
      addToCart { live replay avg }
      conversionRate
      averageOrderValue
    }
    timeline(bucketSeconds: 300) {
      startsAt
      viewers
      orders
      sales
    }
    topProducts(first: 3) {
      productId
      carts
    }
  }
}
`,
    variables: { show: "autumn-looks" },
  },
  {
    query: `# Answers again whenever figures change,
# until it is stopped.
subscription LiveFigures($show: String!) {
  liveStreamAnalytics(lsId: $show) {
    durationSeconds
    kpis {
      viewers { total }
      orders { total }
      sales { total }
    }
  }
}
`,
    variables: { show: "autumn-looks" },
  },
];
