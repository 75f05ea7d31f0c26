/** Durations in Go's format: https://pkg.go.dev/time#ParseDuration */

const nanosOf: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  // The micro sign, and the Greek letter.
  "\u00b5s": 1_000n,
  "\u03bcs": 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const most = 2n ** 63n - 1n;
const part = /([0-9]*)(?:\.([0-9]*))?(ns|us|µs|μs|ms|s|m|h)/y;

/**
 * Parses a duration to nanoseconds. Returns undefined if Go would reject the text, or if the duration exceeds 64 bits. Like Go, it
 * truncates fractions of a nanosecond.
 */
export function nanosIn(text: string): bigint | undefined {
  const [, sign, rest] = /^([-+]?)(.+)$/s.exec(text) ?? [];
  if (rest === undefined) return undefined;
  if (rest === "0") return 0n;
  let nanos = 0n;
  part.lastIndex = 0;
  while (part.lastIndex < rest.length) {
    const [, whole = "", fraction = "", unit = ""] = part.exec(rest) ?? [];
    const scale = nanosOf[unit];
    if (scale === undefined || whole + fraction === "") return undefined;
    nanos += BigInt(whole || 0) * scale + (BigInt(fraction || 0) * scale) / 10n ** BigInt(fraction.length);
    if (nanos > most) return undefined;
  }
  return sign === "-" ? -nanos : nanos;
}
