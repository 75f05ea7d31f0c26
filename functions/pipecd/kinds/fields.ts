/** Fields shared by several kinds. */
import { cel, dataKey, objectName, quantity, time, z } from "denrei/kinds";
import { secretKeys } from "../names.ts";
import { nanosIn } from "./goduration.ts";

/** Status fields that determine when the next sync with PipeCD is due. */
export const synced = {
  lastSyncTime: time.optional().describe("Time of the last sync with PipeCD."),
  syncedWith: z
    .string()
    .optional()
    .describe("Control plane of the last sync: its uid, and the time at which it became ready."),
} as const;

/** A number of pods. */
export const count = z.int32().min(0);
export const text = z.string();
/** Warning for fields that hold a credential. The whole object is published on the bus. */
export const plaintextWarning =
  "Not kept secret: every user who can read the object and every function on the bus can see it.";
export const texts = z.array(z.string());
/** A string that is not empty. */
export const nonEmpty = z.string().min(1);

/** Maximum length of lists whose entries have CEL rules, so that the API server can bound the rules' cost. */
export const maxEntries = 256;

/**
 * Rule for object names that are prefixes of Service names and label values, which have at most 63 characters. `longest` is the
 * maximum length without the suffix.
 */
export const serviceName = (longest: number) =>
  cel({
    rule: `size(self.metadata.name) <= ${longest} && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')`,
    message: `metadata.name is the prefix of a Service name: expected at most ${longest} characters, a letter first, and only lowercase letters, digits, and hyphens`,
  });

const counted = (names: readonly string[]) => names.map((name) => `(has(self.${name}) ? 1 : 0)`).join(" + ");

/** Number of the fields that an object has. */
const given = (value: object, names: readonly string[]) =>
  names.filter((name) => (value as Record<string, unknown>)[name] !== undefined).length;

/** A union with one field per variant, of which exactly one must be set. */
export function exactlyOne<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  ...names: (string & keyof Shape)[]
) {
  const message = `expected exactly one of ${names.join(", ")}`;
  return schema
    .refine((value) => given(value, names) === 1, message)
    .meta(cel({ rule: `${counted(names)} == 1`, message }));
}

/** A union with one field per variant, of which at most one may be set, as in pipecd-operator. */
export function atMostOne<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  ...names: (string & keyof Shape)[]
) {
  const message = `expected at most one of ${names.join(", ")}`;
  return schema
    .refine((value) => given(value, names) <= 1, message)
    .meta(cel({ rule: `${counted(names)} <= 1`, message }));
}

/** https://pkg.go.dev/time#ParseDuration, without signs. */
const durationText =
  /^([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|ms|s|m|h)(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|ms|s|m|h))*$/;
/** Below the maximum of Go's durations, which count nanoseconds in 64 bits. */
const maxSeconds = 9_000_000_000;

const maxNanos = BigInt(maxSeconds) * 1_000_000_000n;
const tooLong = `expected at most ${maxSeconds} seconds`;
const isShortEnough = (duration: number | string): boolean =>
  typeof duration === "number" || (nanosIn(duration) ?? maxNanos + 1n) <= maxNanos;

/** A duration: seconds, or text in Go's format. */
export const duration = z
  .union([
    z.int().min(0).max(maxSeconds),
    z.string().max(64).regex(durationText, "expected seconds, or a duration such as 90s, 5m, or 1h30m"),
  ])
  .refine(isShortEnough, tooLong)
  .meta(
    cel({
      rule: `type(self) == int || duration(self) <= duration('${maxSeconds}s')`,
      message: tooLong,
    }),
  );
export type Duration = z.infer<typeof duration>;

/** The data volume of a store. */
export const storage = z
  .object({
    emptyDir: z
      .object({ medium: text.optional(), sizeLimit: quantity.optional() })
      .optional()
      .describe("A volume that is deleted with the pod. Takes precedence over volumeClaimTemplate."),
    volumeClaimTemplate: z
      .object({
        apiVersion: text.optional(),
        kind: text.optional(),
        spec: z.looseObject({}).optional().describe("Spec of a PersistentVolumeClaim."),
      })
      .optional()
      .describe("A persistent volume claim for the pod."),
  })
  .describe("Volume of the data. Default: an emptyDir, which is deleted with the pod.");

/** Volumes and their mounts. */
export const volumeMounts = z
  .array(
    z.object({
      mountPath: nonEmpty.describe("Path in the containers."),
      volume: z.looseObject({ name: nonEmpty }).describe("A pod volume with any source."),
      readOnly: z.boolean().optional(),
      subPath: text.optional(),
      subPathExpr: text.optional(),
    }),
  )
  .describe("Volumes of gateway, server, and ops, with files that the configuration refers to.");

/** A Secret, in the format of a volume source. */
export const secretSource = z.object({
  secretName: objectName,
  items: z
    .array(z.object({ key: nonEmpty, path: nonEmpty, mode: z.int32().optional() }))
    .optional()
    .describe("Ignored."),
  defaultMode: z.int32().optional().describe("Ignored."),
  optional: z.boolean().optional().describe("Ignored."),
});

const named = (what: string) =>
  z.object({
    objectName: objectName.describe(`metadata.name of the ${what}, in this namespace.`),
    name: nonEmpty.describe(`Name in PipeCD: the spec.name of the ${what}.`),
  });
export const environmentRef = named("Environment");
export const pipedRef = named("Piped");

export const controlPlaneRef = z
  .object({ objectName: objectName.describe("metadata.name of the ControlPlane, in this namespace.") })
  .describe("Control plane. Default: the only one in this namespace.");

export const apiKeySecretRef = z
  .object({
    name: objectName.describe("Name of the Secret."),
    key: dataKey.optional().describe(`Key in the Secret. Default: ${secretKeys.apiKey}.`),
  })
  .describe("An API key of the project, used instead of the control plane's own. Since PipeCD v0.44.0.");

export const version = nonEmpty.max(128);
export const projectID = nonEmpty.max(100).describe("The project in PipeCD.");
export const insecure = z
  .boolean()
  .optional()
  .describe("Whether to connect to the control plane without TLS. Default: false.");

export { age, conditions, objectName, observedGeneration, ready, time } from "denrei/kinds";
