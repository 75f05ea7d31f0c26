/**
 * Decoding and formatting of quantities in kpack v0.17.2, as in apimachinery's `resource.Quantity`. Not simulated: numbers that it
 * keeps unchanged (`+1`, `007`, `5.`, `1E3`), and its upper limits.
 */

const wrongFormat =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const wrongSuffix = "unable to parse quantity's suffix";

const decimals = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
const binaries = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const nano = 10n ** 9n;

interface Parsed {
  /** The amount in billionths, rounded up. */
  readonly amount: bigint;
  readonly form: "decimal" | "binary" | "exponent";
}

/** Parses a quantity, or returns Go's error message. */
function parsed(value: unknown): Parsed | string {
  const text = typeof value === "number" ? String(value) : typeof value === "string" ? value.trim() : "";
  const match = /^([+-]?)([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)$/.exec(text);
  if (text === "" || match === null) return wrongFormat;
  const [, sign, whole = "", fraction = "", suffix = ""] = match;
  const exponent = /^[eE]([+-]?[0-9]+)$/.exec(suffix)?.[1];
  const [decimal, binary] = [decimals.indexOf(suffix), binaries.indexOf(suffix)];
  if (exponent === undefined && decimal < 0 && binary < 0) return wrongSuffix;
  const digits = BigInt(`${whole}${fraction}` || "0");
  const isBinary = binary > 0;
  const power = isBinary
    ? 0
    : exponent === undefined
      ? (decimal - decimals.indexOf("")) * 3
      : Number(exponent);
  const size = scaled(digits * (isBinary ? 1024n ** BigInt(binary) : 1n), power + 9 - fraction.length);
  return {
    amount: sign === "-" ? -size : size,
    form: isBinary ? "binary" : exponent === undefined ? "decimal" : "exponent",
  };
}

/** `value` × 10 ^ `power`, rounded up. */
function scaled(value: bigint, power: number): bigint {
  const factor = 10n ** BigInt(Math.abs(power));
  return power >= 0 ? value * factor : (value + factor - 1n) / factor;
}

/** Go's error message for an invalid quantity; otherwise undefined. */
export function quantityProblem(value: unknown): string | undefined {
  const result = parsed(value);
  return typeof result === "string" ? result : undefined;
}

/** Returns the stored and quoted form of a quantity: `3G` for `3000M`. Throws a `RangeError` on other values. */
export function canonicalQuantity(value: unknown): string {
  const result = parsed(value);
  if (typeof result === "string") throw new RangeError(`${JSON.stringify(value)}: ${result}`);
  const { amount, form } = result;
  if (amount === 0n) return "0";
  const units = amount / nano;
  if (form === "binary" && amount % nano === 0n && (units >= 1024n || units <= -1024n))
    return factored(units, 1024n, (count) => binaries[count] ?? "");
  return factored(amount, 1000n, (count) => {
    const at = count - decimals.indexOf("");
    return form !== "exponent" ? (decimals[count] ?? "") : at === 0 ? "" : `e${at * 3}`;
  });
}

function factored(value: bigint, base: bigint, suffix: (count: number) => string): string {
  let [rest, count] = [value, 0];
  while (rest % base === 0n) [rest, count] = [rest / base, count + 1];
  return `${rest}${suffix(count)}`;
}
