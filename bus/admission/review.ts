/**
 * Answers admission reviews of the API server.
 * https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#webhook-request-and-response
 */
import { z } from "zod";
import type { AdmissionHooks, admissionPaths, FieldError, ValidationResult } from "../kube/admission.ts";
import { type Kind, kindText } from "../kube/kind.ts";
import type { KubeObject } from "../kube/object.ts";
import type { ReviewAnswer } from "./answer.ts";
import { HookError, mutate, validate, validateDelete } from "./hooks.ts";
import { MalformedReviewError } from "./malformed.ts";

const object = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string().optional() }),
});

const common = z.object({
  uid: z.string(),
  kind: z.object({ group: z.string(), version: z.string(), kind: z.string() }),
  userInfo: z.object({
    username: z.string().default(""),
    uid: z.string().optional(),
    groups: z.array(z.string()).default([]),
    extra: z.record(z.string(), z.array(z.string())).optional(),
  }),
  dryRun: z.boolean().default(false),
});

const admissionReview = z.object({
  apiVersion: z.literal("admission.k8s.io/v1"),
  kind: z.literal("AdmissionReview"),
  request: z.discriminatedUnion("operation", [
    common.extend({ operation: z.literal("CREATE"), object }),
    common.extend({ operation: z.literal("UPDATE"), object, oldObject: object }),
    common.extend({ operation: z.literal("DELETE"), oldObject: object }),
  ]),
});

type Request = z.infer<typeof admissionReview>["request"];

/** The type of a webhook. */
type WebhookType = keyof typeof admissionPaths;

/** The program has no hook for a review. The message says what to deploy. */
export class MissingHookError extends Error {
  override readonly name = "MissingHookError";
}

/**
 * Runs the kind's hook for a review. An error of the hook denies the request. Throws a {@link MalformedReviewError} for anything else
 * than a review, and a {@link MissingHookError}.
 */
export function answerAdmission(kinds: readonly Kind[], type: WebhookType, body: unknown): ReviewAnswer {
  const parsed = admissionReview.safeParse(body);
  if (!parsed.success)
    throw new MalformedReviewError("expected an AdmissionReview of admission.k8s.io/v1", parsed.error);
  const { request } = parsed.data;
  const kind = kindOf(kinds, type, request);
  const answer = (response: object) => ({
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    response: { uid: request.uid, ...response },
  });
  try {
    if (type === "mutate") return { review: answer(mutation(kind, request)), outcome: "allowed" };
    const { errors = [], warnings = [] } = validation(kind, request);
    const shown = warnings.length > 0 && { warnings };
    if (errors.length === 0) return { review: answer({ allowed: true, ...shown }), outcome: "allowed" };
    return { review: answer({ ...denial(request, errors), ...shown }), outcome: "denied" };
  } catch (error) {
    if (!(error instanceof HookError)) throw error;
    return { review: answer(failure(error)), outcome: "failed", message: error.message, cause: error.cause };
  }
}

/** The kind of the review, in its stored version. */
function kindOf(kinds: readonly Kind[], type: WebhookType, { kind: found, operation }: Request): Kind {
  const kind = kinds.find((one) => one.kind === found.kind && one.group === found.group);
  const hook = operation === "DELETE" ? "validateDelete" : type;
  const hooks: AdmissionHooks | undefined = kind?.definition?.admission;
  if (kind === undefined || hooks?.[hook] === undefined)
    throw new MissingHookError(
      `this program has no ${hook} for ${kindText(found)}: deploy the version that has`,
    );
  if (kind.version === found.version) return kind;
  throw new MissingHookError(
    `this program checks ${kindText(kind)} in the version ${kind.version}, found ${found.version}: install its ` +
      "configurations again (denrei webhook-configurations)",
  );
}

function mutation(kind: Kind, request: Request): object {
  if (request.operation === "DELETE") return { allowed: true };
  const patch = mutate(kind, requestOf(request));
  if (patch.length === 0) return { allowed: true };
  return {
    allowed: true,
    patchType: "JSONPatch",
    patch: Buffer.from(JSON.stringify(patch)).toString("base64"),
  };
}

function validation(kind: Kind, request: Request): ValidationResult {
  if (request.operation !== "DELETE") return validate(kind, requestOf(request));
  const { operation, userInfo: user, dryRun } = request;
  return validateDelete(kind, { operation, object: objectOf(request.oldObject), user, dryRun });
}

function requestOf(request: Exclude<Request, { operation: "DELETE" }>) {
  const { operation, userInfo: user, dryRun } = request;
  const oldObject = operation === "UPDATE" ? objectOf(request.oldObject) : undefined;
  return { operation, object: objectOf(request.object), oldObject, user, dryRun };
}

const objectOf = (found: z.infer<typeof object>): KubeObject => found as unknown as KubeObject;

/** The answer for an object that the user has to correct, in the form of a failed validation by the API server. */
function denial({ kind: { group, kind }, ...request }: Request, errors: readonly FieldError[]): object {
  const { name } = (request.operation === "DELETE" ? request.oldObject : request.object).metadata;
  return {
    allowed: false,
    status: {
      status: "Failure",
      code: 422,
      reason: "Invalid",
      message: errors.map(({ field, message }) => `${field}: ${message}`).join("; "),
      details: {
        ...{ group, kind, name },
        causes: errors.map(({ field, message }) => ({ reason: "FieldValueInvalid", field, message })),
      },
    },
  };
}

const failure = ({ message }: HookError): object => ({
  allowed: false,
  status: { status: "Failure", code: 500, reason: "InternalError", message },
});
