/**
 * Quantities of CPU and memory. Pure.
 * https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
 */

const factors: Readonly<Record<string, number>> = {
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

/** The value of a quantity, such as 0.1 for `100m`; undefined if it is none. */
export function quantity(text: string | number | undefined): number | undefined {
  const [, digits = "", suffix = ""] =
    /^([+-]?\d*\.?\d+(?:[eE][+-]?\d+)?|[+-]?\d+\.)([a-zA-Z]*)$/.exec(String(text ?? "")) ?? [];
  const factor = factors[suffix];
  return digits === "" || factor === undefined ? undefined : Number(digits) * factor;
}

/** CPU cores as Kubernetes writes them: `12m`, `1.5`. */
export function cpuText(cores: number): string {
  const milli = Math.round(cores * 1000);
  return milli < 1000 ? `${milli}m` : String(Math.round(milli / 10) / 100);
}

const units = ["B", "KiB", "MiB", "GiB", "TiB"] as const;

/** Bytes in a binary unit: `45 MiB`, `1.5 GiB`. */
export function memoryText(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 2 ** (10 * power);
  return `${value < 10 && power > 2 ? value.toFixed(1) : Math.round(value)} ${units[power]}`;
}
