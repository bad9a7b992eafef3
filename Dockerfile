# Image of the service; see docs/operations.md. It needs glibc, not musl, because secp256k1 is built for glibc.
ARG NODE_IMAGE=node:24-trixie-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY scripts/packages scripts/packages
RUN npm ci --ignore-scripts --omit=dev
COPY . .
RUN npm run build -- --service
RUN npm run prune

FROM ${NODE_IMAGE}
WORKDIR /app
# Debian's libsecp256k1 signs 1.4 times as fast as the npm addon. The regular expression is needed because its number differs between Debian releases.
RUN apt-get update \
  && apt-get install -y --no-install-recommends '^libsecp256k1-[0-9]+$' \
  && rm -rf /var/lib/apt/lists/*
# With EMBEDDED_DB=1 this folder holds the records; with compose.yaml it holds the signing key. A new volume gets the folder's owner.
RUN mkdir /data && chown node:node /data
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data LOG_FORMAT=json
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json LICENSE ./
COPY scripts/trigpoint.mjs scripts/
USER node
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=30s --timeout=5s --start-period=15s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "--max-semi-space-size=8", "--no-parallel-scavenge", "scripts/trigpoint.mjs"]
CMD ["serve"]
