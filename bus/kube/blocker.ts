/** Distinguishes requests that fail because of their object from requests that fail because of something else in the cluster. */
import { ApiError, isAbsence, isForbidden, isInvalid } from "./errors.ts";

/** A cause outside of the object that makes a request fail. Retrying helps once an administrator has fixed it, or after a while. */
export interface Blocker {
  /** CamelCase reason of a condition. */
  readonly reason: string;
  /** Names the cause, and quotes the API server. */
  readonly message: string;
  /** The API server's error: the given one, or one among its causes. */
  readonly error: Error;
}

/** Reason of a {@link Blocker}: the API server does not answer, or not now. */
export const apiServerUnavailable = "ApiServerUnavailable";

/** Matches the API server's own text; `name` is the webhook, policy, quota, or kind that rejects. */
interface Rule {
  readonly reason: string;
  readonly pattern: RegExp;
  readonly describe: (name: string) => string;
}

/**
 * Errors that name the cause only in their text. Sources: `apiserver/pkg/admission/plugin/webhook/errors/statuserror.go`,
 * `apiserver/pkg/admission/plugin/policy/validating/dispatcher.go`, `apiserver/pkg/admission/plugin/policy/generic/policy_dispatcher.go`
 * (which calls a MutatingAdmissionPolicy a policy), `apiextensions-apiserver/pkg/apiserver/conversion/webhook_converter.go`,
 * `apiserver/pkg/admission/plugin/resourcequota/controller.go`, `apiserver/pkg/admission/plugin/namespace/lifecycle/admission.go`.
 */
const rules: readonly Rule[] = [
  {
    reason: "AdmissionWebhookUnavailable",
    pattern: /failed calling webhook "([^"]+)"/,
    describe: (name) => `the admission webhook ${name} cannot be called`,
  },
  {
    reason: "AdmissionDenied",
    pattern: /admission webhook "([^"]+)" denied the request/,
    describe: (name) => `the admission webhook ${name} denies the request`,
  },
  {
    reason: "AdmissionDenied",
    pattern:
      /ValidatingAdmissionPolicy '([^']+)'(?: with binding '[^']+')? denied request: failed to configure/,
    describe: (name) => `the ValidatingAdmissionPolicy ${name} cannot be evaluated`,
  },
  {
    reason: "AdmissionDenied",
    pattern: /ValidatingAdmissionPolicy '([^']+)'(?: with binding '[^']+')? denied request/,
    describe: (name) => `the ValidatingAdmissionPolicy ${name} denies the request`,
  },
  {
    reason: "AdmissionDenied",
    pattern: /policy (?:'([^']+)' with binding '[^']+'|"([^"]+)") denied request/,
    describe: (name) => `the MutatingAdmissionPolicy ${name} cannot be evaluated`,
  },
  {
    reason: "ConversionWebhookUnavailable",
    pattern: /conversion webhook for ([^:]+) failed/,
    describe: (name) => `the conversion webhook of ${name} fails`,
  },
  {
    reason: "QuotaExceeded",
    pattern: /exceeded quota: ([^,\s]+)/,
    describe: (name) => `the ResourceQuota ${name} is used up`,
  },
  {
    reason: "QuotaUnknown",
    pattern: /status unknown for quota: ([^,\s]+)/,
    describe: (name) => `the ResourceQuota ${name} is not measured yet`,
  },
  {
    reason: "NamespaceTerminating",
    pattern: /in namespace (\S+) because it is being terminated/,
    describe: (name) => `the namespace ${name} is being deleted`,
  },
  {
    reason: "NamespaceMissing",
    pattern: /namespaces "([^"]+)" not found/,
    describe: (name) => `the namespace ${name} does not exist`,
  },
];

/** The API server does not serve the path: its answer is not a `Status`, or a `Status` that names no object. */
const isUnknownKind = (error: ApiError): boolean =>
  error.status === 404 &&
  (error.reason === "" || error.message.includes("the server could not find the requested resource"));

/**
 * Admission in an API server that has just started or cannot read what it needs: 403, as for a missing permission. Source:
 * `plugin/pkg/admission/limitranger/admission.go`.
 */
const isNotReady = (error: ApiError): boolean =>
  isForbidden(error) &&
  /not yet ready to handle request|at this time because there was an error enforcing/.test(error.message);

/**
 * A CRD that is being deleted accepts no new objects: it answers a POST with 405, and a PATCH that would create one with 403. Source:
 * `apiextensions-apiserver/pkg/apiserver/customresource_handler.go`.
 */
const isBeingUninstalled = (error: ApiError): boolean =>
  error.status === 405 ||
  (isForbidden(error) && error.message.includes("while custom resource definition is terminating"));

/** Descriptions of all other errors, in order of precedence. */
const byStatus: readonly {
  readonly reason: string;
  readonly applies: (error: ApiError) => boolean;
  readonly text: string;
}[] = [
  {
    reason: apiServerUnavailable,
    applies: ({ status }) => status === 429,
    text: "the API server, or a server behind it, accepts no more requests for now",
  },
  {
    reason: apiServerUnavailable,
    applies: (error) => isAbsence(error) || isNotReady(error),
    text: "the API server, or a server behind it, does not serve the request for now",
  },
  { reason: "KindNotInstalled", applies: isUnknownKind, text: "the API server does not know this kind" },
  {
    reason: "KindNotInstalled",
    applies: isBeingUninstalled,
    text: "the API server does not accept such requests for this kind, or not while its CRD is being deleted",
  },
  { reason: "Forbidden", applies: isForbidden, text: "the API server forbids the request" },
  {
    reason: "WriteConflict",
    applies: ({ status }) => status === 409,
    text: "the write conflicts with another one",
  },
  {
    reason: "ApiServerError",
    applies: (error) => error.status >= 500 && !isInvalid(error),
    text: "the API server fails internally",
  },
];

/**
 * The cause that blocks a request, searched in an error and its causes. Undefined if the object itself is at fault or the error
 * is not one of the API server.
 */
export function blockerOf(error: unknown): Blocker | undefined {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++) {
    if (at instanceof ApiError) return blockerIn(at);
    if (isAbsence(at)) return { reason: apiServerUnavailable, message: at.message, error: at };
  }
  return undefined;
}

/** Temporary causes: only a retry helps. */
const passing: readonly string[] = [apiServerUnavailable, "ApiServerError", "WriteConflict", "QuotaUnknown"];

/**
 * Why the API server rejects a write, as a reason for a condition: `Invalid`, or that of a {@link Blocker} that an administrator
 * has to remove. Undefined if a retry may be enough.
 */
export function refusalReasonOf(error: unknown): string | undefined {
  const blocker = blockerOf(error);
  if (blocker === undefined) return isInvalid(error) ? "Invalid" : undefined;
  // A webhook may deny with the status code of a busy server.
  return passing.includes(blocker.reason) || isAbsence(blocker.error) ? undefined : blocker.reason;
}

function blockerIn(error: ApiError): Blocker | undefined {
  for (const { reason, pattern, describe } of rules) {
    const name = pattern
      .exec(error.message)
      ?.slice(1)
      .find((group) => group !== undefined);
    if (name !== undefined) return { reason, message: `${describe(name)}: ${error.message}`, error };
  }
  const rule = byStatus.find(({ applies }) => applies(error));
  return rule && { reason: rule.reason, message: `${rule.text}: ${error.message}`, error };
}
