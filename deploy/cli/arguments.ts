/** What may stand on a command line: each of these reads a text, and throws commander's error where it expected another. */
import { InvalidArgumentError } from "commander";

const units: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Reads `90s`, `15m`, `2h` or `3d` as so long ago, or an RFC 3339 time. */
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

/** Reads `owner/name`. */
export function repositoryName(text: string): { readonly owner: string; readonly repository: string } {
  const [, owner, repository] = /^([^/\s]+)\/([^/\s]+)$/.exec(text.toLowerCase()) ?? [];
  if (owner === undefined || repository === undefined)
    throw new InvalidArgumentError("Expected the owner and the name of a repository: acme/web.");
  return { owner, repository };
}

const wholeNumber =
  (most: number) =>
  (text: string): number => {
    if (!/^\d+$/.test(text) || Number(text) < 1 || Number(text) > most)
      throw new InvalidArgumentError(`Expected a whole number from 1 to ${most}.`);
    return Number(text);
  };

/** A number of workers. More would be a slip of the finger: each one is a process of 70 MB. */
export const workerCount = wholeNumber(100);

/** A number of nodes. */
export const nodeCount = wholeNumber(100);

/** Some of these names, separated by commas. */
export const someOf =
  <T extends string>(names: readonly T[]) =>
  (text: string): T[] => {
    const found = text.split(",");
    const other = found.find((name) => !names.includes(name as T));
    if (other === undefined) return found as T[];
    throw new InvalidArgumentError(
      `Expected some of ${names.join(", ")}, separated by commas; found "${other}".`,
    );
  };

/** A port to listen on. */
export const portNumber = wholeNumber(65_535);

/** A number of lines. */
export const listLimit = wholeNumber(100_000);

/** The name of a namespace. */
export const namespaceName = (text: string): string => {
  if (!/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(text)) {
    throw new InvalidArgumentError("Expected lower-case letters, digits and dashes, at most 63.");
  }
  return text;
};

/** One more of them. */
export const namespaceNames = (text: string, before: readonly string[] = []): string[] => [
  ...before,
  namespaceName(text),
];
