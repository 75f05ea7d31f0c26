/** What an answer of GitHub means that is not the wanted one. */
import { z } from "zod";
import { redacted } from "../redact.ts";
import { advice, type RefusedAnswer } from "./advice.ts";
import {
  type GitHubError,
  GitHubRateLimitedError,
  GitHubRefusedError,
  GitHubUnreachableError,
} from "./errors.ts";
import { restrictionOf } from "./restrictions.ts";

const bodySchema = z.object({
  message: z.string(),
  documentation_url: z.string().optional(),
  errors: z.array(z.unknown()).optional(),
});

/** What GitHub asks for when it does not say how long: a minute. */
const unsaidWaitMillis = 60_000;
const shownLength = 500;

/** The error for an answer with an error code: rate limited, unreachable or refused, with GitHub's words and advice. */
export function refusal(answer: RefusedAnswer): GitHubError {
  const { request, status } = answer;
  const body = bodySchema.safeParse(answer.body).data;
  const said = words(answer.body, body);
  const text = `${request} was answered ${status}: ${said}`;
  const wait = waitMillis(answer, said);
  if (wait !== undefined)
    return new GitHubRateLimitedError(`${text}. Wait for the limit to pass.`, status, wait);
  if (status >= 500) return new GitHubUnreachableError(`${text}. Try again later.`, status);
  const see = body?.documentation_url ? ` See ${body.documentation_url}` : "";
  const restriction = restrictionOf(answer, said);
  const what = restriction ? `. ${restriction.advice}.` : advice(answer);
  return new GitHubRefusedError(`${text}${what}${see}`, status, body?.documentation_url, restriction?.reason);
}

function words(raw: unknown, body: z.infer<typeof bodySchema> | undefined): string {
  const details = (body?.errors ?? []).map((error) =>
    typeof error === "string" ? error : JSON.stringify(error),
  );
  const all = body ? [body.message, ...details].join("; ") : typeof raw === "string" ? raw : "no message";
  // Redacted first: half a token is not known for one.
  return redacted(all.replace(/\s+/g, " ").trim()).slice(0, shownLength).replace(/\.$/, "") || "no message";
}

/** https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit */
function waitMillis({ status, headers }: RefusedAnswer, said: string): number | undefined {
  // The limit of what may be written in a moment comes as a validation that failed.
  if (status === 422 && /submitted too quickly/i.test(said)) return unsaidWaitMillis;
  if (status !== 403 && status !== 429) return undefined;
  // Its own clock, if it tells: the one here may be wrong.
  const now = Date.parse(String(headers.date)) || Date.now();
  const after = headers["retry-after"];
  if (after !== undefined) {
    const millis = /^\d+$/.test(String(after)) ? Number(after) * 1000 : Date.parse(String(after)) - now;
    return Number.isNaN(millis) ? unsaidWaitMillis : millis;
  }
  const reset = Number(headers["x-ratelimit-reset"]) * 1000;
  if (String(headers["x-ratelimit-remaining"]) === "0" && Number.isFinite(reset)) return reset - now;
  return status === 429 || /rate limit|abuse detection|temporarily blocked from/i.test(said)
    ? unsaidWaitMillis
    : undefined;
}
