/**
 * CloudEvents on NATS: the binary content mode of the NATS protocol binding. Every attribute is a `ce-` header, its
 * value percent-encoded as the HTTP binding (section 3.1.3.2) does; the payload is the data.
 * https://github.com/cloudevents/spec/blob/main/cloudevents/bindings/nats-protocol-binding.md
 */
import { type MsgHdrs, MsgHdrsImpl } from "@nats-io/transport-node";
import { CloudEvent, type CloudEventV1, V1, ValidationError } from "cloudevents";
import { attribute, prefix } from "./attributes.ts";

export { attribute } from "./attributes.ts";

/** An event as a NATS message. */
export interface EventMessage {
  readonly headers: MsgHdrs;
  readonly data: string;
}

/** Writes an event with JSON data. Its attributes were validated when it was built. */
export function toMessage(event: CloudEventV1<unknown>): EventMessage {
  const headers = new MsgHdrsImpl();
  for (const name of Object.keys(event)) {
    const value = event[name];
    if (name === "data" || name === "data_base64" || value === undefined || value === null) continue;
    // Names and values are printable ASCII already, so a check of each character is unnecessary.
    headers.headers.set(prefix + name, [encode(String(value))]);
  }
  return { headers, data: event.data === undefined ? "" : JSON.stringify(event.data) };
}

/**
 * Reads an event back; the SDK validates it. Throws its `ValidationError` on a message that is not a CloudEvent, and a
 * `SyntaxError` on data that is not JSON.
 */
export function fromMessage<T>(message: { headers?: MsgHdrs | undefined; string(): string }): CloudEvent<T> {
  const attributes: Record<string, unknown> = {};
  for (const name of message.headers?.keys() ?? []) {
    if (name.startsWith(prefix))
      attributes[name.slice(prefix.length)] = attribute(message.headers, name.slice(3));
  }
  const text = message.string();
  const event = new CloudEvent<T>({ ...attributes, ...(text !== "" && { data: JSON.parse(text) }) } as never);
  // The SDK does not check other versions.
  if (event.specversion !== V1)
    throw new ValidationError(`expected the specversion ${V1}, found "${event.specversion}"`);
  return event;
}

/** Keeps printable ASCII except the space, the double quote, and the percent sign. */
function encode(value: string): string {
  return /^[!#$&-~]*$/.test(value) ? value : value.replace(/[^!#$&-~]+/gu, encodeURIComponent);
}
