/** Makes one call to GitHub's REST API: rate limits, timeout, and errors. */
import { request } from "@octokit/request";
import type { z } from "zod";
import { gitHubCallSpan, setStatusCode, spannedCall } from "../tracing/calls.ts";
import type { Span } from "../tracing/spans.ts";
import type { RefusedAnswer } from "./advice.ts";
import { GitHubError, GitHubRateLimitedError, GitHubUnreachableError } from "./errors.ts";
import { conditional, type EtagCache } from "./etags.ts";
import { fetchWithin, wholeAnswers } from "./fetch.ts";
import type { RateLimits } from "./limits.ts";
import { refusal } from "./responseerror.ts";
import { isGitHubCloud } from "./url.ts";

/** The part of octokit's errors that is used. */
interface RequestError {
  readonly response: {
    readonly status: number;
    readonly headers: RefusedAnswer["headers"];
    readonly data: unknown;
  };
  readonly cause: unknown;
}

/** The identity that makes a call. */
export interface Caller {
  /** Name in errors. */
  readonly name: string;
  /** Key of the rate limit that the call counts against. Does not need to name the GitHub. */
  readonly limitedAs: string;
  /** Returns the value of the header `Authorization`; undefined for a call without one. Called once per call. */
  authorization(): Promise<string | undefined>;
}

/** A call, and the schema of its response. */
export interface Call<T> {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Path below the base URL. */
  readonly path: string;
  /** The query of a GET, or the body of a POST or PATCH. */
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly as: Caller;
  readonly answer: z.ZodType<T>;
  readonly signal?: AbortSignal | undefined;
}

/** A response. `link` is the header with further pages. */
export interface Answer<T> {
  readonly body: T;
  readonly link: string | undefined;
}

/** Options of a caller. */
export interface CallerOptions {
  /** The base URL of the API, from `allowedApiUrl`. */
  readonly base: string;
  readonly limits: RateLimits;
  /** Cache of responses to GETs, shared by all clients of a process. Without it nothing is cached. */
  readonly etags?: EtagCache | undefined;
  /** Default: a fetch that connects only to addresses that this GitHub may have, see `addresses.ts`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Called when GitHub rejects the credentials of a call (401). */
  readonly onUnauthorized?: (() => void) | undefined;
  /** Timeout of one call. Milliseconds; default 10 s. */
  readonly deadlineMillis?: number | undefined;
}

const defaultDeadlineMillis = 10_000;
/** https://docs.github.com/en/rest/about-the-rest-api/api-versions */
const headers = {
  accept: "application/vnd.github+json",
  "x-github-api-version": "2022-11-28",
  "user-agent": "denrei",
};

/**
 * Makes calls to one GitHub. They throw the signal's reason when the caller aborts, and a {@link GitHubError} otherwise. There
 * are no retries here.
 */
export function githubCalls(options: CallerOptions): <T>(call: Call<T>) => Promise<Answer<T>> {
  const { base, limits, etags, deadlineMillis = defaultDeadlineMillis } = options;
  const { fetch = fetchWithin(isGitHubCloud(base) ? "public" : "private") } = options;
  const send = request.defaults({ baseUrl: base, headers });

  async function made<T>(
    { method, path, parameters, as, answer, signal, ...call }: Call<T>,
    span?: Span,
  ): Promise<Answer<T>> {
    const limitedAs = `${as.limitedAs} at ${base}`;
    limits.check(limitedAs);
    const authorization = await as.authorization();
    const name = `${method} ${path} as ${as.name} at ${base}`;
    const deadline = AbortSignal.timeout(deadlineMillis);
    const whole = wholeAnswers(fetch, name);
    const response = await send(`${method} ${path}`, {
      ...parameters,
      headers: { ...call.headers, ...(authorization !== undefined && { authorization }) },
      request: {
        fetch: etags && method === "GET" ? conditional(whole, etags, limitedAs) : whole,
        signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
      },
    }).catch((thrown: unknown) => {
      signal?.throwIfAborted();
      const error = failure(thrown, name, deadline.aborted ? deadlineMillis : undefined);
      if (error instanceof GitHubRateLimitedError) limits.hold(limitedAs, error);
      if (error.status === 401) options.onUnauthorized?.();
      setStatusCode(span, error.status);
      throw error;
    });
    setStatusCode(span, response.status);
    const parsed = answer.safeParse(response.data);
    if (!parsed.success) throw new GitHubError(misfit(name, response.status, parsed.error), response.status);
    return { body: parsed.data, link: response.headers.link };
  }

  return (call) => {
    const span = gitHubCallSpan(call.method, call.path, base);
    return span === undefined ? made(call) : spannedCall(span, () => made(call, span));
  };
}

/** `overMillis`: the timeout, if it has passed. */
function failure(thrown: unknown, name: string, overMillis: number | undefined): GitHubError {
  const { response, cause } = thrown as Partial<RequestError>;
  if (response) {
    const { status, headers, data } = response;
    return refusal({ request: name, status, headers, body: data });
  }
  if (cause instanceof GitHubError) return cause;
  if (overMillis !== undefined) {
    return new GitHubUnreachableError(
      `no response to ${name} within ${overMillis / 1000} s. Try again later.`,
    );
  }
  // fetch's own messages may quote headers; the system's do not.
  const system = cause instanceof Error ? cause.cause : undefined;
  const reason =
    system instanceof Error ? system.message || (system as NodeJS.ErrnoException).code : "no reason given";
  return new GitHubUnreachableError(
    `no response to ${name}: ${reason}. Check url and the network.`,
    undefined,
    { cause: system },
  );
}

function misfit(name: string, status: number, { issues }: z.ZodError): string {
  const found = issues.slice(0, 3).map(({ path, message }) => `${path.join(".") || "body"}: ${message}`);
  return (
    `${name} was answered ${status}, but not with a response of GitHub's API: ${found.join("; ")}. ` +
    "Check that url is that of a GitHub."
  );
}
