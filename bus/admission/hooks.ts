/** Runs the admission hooks of a kind. */
import type { AdmissionRequest, DeletionRequest, FieldError, ValidationResult } from "../kube/admission.ts";
import { type Kind, kindText } from "../kube/kind.ts";
import type { KubeObject } from "../kube/object.ts";
import { jsonPatch, type PatchOperation } from "../values/jsonpatch.ts";

/** A hook failed. The message is for the user, whose request is denied, and names the hook. */
export class HookError extends Error {
  override readonly name = "HookError";
}

/** What a mutation may change. */
const mutablePaths = [
  "/spec",
  ...["labels", "annotations", "finalizers", "ownerReferences"].map((field) => `/metadata/${field}`),
];

/**
 * What the kind's `mutate` changes. An object that does not match the schema remains unchanged: the API server rejects it. Throws a
 * {@link HookError}.
 */
export function mutate(kind: Kind, request: AdmissionRequest): PatchOperation[] {
  const { object } = request;
  if (schemaErrors(kind, object).length > 0) return [];
  const fail = (problem: string): never => {
    throw new HookError(`mutate of ${kindText(kind)} ${problem}`);
  };
  const result = mutated(kind, request);
  const patch = jsonPatch(object, result);
  const wrong = patch.find(({ path }) => !mutablePaths.some((one) => `${path}/`.startsWith(`${one}/`)));
  if (wrong !== undefined) fail(`changed ${wrong.path}: it may change only ${mutablePaths.join(", ")}`);
  const [invalid] = schemaErrors(kind, result);
  if (invalid !== undefined)
    fail(`returned an object that does not match its schema: ${invalid.field}: ${invalid.message}`);
  const [again] = jsonPatch(result, mutated(kind, { ...request, object: result }));
  if (again !== undefined) fail(`is not idempotent: called with its own result, it changed ${again.path}`);
  return patch;
}

function mutated(kind: Kind, request: AdmissionRequest): KubeObject {
  const copy = structuredClone(request);
  const result = call(kind, "mutate", () => kind.definition?.admission?.mutate?.(copy));
  return result === undefined ? request.object : (JSON.parse(JSON.stringify(result)) as KubeObject);
}

/** Validates an object against the schema and with the kind's `validate`. Throws a {@link HookError}. */
export function validate(kind: Kind, request: AdmissionRequest): ValidationResult {
  const errors = schemaErrors(kind, request.object);
  if (errors.length > 0) return { errors };
  return call(kind, "validate", () => kind.definition?.admission?.validate?.(structuredClone(request))) ?? {};
}

/** Validates a deletion with the kind's `validateDelete`. Throws a {@link HookError}. */
export const validateDelete = (kind: Kind, request: DeletionRequest): ValidationResult =>
  call(kind, "validateDelete", () =>
    kind.definition?.admission?.validateDelete?.(structuredClone(request)),
  ) ?? {};

function schemaErrors({ definition }: Kind, { spec }: KubeObject): FieldError[] {
  const issues = definition?.spec.safeParse(spec ?? {}).error?.issues ?? [];
  return issues.map(({ path, message }) => ({ field: fieldPath(["spec", ...path]), message }));
}

/** `spec.items[0].count` */
const fieldPath = (steps: readonly PropertyKey[]): string =>
  steps.reduce<string>((path, step) => {
    if (typeof step === "number") return `${path}[${step}]`;
    return path === "" ? String(step) : `${path}.${String(step)}`;
  }, "");

/** Calls a hook. A promise would let a request pass before the hook has decided. */
function call<R>(kind: Kind, hook: string, run: () => R): Exclude<R, undefined> | undefined {
  const subject = `${hook} of ${kindText(kind)}`;
  let result: R;
  try {
    result = run();
  } catch (error) {
    throw new HookError(`${subject} failed: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
  if (!(result instanceof Promise)) return result as Exclude<R, undefined> | undefined;
  // Without a handler, its rejection would end the process.
  result.catch(() => undefined);
  throw new HookError(`${subject} returned a promise: hooks are synchronous, as the API server waits`);
}
