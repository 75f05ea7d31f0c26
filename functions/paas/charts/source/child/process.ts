/** What is left of `process` for a chart, and for the packages that it uses. */

// Importing node:process would make its streams, which are sockets.
const { env, platform, version, versions } = process;
const start = performance.now();

/** Names are made as the first cdk8s made them: who comes from modoki-operator keeps the names of all objects. */
const charted = Object.freeze({
  env: Object.freeze({ ...env, CDK8S_LEGACY_HASH: "1" }),
  argv: Object.freeze([]),
  platform,
  version,
  versions,
  cwd: () => "/",
  emitWarning: () => undefined,
  nextTick: (call: (...args: unknown[]) => void, ...args: unknown[]) => queueMicrotask(() => call(...args)),
  uptime: () => (performance.now() - start) / 1000,
});

export { charted, charted as "module.exports" };
