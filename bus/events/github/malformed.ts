/** What is said about a payload that is none: fields and types. Its values may be secret, and go into no log. */
import type { z } from "zod";
import type { WebhookEventName } from "./payloads.ts";

/** What was delivered is no payload of its event. The message names fields and types, never a value. */
export class MalformedPayloadError extends Error {
  override readonly name = "MalformedPayloadError";

  constructor(event: WebhookEventName, problems: readonly string[]) {
    super(
      `the payload does not fit the webhook ${event}: ${problems.join("; ")}. Compare the delivery under ` +
        `Advanced, Recent Deliveries in the settings of the GitHub App.`,
    );
  }
}

/** The value at a path; undefined where the path leads nowhere. */
export const valueAt = (object: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce((value, step) => (value as Record<PropertyKey, unknown> | null | undefined)?.[step], object);

/** The problems zod found, without its own messages: those may quote the value. */
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
  // JSON has them as numbers with too large an exponent.
  return Number.isFinite(value) || typeof value !== "number" ? typeof value : "infinity";
}
