/** The restricted `process` of a chart and of the packages that it uses. */

// Importing node:process would create its streams, which are sockets.
const { env, platform, version, versions } = process;
const start = performance.now();

/** CDK8S_LEGACY_HASH generates names as the first cdk8s did, so objects from modoki-operator keep their names. */
const restrictedProcess = Object.freeze({
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

export { restrictedProcess as charted, restrictedProcess as "module.exports" };
