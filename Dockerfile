# syntax=docker/dockerfile:1
ARG NODE_IMAGE=node:20-bookworm-slim

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

FROM ${NODE_IMAGE}
USER node
WORKDIR /home/node
# The folder of the embedded database, which belongs to the user that serves; all else can only be read.
RUN mkdir data
COPY --from=dependencies /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY package.json LICENSE ./
COPY prisma/migrations ./prisma/migrations
ENV NODE_ENV=production HOST=0.0.0.0 PORT=4000 DATA_DIR=/home/node/data
VOLUME /home/node/data
EXPOSE 4000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --start-interval=1s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "dist/main.js"]
CMD ["serve"]
