/**
 * A provider of webhooks: how its requests are signed, where they have the name of their event and the id of their delivery, and
 * which events exist. A function subscribes with `provider.on`.
 */
import type { z } from "zod";
import type { Find } from "../objects/indexes.ts";
import type { ObjectKey } from "../subjects.ts";
import { expectSelection } from "./selectable.ts";
import type { SignatureScheme } from "./signatures.ts";

/** A webhook, as functions receive it. */
export interface Webhook<E extends string = string, D = unknown> {
  /** The name of the provider: `github`. */
  readonly provider: string;
  readonly event: E;
  /** The sender's id of the delivery. The same webhook may arrive more than once. */
  readonly delivery: string;
  /** Owner of the repository, in lower case; for an installation, its account. Empty if the event has none. */
  readonly owner: string;
  /** Name of the repository in lower case; empty for events without one. */
  readonly repository: string;
  /** The selected fields of the payload. */
  readonly data: D;
  readonly traceparent: string | undefined;
}

/** Enqueues requests on webhooks of one event. Made by {@link Provider.on}. */
export interface WebhookTrigger {
  readonly provider: WebhookProvider;
  readonly event: string;
  /** The fields of the payload that go on the bus. */
  readonly select: z.ZodType;
  /** Runs in every replica: pure except for reads. */
  keys(webhook: Webhook, find: Find): readonly ObjectKey[] | Promise<readonly ObjectKey[]>;
}

/** Where a request has a text: in a header, or in a field of the body, as a dotted path. */
export type Place = { readonly header: string } | { readonly field: string };

/**
 * Which fields of a payload become the attributes of an event and its address on the bus, whatever functions select. Each list has
 * dotted paths. The first field with a text or number that the attribute can hold counts.
 */
export interface AttributeFields {
  /** The type without its suffix. Default: `dev.denrei.<provider>.<event>`. */
  readonly type?: string;
  /** The suffix of the type. */
  readonly ending?: readonly string[];
  /** A URI. Default: the path of the hook. */
  readonly source?: readonly string[];
  readonly subject?: readonly string[];
  /** RFC 3339, or seconds since the epoch. Default: the current time. */
  readonly time?: readonly string[];
  /** The first part of the address. */
  readonly owner?: readonly string[];
  /** The second part of the address. */
  readonly repository?: readonly string[];
  /** Both parts of the address in one field, as in `acme/web`. Takes precedence. */
  readonly fullName?: readonly string[];
  /** Refuses a webhook with text that the attribute cannot hold. Default: such text counts as absent. */
  readonly strict?: true;
}

/** What the gateway knows about a provider. */
export interface WebhookProvider {
  /** Lower-case letters, digits, and dashes. Hooks are served at `/<name>/<hook>`. */
  readonly name: string;
  readonly signature: SignatureScheme;
  readonly event: Place;
  /** The first place that has an id; `digest` stands for the SHA-256 of the body. */
  readonly delivery: readonly (Place | "digest")[];
  /** Events that only test a hook. They are answered, and never stored. */
  readonly pings: readonly string[];
  attributesOf(event: string): AttributeFields;
  /** Whether every gateway has it, without a function that defines it. */
  readonly isBuiltIn: boolean;
  /** Where users find deliveries at the sender, for error messages. */
  readonly deliveriesAt?: string | undefined;
}

/** Schemas of events, by name. */
export type EventSchemas = Readonly<Record<string, z.ZodType>>;

/** A provider with the names of its events. Those with a schema need no `select`. */
export interface Provider<Name extends string = string, Schemas extends EventSchemas = EventSchemas>
  extends WebhookProvider {
  /**
   * Subscribes a function to an event. `keys` returns the objects to reconcile. `select` is a zod object with the fields that the
   * function needs; the gateway drops all others. Throws a `TypeError` for a schema that does more than to select fields.
   */
  on<E extends keyof Schemas & Name>(
    event: E,
    options: {
      readonly select?: undefined;
      keys(webhook: Webhook<E, z.output<Schemas[E]>>, find: Find): ReturnType<WebhookTrigger["keys"]>;
    },
  ): WebhookTrigger;
  on<E extends Name, S extends z.ZodType>(
    event: E,
    options: {
      readonly select: S;
      keys(webhook: Webhook<E, z.output<S>>, find: Find): ReturnType<WebhookTrigger["keys"]>;
    },
  ): WebhookTrigger;
}

