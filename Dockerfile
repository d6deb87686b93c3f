# syntax=docker/dockerfile:1
ARG NODE_IMAGE=node:24-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN --mount=type=cache,target=/root/.npm npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN node scripts/build.js

FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
# The optional packages are those of Prisma's command line, which production never runs: more than half of all bytes.
RUN --mount=type=cache,target=/root/.npm npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund
# Of Prisma's runtimes the one for PostgreSQL is loaded, with its client. Types and source maps are read by nobody here.
RUN find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \
  -o -path '*/@prisma/client/runtime/*' ! -name 'client.*js' ! -name 'query_compiler_*_bg.postgresql.*mjs' \) -delete

FROM ${NODE_IMAGE}
WORKDIR /app
# The folder of the embedded database belongs to the user that serves, `node`, who can only read all else. Mount a volume
# there to keep it; with DATABASE_URL nothing is written there.
RUN mkdir data && chown 1000:1000 data
COPY --from=dependencies /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY package.json LICENSE ./
COPY prisma/migrations ./prisma/migrations
ENV NODE_ENV=production HOST=0.0.0.0 PORT=4000 DATA_DIR=/app/data
USER node
EXPOSE 4000
# Whether the process is up, not whether it is ready: what restarts containers that are not healthy would end all servers
# while the database is away. /readyz is for balancers.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --start-interval=1s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "dist/main.js"]
CMD ["serve"]
