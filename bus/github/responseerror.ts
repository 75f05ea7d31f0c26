/** What an answer of GitHub means that is not the wanted one. */
import { z } from "zod";
import { redacted } from "../values/redact.ts";
import { advice, type RefusedAnswer } from "./advice.ts";
import {
  type GitHubError,
  GitHubRateLimitedError,
  GitHubRefusedError,
  GitHubUnreachableError,
} from "./errors.ts";
import { restrictionOf } from "./restrictions.ts";

/** https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api#validation-failed */
const detailSchema = z.object({
  resource: z.string().optional(),
  field: z.string().optional(),
  code: z.string().optional(),
  message: z.string().optional(),
});

const bodySchema = z.object({
  message: z.string(),
  documentation_url: z.string().optional(),
  errors: z
    .array(z.union([z.string(), detailSchema]))
    .optional()
    .catch(undefined),
});

/** What GitHub asks for when it does not say how long: a minute. */
const unsaidWaitMillis = 60_000;
const shownLength = 500;
/** A link to anywhere else is not GitHub's. */
const docs = "https://docs.github.com/";

/** The error for an answer with an error code: rate limited, unreachable or refused, with GitHub's words and advice. */
export function refusal(answer: RefusedAnswer): GitHubError {
  const { request, status } = answer;
  const body = bodySchema.safeParse(answer.body).data;
  const said = words(body);
  const text = `${request} was answered ${status}: ${said}`;
  const wait = waitMillis(answer, said);
  if (wait !== undefined)
    return new GitHubRateLimitedError(`${text}. Wait for the limit to pass.`, status, wait);
  if (status >= 500) return new GitHubUnreachableError(`${text}. Try again later.`, status);
  const page = body?.documentation_url?.startsWith(docs) ? body.documentation_url : undefined;
  const restriction = restrictionOf(answer, said);
  const what = restriction ? `. ${restriction.advice}.` : advice(answer);
  return new GitHubRefusedError(
    `${text}${what}${page ? ` See ${page}` : ""}`,
    status,
    page,
    restriction?.reason,
  );
}

/** What GitHub's own errors say; of an answer that is none of them, such as a page of a proxy, nothing is shown. */
function words(body: z.infer<typeof bodySchema> | undefined): string {
  const details = (body?.errors ?? []).map((error) =>
    typeof error === "string" ? error : JSON.stringify(error),
  );
  const all = body ? [body.message, ...details].join("; ") : "";
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
