/** The fields of payloads that functions select: the gateway publishes these and nothing else. */
import type { z } from "zod";
import { mismatches } from "./malformed.ts";
import type { WebhookProvider, WebhookTrigger } from "./provider.ts";

/** What the functions of an installation select. */
export interface Selections {
  /** Providers by name. */
  readonly providers: ReadonlyMap<string, WebhookProvider>;
  /** The schemas of an event; empty if no function selects it. */
  of(provider: string, event: string): readonly z.ZodType[];
  /** Every selected event. */
  readonly events: readonly { readonly provider: string; readonly event: string }[];
}

/** What these triggers select. Throws a `TypeError` if two providers have the same name. */
export function selectionsOf(
  triggers: readonly WebhookTrigger[],
  builtIn: readonly WebhookProvider[],
): Selections {
  const providers = new Map(builtIn.map((provider) => [provider.name, provider]));
  const schemas = new Map<string, readonly z.ZodType[]>();
  const events: { readonly provider: string; readonly event: string }[] = [];
  for (const { provider, event, select } of triggers) {
    const { name } = provider;
    const other = providers.get(name);
    if (other !== undefined && other !== provider)
      throw new TypeError(
        `found two different providers of webhooks with the name "${name}": define it once and import it, or rename one`,
      );
    providers.set(name, provider);
    const key = keyOf(name, event);
    const found = schemas.get(key) ?? [];
    if (found.length === 0) events.push({ provider: name, event });
    if (!found.includes(select)) schemas.set(key, [...found, select]);
  }
  return {
    providers,
    events,
    of: (provider, event) => schemas.get(keyOf(provider, event)) ?? [],
  };
}

const keyOf = (provider: string, event: string): string => `${provider}/${event}`;

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
