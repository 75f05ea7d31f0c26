/** Fields that several kinds have. */
import { z } from "zod";
import { cel } from "../../../bus/kube/crd.ts";
import { objectName, quantity, time } from "../../../bus/kube/fields.ts";
import { secretKeys } from "../names.ts";
import { nanosIn } from "./goduration.ts";

export { age, conditions, objectName, observedGeneration, ready, time } from "../../../bus/kube/fields.ts";

/** What tells whether PipeCD is to be asked again. */
export const synced = {
  lastSyncTime: time.optional().describe("When PipeCD was last asked."),
  syncedWith: z
    .string()
    .optional()
    .describe("Which control plane was asked, by its uid, and since when it had been ready."),
} as const;

/** A count of pods. */
export const count = z.int32().min(0);
export const text = z.string();
/** Said of fields that hold a credential themselves: the object is published on the bus as a whole. */
export const inTheOpen =
  "Not kept secret: everyone who may read the object sees it, and every function on the bus.";
export const texts = z.array(z.string());
/** Something that may not be empty. */
export const filled = z.string().min(1);

/** Lists whose entries have rules end here, so that the rules have a price. */
export const most = 256;

/**
 * Names of objects begin those of Services, and are values of labels: of the 63 characters, `longest` are left for what a user
 * chooses.
 */
export const serviceName = (longest: number) =>
  cel({
    rule: `size(self.metadata.name) <= ${longest} && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')`,
    message: `metadata.name can have at most ${longest} characters, starts with a letter, and has only letters in lower case, digits and hyphens: it begins the name of a Service`,
  });

const counted = (names: readonly string[]) => names.map((name) => `(has(self.${name}) ? 1 : 0)`).join(" + ");

/** How many of the fields an object has. */
const given = (value: object, names: readonly string[]) =>
  names.filter((name) => (value as Record<string, unknown>)[name] !== undefined).length;

/** A union as people write it: one field per variant, of which exactly one is there. */
export function exactlyOne<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  ...names: (string & keyof Shape)[]
) {
  const message = `expected exactly one of ${names.join(", ")}`;
  return schema
    .refine((value) => given(value, names) === 1, message)
    .meta(cel({ rule: `${counted(names)} == 1`, message }));
}

/** At least one variant may be missing: a union that the originals take without any. */
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
/** So many seconds fit Go's durations, which count nanoseconds in 64 bits. */
const mostSeconds = 9_000_000_000;

const mostNanos = BigInt(mostSeconds) * 1_000_000_000n;
const tooLong = `expected at most ${mostSeconds} seconds`;
const isShortEnough = (duration: number | string): boolean =>
  typeof duration === "number" || (nanosIn(duration) ?? mostNanos + 1n) <= mostNanos;

/** A length of time: seconds, or text as Go reads it. */
export const duration = z
  .union([
    z.int().min(0).max(mostSeconds),
    z.string().max(64).regex(durationText, "expected seconds, or a length of time such as 90s, 5m or 1h30m"),
  ])
  .refine(isShortEnough, tooLong)
  .meta(
    cel({
      rule: `type(self) == int || duration(self) <= duration('${mostSeconds}s')`,
      message: tooLong,
    }),
  );
export type Duration = z.infer<typeof duration>;

/** Where data is kept. */
export const storage = z
  .object({
    emptyDir: z
      .object({ medium: text.optional(), sizeLimit: quantity.optional() })
      .optional()
      .describe("A volume that goes with the pod. Wins over volumeClaimTemplate."),
    volumeClaimTemplate: z
      .object({
        apiVersion: text.optional(),
        kind: text.optional(),
        spec: z.looseObject({}).optional().describe("Of a PersistentVolumeClaim."),
      })
      .optional()
      .describe("A volume that stays: what is claimed for the pod."),
  })
  .describe("Where the data is kept. Default: a volume that goes with the pod.");

/** A volume, and where containers have it. */
export const volumeMounts = z
  .array(
    z.object({
      mountPath: filled.describe("Where the containers have it."),
      volume: z.looseObject({ name: filled }).describe("A volume of a pod, whatever its source."),
      readOnly: z.boolean().optional(),
      subPath: text.optional(),
      subPathExpr: text.optional(),
    }),
  )
  .describe("Volumes that gateway, server and ops have, with files that the configuration names.");

/** A Secret, as volumes name it. */
export const secretSource = z.object({
  secretName: objectName,
  items: z
    .array(z.object({ key: filled, path: filled, mode: z.int32().optional() }))
    .optional()
    .describe("Ignored."),
  defaultMode: z.int32().optional().describe("Ignored."),
  optional: z.boolean().optional().describe("Ignored."),
});

const named = (what: string) =>
  z.object({
    objectName: objectName.describe(`metadata.name of the ${what}, in this namespace.`),
    name: filled.describe(`Its name at PipeCD: the spec.name of the ${what}.`),
  });
export const environmentRef = named("Environment");
export const pipedRef = named("Piped");

export const controlPlaneRef = z
  .object({ objectName: objectName.describe("metadata.name of the ControlPlane, in this namespace.") })
  .describe("Which control plane it belongs to. Default: the only one in this namespace.");

export const apiKeySecretRef = z
  .object({
    name: objectName.describe("Name of the Secret."),
    key: z
      .string()
      .regex(/^[-._a-zA-Z0-9]+$/)
      .max(253)
      .optional()
      .describe(`Which of its keys. Default: ${secretKeys.apiKey}.`),
  })
  .describe("An API key of the project, to be used instead of the control plane's own. From PipeCD v0.44.0.");

export const version = filled.max(128);
export const projectID = filled.max(100).describe("The project at PipeCD.");
export const insecure = z
  .boolean()
  .optional()
  .describe("The control plane is reached without TLS. Default: false.");
