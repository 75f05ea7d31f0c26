/** Webhooks as CloudEvents, with the {@link selectFields selected} fields of their payload as data. */
import { type CloudEventV1, V1 } from "cloudevents";
import type { z } from "zod";
import { newTrace } from "../tracing/trace.ts";
import { attributeText, misformedAttributes } from "./attributes.ts";
import { MalformedPayloadError, valueAt } from "./malformed.ts";
import type { AttributeFields, WebhookProvider } from "./provider.ts";
import { selectFields } from "./selection.ts";

/** A delivery with a verified signature. */
export interface WebhookDelivery {
  readonly provider: WebhookProvider;
  /** The last part of the hook's URL. */
  readonly hook: string;
  readonly event: string;
  /** The sender's id of the delivery. */
  readonly delivery: string;
  /** The parsed body. Not retained. */
  readonly payload: unknown;
  /** What functions select of it. */
  readonly schemas: readonly z.ZodType[];
  readonly now: Date;
  /** The trace to continue. Without it the event starts one. */
  readonly traceparent?: string;
}

/** A webhook as an event, with its address. */
export interface AdaptedWebhook {
  readonly event: CloudEventV1<unknown>;
  /** In lower case, because GitHub's names and those of others are case-insensitive. Empty if the payload has none. */
  readonly owner: string;
  readonly repository: string;
}

/** Converts a webhook to an event. Throws {@link MalformedPayloadError}. */
export function adaptWebhook(webhook: WebhookDelivery): AdaptedWebhook {
  const { provider, hook, event: name, delivery, payload, schemas, now, traceparent = newTrace() } = webhook;
  const selected = selectFields(payload, schemas);
  if ("problems" in selected) throw new MalformedPayloadError(name, selected.problems, provider);
  const fields = provider.attributesOf(name);
  const texts = new Texts(payload, fields.strict === true);
  const { type = typeOf(provider.name, name) } = fields;
  const ending = texts.first(fields.ending);
  const source = texts.first(fields.source, { format: sourceFormat });
  const subject = texts.first(fields.subject);
  const time = texts.first(fields.time, { write: timeText, format: timeFormat });
  const address = addressOf(fields, texts);
  texts.check("the id of the delivery", delivery);
  if (texts.problems.length > 0) throw new MalformedPayloadError(name, texts.problems, provider);
  const event = {
    specversion: V1,
    id: delivery,
    type: ending === undefined ? type : `${type}.${ending.text}`,
    source: source?.text ?? `/${provider.name}/${hook}`,
    ...(subject && { subject: subject.text }),
    time: time?.text ?? now.toISOString(),
    datacontenttype: "application/json",
    traceparent,
    data: selected.data,
  };
  const wrong = misformedAttributes(event);
  if (wrong.length > 0) {
    const fieldOf = { source: source?.field, time: time?.field };
    throw new MalformedPayloadError(name, misformed(wrong, fieldOf), provider);
  }
  return { event, owner: address.owner, repository: address.repository };
}

const typeOf = (provider: string, event: string): string =>
  `dev.denrei.${provider}.${event.toLowerCase().replaceAll(/[^a-z0-9._-]+/g, "_")}`;

function addressOf(fields: AttributeFields, texts: Texts): Pick<AdaptedWebhook, "owner" | "repository"> {
  const path = texts.first(fields.fullName)?.text.toLowerCase();
  if (path !== undefined) {
    const slash = path.lastIndexOf("/");
    return { owner: path.slice(0, Math.max(slash, 0)), repository: path.slice(slash + 1) };
  }
  const partOf = (names: readonly string[] | undefined) => texts.first(names)?.text.toLowerCase() ?? "";
  return { owner: partOf(fields.owner), repository: partOf(fields.repository) };
}

/** The format of a time that the SDK accepts. */
const timeFormat = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
/** A part of the URI references. */
const sourceFormat = /^[^\s<>"{}|\\^`]+$/;

/** How to read the text of an attribute. */
interface Reading {
  readonly write?: (value: string | number) => string;
  readonly format?: RegExp;
}

/** Reads the texts of a payload, and collects what is wrong with them. */
class Texts {
  readonly #payload: unknown;
  readonly #strict: boolean;
  readonly problems: string[] = [];

  constructor(payload: unknown, strict: boolean) {
    this.#payload = payload;
    this.#strict = strict;
  }

  /** The first field that the attribute can hold. */
  first(
    fields: readonly string[] = [],
    { write = String, format = attributeText }: Reading = {},
  ): { readonly field: string; readonly text: string } | undefined {
    let first: { readonly field: string; readonly text: string } | undefined;
    for (const field of fields) {
      const value = valueAt(this.#payload, pathOf(field));
      if (typeof value !== "string" && typeof value !== "number") continue;
      const set = { field, text: write(value) };
      if (attributeText.test(set.text) && format.test(set.text)) return set;
      first ??= set;
    }
    if (first === undefined || !this.#strict) return undefined;
    this.check(first.field, first.text);
    return first;
  }

  check(field: string, text: string): void {
    if (!attributeText.test(text))
      this.problems.push(`${field}: expected text without control characters, found other text or none`);
  }
}

/** Returns text unchanged; numbers are seconds since the epoch. */
function timeText(time: string | number): string {
  const date = new Date(Number(time) * 1000);
  return typeof time === "number" && !Number.isNaN(date.getTime()) ? date.toISOString() : String(time);
}

/** Problems of attributes, by the fields that made them: formats of source and time. */
const misformed = (attributes: readonly string[], fields: Record<string, string | undefined>): string[] =>
  attributes.map(
    (attribute) =>
      `${fields[attribute] ?? attribute}: expected the format of the attribute ${attribute}, found other text`,
  );

/** The steps of dotted paths, by path. The paths of a provider are fixed. */
const paths = new Map<string, readonly string[]>();

function pathOf(field: string): readonly string[] {
  const known = paths.get(field);
  if (known !== undefined) return known;
  const path = field.split(".");
  paths.set(field, path);
  return path;
}
