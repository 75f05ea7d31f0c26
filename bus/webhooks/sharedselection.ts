/**
 * Selections of webhooks as data, so that the gateway of one project also publishes the fields that functions of others select.
 * They travel as JSON Schema, without requirements beyond types (formats, lengths, ranges): each function parses the published fields
 * again.
 */
import { z } from "zod";
import type { WebhookTrigger } from "./provider.ts";

/** A selection as JSON Schema, the parts that {@link selectionIn} reads. */
export type SelectionSchema = z.core.JSONSchema.JSONSchema;

/** The selection as data. */
export const selectionSchema = (select: z.ZodType): SelectionSchema =>
  z.toJSONSchema(select, { io: "input", unrepresentable: "any" }) as SelectionSchema;

/** An event that a function receives, with its selection as data. */
export interface SelectedEvent {
  /** The name of the provider. */
  readonly provider: string;
  /** The name of the event. */
  readonly event: string;
  /** The fields of the payload that go on the bus. */
  readonly select: SelectionSchema;
}

/** The event and the selection of a trigger. */
export const selectedEvent = ({
  provider,
  event,
  select,
}: Pick<WebhookTrigger, "provider" | "event" | "select">): SelectedEvent => ({
  provider: provider.name,
  event,
  select: selectionSchema(select),
});

/** A selection of the same fields as the schema's. */
export const selectionIn = (schema: SelectionSchema): z.ZodType => new Reader(schema).read(schema);

class Reader {
  readonly #root: SelectionSchema;
  readonly #references = new Map<string, z.ZodType>();

  constructor(root: SelectionSchema) {
    this.#root = root;
  }

  read(schema: boolean | SelectionSchema): z.ZodType {
    if (typeof schema === "boolean") return schema ? z.unknown() : z.never();
    const { $ref, anyOf, oneOf, allOf, not, enum: values, const: value, type } = schema;
    if ($ref !== undefined) return this.#reference($ref);
    const options = anyOf ?? oneOf;
    if (options !== undefined) return z.union(options.map((one) => this.read(one)));
    if (allOf !== undefined)
      return allOf.map((one) => this.read(one)).reduce((all, one) => z.intersection(all, one));
    if (not !== undefined) return z.never();
    if (values !== undefined) return z.literal(values as z.core.util.Literal[]);
    if (value !== undefined) return z.literal(value as z.core.util.Literal);
    const types = type === undefined ? [] : [type].flat();
    return types.length === 0 ? z.unknown() : z.union(types.map((one) => this.#typed(one, schema)));
  }

  #typed(type: string, schema: SelectionSchema): z.ZodType {
    switch (type) {
      case "object":
        return this.#object(schema);
      case "array":
        return this.#array(schema);
      case "string":
        return z.string();
      case "number":
      case "integer":
        return z.number();
      case "boolean":
        return z.boolean();
      case "null":
        return z.null();
      default:
        return z.unknown();
    }
  }

  #object({ properties = {}, required = [], additionalProperties: others }: SelectionSchema): z.ZodType {
    const fields = Object.entries(properties).map(([name, schema]): [string, z.ZodType] => {
      const field = this.read(schema);
      // The function that selects the field has a value for a missing or another one.
      if (typeof schema === "object" && "default" in schema) return [name, field.optional().catch(undefined)];
      return [name, required.includes(name) ? field : field.optional()];
    });
    const object = z.object(Object.fromEntries(fields));
    return others === undefined || others === false ? object : object.catchall(this.read(others));
  }

  #array({ items, prefixItems = [] }: SelectionSchema): z.ZodType {
    const rest = Array.isArray(items) || items === undefined ? z.unknown() : this.read(items);
    if (prefixItems.length === 0) return z.array(rest);
    const first = prefixItems.map((one) => this.read(one)) as [z.ZodType, ...z.ZodType[]];
    return items === undefined ? z.tuple(first) : z.tuple(first, rest);
  }

  /** `#`, or `#/$defs/<name>`. Definitions may be recursive. */
  #reference(reference: string): z.ZodType {
    const known = this.#references.get(reference);
    if (known !== undefined) return known;
    const target =
      reference === "#" ? this.#root : (this.#root.$defs?.[reference.replace("#/$defs/", "")] ?? false);
    let made: z.ZodType | undefined;
    const lazy = z.lazy(() => (made ??= this.read(target)));
    this.#references.set(reference, lazy);
    return lazy;
  }
}
