/**
 * Whether an object matches its desired state, although the API server has set defaults and others have added fields. Pure.
 */

type Json = Readonly<Record<string, unknown>>;

const isJson = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The API server omits empty values. */
const isNothing = (value: unknown): boolean =>
  value === null ||
  value === "" ||
  value === 0 ||
  value === false ||
  (Array.isArray(value) && value.length === 0) ||
  (isJson(value) && Object.values(value).every(isNothing));

/**
 * Fields whose values, or whose own fields, are quantities: the API server writes 1000m as 1, and 1024Mi as 1Gi. kpack's webhook
 * does the same to the `size` of a cache.
 */
const quantities = new Set(["requests", "limits", "size", "sizeLimit"]);

/** Fields that identify items of merged lists: the first one that all items have. */
const identities = ["uid", "name"];

/**
 * Whether `found` has everything in `desired`. Objects may have more fields, and lists whose items have a name more items.
 * Server-side apply merges such lists: https://kubernetes.io/docs/reference/using-api/server-side-apply/#merge-strategy
 */
export function matchesDesired(found: unknown, desired: unknown, field = "", within = ""): boolean {
  if (found === undefined || found === null) return desired === undefined || isNothing(desired);
  if (Array.isArray(desired)) return Array.isArray(found) && listMatchesDesired(found, desired);
  if (isJson(desired))
    return (
      isJson(found) &&
      Object.entries(desired).every(([name, value]) => matchesDesired(found[name], value, name, field))
    );
  if (found === desired) return true;
  return (
    (quantities.has(field) || quantities.has(within)) &&
    amountOf(found) !== undefined &&
    amountOf(found) === amountOf(desired)
  );
}

function listMatchesDesired(found: readonly unknown[], desired: readonly unknown[]): boolean {
  const identity = identities.find((name) =>
    desired.every((item) => isJson(item) && item[name] !== undefined),
  );
  if (identity === undefined)
    return found.length === desired.length && desired.every((item, at) => matchesDesired(found[at], item));
  return desired.every((item) => {
    const name = (item as Json)[identity];
    return found.some((one) => isJson(one) && one[identity] === name && matchesDesired(one, item));
  });
}

const powers: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  "": 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/**
 * The number that a quantity represents; undefined for other text.
 * https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
 */
export function amountOf(value: unknown): number | undefined {
  const [, number, exponent = "", suffix = ""] =
    /^([+-]?[0-9.]+)(?:([eE][+-]?[0-9]+)|([numkMGTPE]i?|Ki)?)$/.exec(String(value)) ?? [];
  const power = powers[suffix];
  if (number === undefined || power === undefined) return undefined;
  // Rounded: decimal fractions have no exact binary value.
  return Number((Number(`${number}${exponent}`) * power).toPrecision(12));
}
