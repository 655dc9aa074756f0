# The base image is named by its digest, because a tag can be moved.
ARG NODE_IMAGE=node:22.23.2-bookworm-slim@sha256:48e4b67d85f87bd551df43704e24d252f56cc5f8e9718841aace50f19948f0f9

# This stage builds, with all dependencies.
FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY widget/package.json ./widget/
RUN npm ci --loglevel=error --no-audit --no-fund --ignore-scripts
COPY tsconfig.json tsconfig.build.json tsconfig.migrations.json ./
COPY src ./src
COPY migrations ./migrations
COPY scripts/bundle.mjs ./scripts/
COPY widget ./widget
COPY scripts/docs ./scripts/docs
COPY docs ./docs
COPY README.md SECURITY.md CHANGELOG.md ./
COPY client/README.md ./client/
RUN npm run build:service && npm run build:widget && npm run build:docs

# The packages for running. Those of the widget are in its built files; the optional ones are native parts, such as the
# decoders of pictures.
FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --loglevel=error --no-audit --no-fund --ignore-scripts --omit=dev --workspaces=false
# Swagger's page comes with the package that makes the OpenAPI document, and is not served.
RUN rm -r node_modules/swagger-ui-dist

FROM ${NODE_IMAGE}
ENV NODE_ENV=production PORT=3000
WORKDIR /app
COPY package.json ./
COPY --from=dependencies /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
# A volume that is mounted here belongs to the user of the process.
RUN mkdir /files && chown node:node /files
USER node
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/health/live').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# ROLE is api, worker, or all (the default). The CLI: docker run … node dist/cli.js --help
# The option collects garbage earlier than Node's default: a busy worker holds 200 MB instead of 230 to 270.
CMD ["node", "--max-semi-space-size=8", "--heap-growing-percent=100", "dist/main.js"]
