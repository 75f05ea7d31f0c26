/** Amounts of CPU and memory as text. Pure. */

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
