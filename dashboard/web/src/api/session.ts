/** Who is logged in, and requests in their name. */
import { signal } from "@preact/signals";

/** Somebody who is logged in. The token that says so stays with the server. */
export interface Session {
  readonly user: string;
  /** Shown with every request that changes something. */
  readonly csrf: string;
}

/** `undefined` until it is known, `away` while nobody can say; `none` when nobody is logged in; `ended` when somebody was. */
export const session = signal<Session | "none" | "ended" | "away" | undefined>(undefined);

/** A field of an object that the API server does not take as it is. */
export interface FieldProblem {
  /** `spec.domains[0]` */
  readonly field: string;
  readonly message: string;
}

/** An answer that is no success. The status is 0 when there was no answer at all. */
export class RequestError extends Error {
  override readonly name = "RequestError";
  readonly status: number;
  readonly reason: string;
  readonly fields: readonly FieldProblem[];

  constructor(status: number, reason: string, message: string, fields: readonly FieldProblem[] = []) {
    super(message);
    this.status = status;
    this.reason = reason;
    this.fields = fields;
  }
}

/** What is asked of the server. */
export interface ServerRequest {
  readonly method?: "GET" | "POST" | "PATCH" | "DELETE";
  readonly body?: unknown;
  readonly contentType?: string;
  readonly signal?: AbortSignal;
}

/** Asks the server, and reads its JSON. Throws a {@link RequestError}. */
export async function request<T>(path: string, options: ServerRequest = {}): Promise<T> {
  const { method = "GET", body, contentType = "application/json", signal: aborted } = options;
  const known = session.value;
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      headers: {
        accept: "application/json",
        ...(body !== undefined && { "content-type": contentType }),
        ...(method !== "GET" && typeof known === "object" && { "x-denrei-csrf": known.csrf }),
      },
      body: body === undefined ? null : JSON.stringify(body),
      ...(aborted && { signal: aborted }),
    });
  } catch (error) {
    if (aborted?.aborted) throw error;
    throw new RequestError(0, "Offline", "The dashboard does not answer. Look whether you are online.");
  }
  const text = await response.text();
  if (response.ok) return (text === "" ? undefined : JSON.parse(text)) as T;
  throw refused(response.status, text);
}

interface Refusal {
  readonly reason?: string;
  readonly message?: string;
  readonly details?: { readonly causes?: readonly { readonly field?: string; readonly message?: string }[] };
}

function refused(status: number, text: string): RequestError {
  let body: Refusal = {};
  try {
    body = JSON.parse(text) as Refusal;
  } catch {
    // Whatever stands between has answered with a page of its own.
  }
  // The session is gone. An API server that has just started takes no token for a moment, which is another thing.
  if (status === 401 && body.reason !== "TokenRefused" && typeof session.value === "object")
    session.value = "ended";
  const fields = (body.details?.causes ?? []).flatMap(({ field, message }) =>
    field && message ? [{ field, message }] : [],
  );
  return new RequestError(status, body.reason ?? "", body.message ?? `The answer was ${status}.`, fields);
}

/** Finds out who is logged in. Whoever was keeps the page, and what is typed there, when they are no more. */
export async function loadSession(): Promise<void> {
  try {
    session.value = await request<Session>("/api/session");
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    const known = session.value;
    if (known === undefined || known === "away") session.value = error.status === 401 ? "none" : "away";
  }
}

/** Where to log in, to come back to this address. */
export const loginUrl = (): string =>
  `/auth/login?to=${encodeURIComponent(location.pathname + location.search)}`;

/** Ends the session, here and at the issuer. */
export async function logOut(): Promise<void> {
  const { goTo } = await request<{ goTo: string }>("/api/session", { method: "DELETE" });
  session.value = "none";
  location.assign(goTo);
}
