/** Stands for modules of Node that do something: cdk8s asks for them when it is loaded, and uses them for what a chart must not. */

const refuse = (name: string) => (): never => {
  throw new Error(
    `expected a chart to compute objects alone, found a call of ${name}. ` +
      "Charts read no files, start no programs and ask nobody: write what you need into the chart.",
  );
};

const refused = new Proxy<Record<string, unknown>>(
  {},
  // Taken for a module with names of its own, it is not copied.
  { get: (_, name) => (typeof name === "symbol" ? undefined : name === "__esModule" || refuse(name)) },
);

export { refused as "module.exports" };
