/** The session, and requests that carry it. */
import { signal } from "@preact/signals";
import type { FieldProblem, ShownError } from "./message.ts";
import { noteVersion } from "./pageversion.ts";
import { text as words } from "./text.ts";

/** A logged-in user. The server keeps the user's tokens. */
export interface Session {
  readonly user: string;
  /** Sent with every request that changes something. */
  readonly csrf: string;
}

/**
 * `undefined` until the first response; `away` if the server does not respond; `none` if no user is logged in; `ended` if the session
 * expired while the page was open.
 */
export const session = signal<Session | "none" | "ended" | "away" | undefined>(undefined);

/** A failed request. The status is 0 if there was no response. */
export class RequestError extends Error implements ShownError {
  override readonly name = "RequestError";
  readonly status: number;
  readonly reason: string;
  readonly isSentence: boolean;
  readonly fields: readonly FieldProblem[];

  constructor(
    status: number,
    reason: string,
    message: string,
    {
      isSentence = true,
      fields = [],
    }: { readonly isSentence?: boolean; readonly fields?: readonly FieldProblem[] } = {},
  ) {
    super(message);
    this.status = status;
    this.reason = reason;
    this.isSentence = isSentence;
    this.fields = fields;
  }
}

/** Options of a request. */
export interface ServerRequest {
  readonly method?: "GET" | "POST" | "PATCH" | "DELETE";
  readonly body?: unknown;
  readonly contentType?: string;
  readonly signal?: AbortSignal;
}

/** Sends a request and parses the JSON response. Throws a {@link RequestError}. */
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
    throw new RequestError(0, "Offline", words.offline);
  }
  noteVersion(response);
  const text = await response.text();
  if (response.ok) return (text === "" ? undefined : JSON.parse(text)) as T;
  throw refused(response.status, text);
}

interface Refusal {
  readonly kind?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: { readonly causes?: readonly { readonly field?: string; readonly message?: string }[] };
}

function refused(status: number, text: string): RequestError {
  let body: Refusal = {};
  try {
    body = JSON.parse(text) as Refusal;
  } catch {
    // A proxy responded with its own page.
  }
  // The session ended. TokenRefused is different: an API server rejects all tokens for a moment after its start.
  if (status === 401 && body.reason !== "TokenRefused" && typeof session.value === "object")
    session.value = "ended";
  const fields = (body.details?.causes ?? []).flatMap(({ field, message }) =>
    field && message ? [{ field, message }] : [],
  );
  const { kind, reason, message } = body;
  if (!message) return new RequestError(status, reason ?? "", words.status(status), { fields });
  // Errors of the dashboard have a reason and no kind. Kubernetes sends a `Status`, and a proxy anything.
  const isSentence = reason !== undefined && kind === undefined;
  return new RequestError(status, reason ?? "", message, { isSentence, fields });
}

/** Loads the session. If the user was logged in before, the page and its forms stay. */
export async function loadSession(): Promise<void> {
  try {
    const current = await request<Session>("/api/session");
    claimStorage(current.user);
    session.value = current;
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    const known = session.value;
    if (known === undefined || known === "away") session.value = error.status === 401 ? "none" : "away";
  }
}

const storedUser = "denrei.user";

/** Unsaved input in the tab's storage is only for the user who typed it. */
function claimStorage(user: string): void {
  if (sessionStorage.getItem(storedUser) === user) return;
  sessionStorage.clear();
  sessionStorage.setItem(storedUser, user);
}

/** The login URL; it leads back to the current address. */
export const loginUrl = (): string =>
  `/auth/login?to=${encodeURIComponent(location.pathname + location.search)}`;

/** Ends the session here and at the identity provider. */
export async function logOut(): Promise<void> {
  const { goTo } = await request<{ goTo: string }>("/api/session", { method: "DELETE" });
  session.value = "none";
  sessionStorage.clear();
  location.assign(goTo);
}
