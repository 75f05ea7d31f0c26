/** Stands for modules of Node that do something: cdk8s asks for them when it is loaded, and uses them for what a chart must not. */

const refuse = (name: string) => (): never => {
  throw new Error(
    `expected a chart to compute objects alone, found a call of ${name}. Charts read and write no files, start no programs, and ` +
      "reach no network, so Helm, Include, Yaml.load, and app.synth() of cdk8s do not work: write what you need into the chart, " +
      "and export the class of the chart as default instead of calling it.",
  );
};

const refused = new Proxy<Record<string, unknown>>(
  {},
  // Taken for a module with names of its own, it is not copied.
  { get: (_, name) => (typeof name === "symbol" ? undefined : name === "__esModule" || refuse(name)) },
);

export { refused as "module.exports" };
