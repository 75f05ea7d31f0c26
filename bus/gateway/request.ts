/** Reads the parts of a request: its content type, the name of its event, the id of its delivery, and its payload. */
import { createHash } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { valueAt } from "../webhooks/malformed.ts";
import type { Place, WebhookProvider } from "../webhooks/provider.ts";

/** How a body contains its payload. */
export type ContentType = "json" | "form";

/** The content types that the gateway accepts. */
export const contentTypes: Readonly<Record<string, ContentType>> = {
  "application/json": "json",
  "application/x-www-form-urlencoded": "form",
};

/** Undefined for a type that the gateway does not accept. */
export function contentTypeOf({ headers }: Pick<IncomingMessage, "headers">): ContentType | undefined {
  const [type = ""] = (headers["content-type"] ?? "").split(";", 1);
  return contentTypes[type.trim().toLowerCase()];
}

/** Ids become headers and are shown in terminals. Those of most senders are GUIDs. */
const deliveryId = /^[A-Za-z0-9._-]{1,100}$/;

/** The text at a place; empty if the request has none. `json` parses the body. */
export function placed(place: Place, headers: IncomingHttpHeaders, json: () => unknown): string {
  if ("header" in place) return String(headers[place.header.toLowerCase()] ?? "");
  const value = valueAt(json(), place.field.split("."));
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

/** The id of a delivery, in the first place that has one; undefined if it is missing or invalid. */
export function idIn(
  { delivery }: WebhookProvider,
  headers: IncomingHttpHeaders,
  body: Buffer,
  json: () => unknown,
): string | undefined {
  for (const place of delivery) {
    if (place === "digest") return createHash("sha256").update(body).digest("hex");
    const id = placed(place, headers, json);
    if (id !== "") return deliveryId.test(id) ? id : undefined;
  }
  return undefined;
}

/** The places of the event and the id, for people: `header X-GitHub-Event or X-GitHub-Delivery`. */
export function idPlaces({ event, delivery }: WebhookProvider): string {
  const places = [event, ...delivery.filter((place) => place !== "digest")];
  const headers = places.flatMap((place) => ("header" in place ? [place.header] : []));
  const fields = places.flatMap((place) => ("field" in place ? [place.field] : []));
  return [
    ...(headers.length > 0 ? [`header ${headers.join(" or ")}`] : []),
    ...(fields.length > 0 ? [`field ${fields.join(" or ")}`] : []),
  ].join(", or ");
}

/** The payload in a body; undefined if it is not JSON. */
export function parsed(body: Buffer, type: ContentType): unknown {
  const text = body.toString();
  try {
    return JSON.parse(type === "json" ? text : (new URLSearchParams(text).get("payload") ?? ""));
  } catch {
    return undefined;
  }
}
