/** Stands for an export that does not exist: most often a type. */

/** Throws when it is used for anything but its type. */
export function missing(specifier: string, name: string): unknown {
  const refuse = (): never => {
    throw new Error(
      `${specifier} has no export ${name}, or it is a type, of which nothing is left in a chart that runs`,
    );
  };
  const get = (_: unknown, key: string | symbol) => (typeof key === "symbol" ? undefined : refuse());
  return new Proxy(class {}, { get, apply: refuse, construct: refuse });
}
