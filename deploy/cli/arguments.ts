/** Parsers for command-line arguments. Each throws an `InvalidArgumentError`, which commander reports. */
import { InvalidArgumentError } from "commander";
import { didYouMean } from "denrei/values";

const units: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Parses an age (`90s`, `15m`, `2h`, `3d`) or an RFC 3339 time. */
export function pointInTime(text: string, now = Date.now()): Date {
  const [, count, unit = ""] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (count !== undefined) return new Date(now - Number(count) * (units[unit] ?? 0));
  if (/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/.test(text)) {
    const time = new Date(text);
    if (!Number.isNaN(time.getTime())) return time;
  }
  throw new InvalidArgumentError(
    "Expected an age such as 15m or 2h, or a time such as 2026-11-21T18:30:00Z.",
  );
}

/** Parses `owner/name`. */
export function repositoryName(text: string): { readonly owner: string; readonly repository: string } {
  const [, owner, repository] = /^([^/\s]+)\/([^/\s]+)$/.exec(text.toLowerCase()) ?? [];
  if (owner === undefined || repository === undefined)
    throw new InvalidArgumentError("Expected owner/name, such as acme/web.");
  return { owner, repository };
}

const wholeNumber =
  (most: number) =>
  (text: string): number => {
    if (!/^\d+$/.test(text) || Number(text) < 1 || Number(text) > most)
      throw new InvalidArgumentError(`Expected a whole number from 1 to ${most}.`);
    return Number(text);
  };

/** A number of workers. A larger number is a typing error: each worker is a process of 70 MB. */
export const workerCount = wholeNumber(100);

/** A number of nodes. */
export const nodeCount = wholeNumber(100);

/** A comma-separated list of these names. */
export const someOf =
  <T extends string>(names: readonly T[]) =>
  (text: string): T[] => {
    const found = text.split(",");
    const other = found.find((name) => !names.includes(name as T));
    if (other === undefined) return found as T[];
    throw new InvalidArgumentError(
      `Expected a comma-separated list of ${names.join(", ")}; found "${other}"${didYouMean(other, names)}.`,
    );
  };

/** One of these names. */
export const oneOf =
  (names: readonly string[]) =>
  (text: string): string => {
    if (names.includes(text)) return text;
    throw new InvalidArgumentError(`Expected one of ${names.join(", ")}${didYouMean(text, names)}.`);
  };

/** A port to listen on. */
export const portNumber = wholeNumber(65_535);

/** A number of seconds, at most a day. */
export const seconds = wholeNumber(86_400);

/** A number of lines. */
export const listLimit = wholeNumber(100_000);

/** The name of a namespace. */
export const namespaceName = (text: string): string => {
  if (!/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(text)) {
    throw new InvalidArgumentError("Expected lower-case letters, digits and dashes, at most 63.");
  }
  return text;
};

/** Collects the namespaces of a variadic argument. */
export const namespaceNames = (text: string, before: readonly string[] = []): string[] => [
  ...before,
  namespaceName(text),
];
