/** Replaces modules of Node with side effects: cdk8s imports them when it is loaded, but charts must not use them. */

const refuse = (name: string) => (): never => {
  throw new Error(
    `charts can only compute objects, and cannot call ${name}. They cannot access files, start programs, or reach the ` +
      "network, so Helm, Include, Yaml.load, and app.synth() of cdk8s do not work: copy what you need into the chart, " +
      "and export the chart's class as default instead of calling it.",
  );
};

const refused = new Proxy<Record<string, unknown>>(
  {},
  // With __esModule, bundlers do not copy the exports.
  { get: (_, name) => (typeof name === "symbol" ? undefined : name === "__esModule" || refuse(name)) },
);

export { refused as "module.exports" };
