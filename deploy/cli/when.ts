/** Points in time on a command line. */
import { InvalidArgumentError } from "commander";

const units: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Reads `90s`, `15m`, `2h` or `3d` as so long ago, or an RFC 3339 time. Throws commander's error on anything else. */
export function pointInTime(text: string, now = Date.now()): Date {
  const [, count, unit = ""] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (count !== undefined) return new Date(now - Number(count) * (units[unit] ?? 0));
  if (/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/.test(text)) {
    const time = new Date(text);
    if (!Number.isNaN(time.getTime())) return time;
  }
  throw new InvalidArgumentError(
    'Expected how long ago, such as "15m" or "2h", or a time such as 2026-11-21T18:30:00Z.',
  );
}

/** Reads `owner/name`. Throws commander's error on anything else. */
export function repositoryName(text: string): { readonly owner: string; readonly repository: string } {
  const [, owner, repository] = /^([^/\s]+)\/([^/\s]+)$/.exec(text.toLowerCase()) ?? [];
  if (owner === undefined || repository === undefined)
    throw new InvalidArgumentError("Expected the owner and the name of a repository: acme/web.");
  return { owner, repository };
}
