/** Stands in for an export that does not exist, usually a type. */

/** Throws when it is used as a value. */
export function missing(specifier: string, name: string): unknown {
  const refuse = (): never => {
    throw new Error(`${specifier} has no export ${name}, or it is a type, which does not exist at run time`);
  };
  const get = (_: unknown, key: string | symbol) => (typeof key === "symbol" ? undefined : refuse());
  return new Proxy(class {}, { get, apply: refuse, construct: refuse });
}
