/** Converts unexpected responses of GitHub to errors. */
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

/** Default wait if GitHub gives none: a minute. */
const unsaidWaitMillis = 60_000;
const shownLength = 500;
/** Links to other hosts are dropped. */
const docs = "https://docs.github.com/";

/** The error for an error response: rate limited, unreachable, or refused, with GitHub's message and advice. */
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

/** The message of GitHub's own errors. Other responses, such as a proxy's page, are not shown. */
function words(body: z.infer<typeof bodySchema> | undefined): string {
  const details = (body?.errors ?? []).map((error) =>
    typeof error === "string" ? error : JSON.stringify(error),
  );
  const all = body ? [body.message, ...details].join("; ") : "";
  // Redact before cutting: half a token is not recognized.
  return redacted(all.replace(/\s+/g, " ").trim()).slice(0, shownLength).replace(/\.$/, "") || "no message";
}

/** https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit */
function waitMillis({ status, headers }: RefusedAnswer, said: string): number | undefined {
  // GitHub reports the limit for rapid writes as a validation error.
  if (status === 422 && /submitted too quickly/i.test(said)) return unsaidWaitMillis;
  if (status !== 403 && status !== 429) return undefined;
  // Prefer GitHub's clock: the local one may be wrong.
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
