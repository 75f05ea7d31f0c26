/** The formats of CloudEvents attributes, checked before an event is published. */
import { CloudEvent, type CloudEventV1, ValidationError } from "cloudevents";

/**
 * A non-empty String of CloudEvents (section 3.1 of its specification). The SDK replaces an empty id or time with its own, and
 * accepts characters that headers cannot carry.
 */
export const attributeText: RegExp = /^[^\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}]+$/u;

/** URLs and paths of unreserved characters (RFC 3986), which most sources are. */
const plainSource = /^(?:https?:\/\/[a-z0-9.-]+(?::\d{1,5})?)?(?:\/[\w.~-]*)+$/i;
/** Times in UTC, without leap days and leap seconds. */
const plainTime =
  /^\d{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?Z$/;

/**
 * The attributes without the format that CloudEvents requires. All other texts of the event must match {@link attributeText}. The
 * SDK's validation takes longer than the rest of the event, so plain values, which always pass, do without it.
 */
export function misformedAttributes(event: CloudEventV1<unknown>): string[] {
  if (plainSource.test(event.source) && plainTime.test(event.time ?? "")) return [];
  try {
    new CloudEvent({ ...event, data: undefined });
    return [];
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    const problems = error.errors ?? [];
    const names = problems.map((problem) =>
      typeof problem === "string" ? "event" : problem.instancePath.slice(1),
    );
    return names.length === 0 ? ["event"] : names;
  }
}
