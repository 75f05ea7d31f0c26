/** The fields of payloads that functions select: the gateway publishes these and nothing else. */
import type { z } from "zod";
import { mismatches } from "./malformed.ts";
import type { WebhookProvider } from "./provider.ts";
import { type SelectedEvent, selectionIn } from "./sharedselection.ts";

/** What the functions of an installation select. */
export interface Selections {
  /** Providers by name. */
  readonly providers: ReadonlyMap<string, WebhookProvider>;
  /** The schemas of an event; empty if no function selects it. */
  of(provider: string, event: string): readonly z.ZodType[];
}

/** What functions select of webhooks from these providers. Throws a `TypeError` if two providers have the same name. */
export function selectionsOf(
  webhooks: readonly SelectedEvent[],
  providers: readonly WebhookProvider[],
): Selections {
  const byName = new Map<string, WebhookProvider>();
  for (const provider of providers) {
    const { name } = provider;
    if ((byName.get(name) ?? provider) !== provider)
      throw new TypeError(
        `found two different providers of webhooks with the name "${name}": define it once and import it, or rename one`,
      );
    byName.set(name, provider);
  }
  const schemas = schemasOf(webhooks);
  return {
    providers: byName,
    of: (provider, event) => schemas.get(keyOf(provider, event)) ?? [],
  };
}

/** The different schemas of each event. */
export function schemasOf(webhooks: readonly SelectedEvent[]): ReadonlyMap<string, readonly z.ZodType[]> {
  const byEvent = Map.groupBy(webhooks, ({ provider, event }) => keyOf(provider, event));
  return new Map(
    [...byEvent].map(([key, same]) => {
      const selects = new Map(same.map(({ select }) => [JSON.stringify(select), select]));
      return [key, [...selects.values()].map(selectionIn)];
    }),
  );
}

/** The key of an event in {@link schemasOf}. */
export const keyOf = (provider: string, event: string): string => `${provider}/${event}`;

/** The selected fields of a payload, or how it differs from every schema. */
export type Selected = { readonly data: unknown } | { readonly problems: readonly string[] };

/**
 * The union of what these schemas select. A payload that does not fit one of them is published for the others; the functions of the
 * former then drop it.
 */
export function selectFields(payload: unknown, schemas: readonly z.ZodType[]): Selected {
  const results = schemas.map((schema) => schema.safeParse(payload));
  const outputs = results.flatMap(({ success, data }) => (success ? [data] : []));
  if (outputs.length > 0) return { data: outputs.reduce(merged) };
  return {
    problems: [...new Set(results.flatMap(({ error }) => mismatches(error?.issues ?? [], payload)))],
  };
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The union of two selections of the same payload. */
function merged(one: unknown, other: unknown): unknown {
  if (Array.isArray(one) && Array.isArray(other))
    return one.length >= other.length
      ? one.map((item, at) => (at < other.length ? merged(item, other[at]) : item))
      : merged(other, one);
  if (!isObject(one) || !isObject(other)) return one === undefined ? other : one;
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  const fieldOf = (name: string): unknown => {
    if (!Object.hasOwn(one, name)) return other[name];
    return Object.hasOwn(other, name) ? merged(one[name], other[name]) : one[name];
  };
  return Object.fromEntries([...names].map((name) => [name, fieldOf(name)]));
}
