/** Errors about malformed payloads. They name fields and types; values may be secret and must not be logged. */
import type { z } from "zod";
import type { WebhookProvider } from "./provider.ts";

/** The delivery is not a payload of its event. The message names fields and types, never a value. */
export class MalformedPayloadError extends Error {
  override readonly name = "MalformedPayloadError";

  constructor(
    event: string,
    problems: readonly string[],
    { deliveriesAt }: Pick<WebhookProvider, "deliveriesAt">,
  ) {
    const advice = deliveriesAt === undefined ? "" : ` Compare the delivery ${deliveriesAt}.`;
    super(`the payload does not fit the webhook ${event}: ${problems.join("; ")}.${advice}`);
  }
}

/** The value at a path; undefined if the path does not exist. */
export function valueAt(object: unknown, path: readonly PropertyKey[]): unknown {
  let value = object;
  for (const step of path) value = (value as Record<PropertyKey, unknown> | null | undefined)?.[step];
  return value;
}

/** zod's issues without its messages, which may quote values. */
export function mismatches(issues: readonly z.core.$ZodIssue[], payload: unknown): string[] {
  return issues.flatMap((issue) => {
    if (issue.code === "invalid_union") {
      const within = issue.errors.flat().map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }));
      return [...new Set(mismatches(within, payload))];
    }
    const expected = issue.code === "invalid_type" ? issue.expected : issue.code;
    return `${issue.path.join(".") || "payload"}: expected ${expected}, found ${typeText(valueAt(payload, issue.path))}`;
  });
}

function typeText(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  // JSON numbers with too large an exponent parse as infinity.
  return Number.isFinite(value) || typeof value !== "number" ? typeof value : "infinity";
}