/** Events of a provider: their schemas by name, their names, or `any`. */
export type Events = EventSchemas | readonly string[] | "any";

/** The names of events. */
export type NamesOf<E extends Events> = E extends readonly (infer Name extends string)[]
  ? Name
  : E extends "any"
    ? string
    : keyof E & string;

/** The schemas of events. */
export type SchemasOf<E extends Events> = E extends readonly string[] | "any" ? Record<never, never> : E;

/** Options of {@link defineProvider}. */
export interface ProviderOptions<E extends Events> {
  /** Lower-case letters, digits, and dashes, at most 40. The path of its hooks and the names of its files of secrets begin with it. */
  readonly name: string;
  readonly signature: SignatureScheme;
  /** Where a request has the name of its event. */
  readonly event: Place;
  /** Where a request has the id of its delivery. Default: the SHA-256 of the body, so that equal bodies are one delivery. */
  readonly delivery?: Place | "digest" | readonly (Place | "digest")[];
  /** Its events. An event with a schema needs no `select`; with `any`, no name is checked. */
  readonly events: E;
  readonly pings?: readonly string[];
  readonly attributes?: AttributeFields | ((event: string) => AttributeFields);
  readonly deliveriesAt?: string;
}

const namePattern = /^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$/;

/**
 * Defines a provider of webhooks. Throws a `TypeError` for a name that no path can have, and for a schema that does more than to
 * select fields.
 *
 * @example
 * ```ts
 * const acme = defineProvider({
 *   name: "acme",
 *   signature: signatures.hmac({ header: "X-Acme-Signature" }),
 *   event: { header: "X-Acme-Event" },
 *   delivery: { header: "X-Acme-Delivery" },
 *   events: { "build.finished": z.object({ build: z.object({ id: z.number() }) }) },
 * });
 * ```
 */
export function defineProvider<const E extends Events>(
  options: ProviderOptions<E>,
): Provider<NamesOf<E>, SchemasOf<E>> {
  const { events } = options;
  if (typeof events === "object" && !Array.isArray(events))
    for (const [event, schema] of Object.entries(events))
      expectSelection(schema, `the event "${event}" of "${options.name}"`);
  return providerOf(options, false);
}

/** {@link defineProvider} for a provider that every gateway has, without the check of its schemas. */
export const builtInProvider = <const E extends Events>(
  options: ProviderOptions<E>,
): Provider<NamesOf<E>, SchemasOf<E>> => providerOf(options, true);

function providerOf<const E extends Events>(
  { name, delivery = "digest", pings = [], attributes = {}, events, ...rest }: ProviderOptions<E>,
  isBuiltIn: boolean,
): Provider<NamesOf<E>, SchemasOf<E>> {
  if (!namePattern.test(name))
    throw new TypeError(
      `expected a provider name of lower-case letters, digits, and dashes (at most 40, a letter first), found "${name}"`,
    );
  const schemas = typeof events === "object" && !Array.isArray(events) ? (events as EventSchemas) : {};
  const provider: Provider = {
    ...rest,
    name,
    isBuiltIn,
    delivery: Array.isArray(delivery) ? delivery : [delivery as Place],
    pings,
    attributesOf: (event) => (typeof attributes === "function" ? attributes(event) : attributes),
    on(event: string, options: { select?: z.ZodType | undefined; keys: WebhookTrigger["keys"] }) {
      const { select = Object.hasOwn(schemas, event) ? schemas[event] : undefined, keys } = options;
      if (select === undefined)
        throw new TypeError(`the event "${event}" of "${name}" has no schema: pass \`select\``);
      if (options.select !== undefined)
        expectSelection(options.select, `\`select\` of the event "${event}" of "${name}"`);
      return { provider, event, select, keys };
    },
  };
  return provider as Provider<NamesOf<E>, SchemasOf<E>>;
}
