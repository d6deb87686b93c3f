export interface Example {
  readonly query: string;
  /** When the page is opened, a text like `{7 days ago}` is replaced with that time. */
  readonly variables: object;
}

/** The first contents of GraphiQL's tabs answer what people ask first, with ids of the demo store. */
export const examples: readonly Example[] = [
  {
    query: `# Run with Ctrl+Enter.
# The access token above is sent with it.
# What sold best in a show? The list has the
# ids of the latest ones.
query BestProducts($show: String!) {
  liveStreamAnalytics(lsId: $show) {
    name
    kpis {
      sales { total }
      orders { total }
      viewers { unique }
    }
    topProducts(first: 3, by: SALES) {
      product { title price }
      quantity
      sales
      carts
    }
  }
  liveStreams(first: 3, status: ENDED) {
    nodes { id name startedAt }
  }
}
`,
    variables: { show: "summer-sale" },
  },
  {
    query: `# The last seven days, against the seven before.
query WeekAgainstLast($from: DateTime!, $until: DateTime!) {
  storeAnalytics(from: $from, until: $until) {
    ...Week
    timeline(bucket: DAY) { startsAt sales orders }
    previous { ...Week }
  }
}

fragment Week on StoreAnalytics {
  from
  showCount
  currency
  kpis {
    sales { live replay referral total }
    orders { total }
    viewers { unique }
    conversionRate
  }
}
`,
    variables: { from: "{7 days ago}", until: "{0 days ago}" },
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
    query: `# A page of the catalog. For the next one, give the
# endCursor as "after"; for all of it as one file:
# GET /external/product/v1/bulk/csv
query ExportProducts($after: String) {
  products(first: 100, after: $after) {
    nodes {
      id
      sku
      title
      description
      price
      price_min
      price_max
      available
      images
      featured_image
      url
      updatedAt
    }
    pageInfo { hasNextPage endCursor }
    totalCount
  }
}
`,
    variables: { after: null },
  },
];
