/** Environment variables of applications and builds. */
import { cel, dataKey, listMap, objectName, z } from "denrei/kinds";

const longestName = 253;
const noName = "Enter a name.";
const name = z
  .string(noName)
  .max(longestName)
  .regex(/^[ -<>-~]+$/, "Use letters, digits, and other printable ASCII characters, but no equals sign.");

/** Variables that the chart sets. */
export const reservedVariables: readonly string[] = ["PORT"];

/** Why a reserved name is refused. */
export const reservedProblem = "PORT is set automatically. Change the field port instead.";

/**
 * Name of a variable of an application. Pods accept these names:
 * https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#environment-variables
 *
 * Only the API server refuses reserved names, so that Applications that were stored with one keep working.
 */
const variableName = name.meta(
  cel({
    rule: reservedVariables.map((one) => `self != ${JSON.stringify(one)}`).join(" && "),
    message: reservedProblem,
  }),
);

/** Name of a variable of a build. Buildpacks get each variable as a file of this name. */
const buildVariableName = z
  .string(noName)
  .max(longestName)
  .regex(
    /^\.*[ --0-<>-~][ -.0-<>-~]*$/,
    "Use letters, digits, and other printable ASCII characters, but no equals sign, no slash, and not only dots.",
  );

/** The most variables of a build, so that the API server can bound the cost of comparing their names. */
const mostBuildVariables = 256;

/** Gives each variable whose name an earlier one has a problem. Runs also if other fields are invalid. */
const uniqueNames = [
  (variables: readonly { readonly name: string }[], context: z.RefinementCtx): void => {
    const seen = new Set<string>();
    for (const [at, { name }] of variables.entries()) {
      if (seen.has(name))
        context.addIssue({
          code: "custom",
          path: [at, "name"],
          message: `Another variable is named ${name}. Rename or remove one of them.`,
        });
      if (name !== undefined) seen.add(name);
    }
  },
  { when: ({ value }: { readonly value: unknown }) => Array.isArray(value) && value.every(isObject) },
] as const;

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null;

const keyRef = z.object({ name: objectName, key: dataKey, optional: z.boolean().optional() });

const oneSource = "expected either secretKeyRef or configMapKeyRef";
const valueOrSource = "Set either value or valueFrom.";

const variable = z
  .object({
    name: variableName,
    value: z.string().optional(),
    valueFrom: z
      .object({ secretKeyRef: keyRef.optional(), configMapKeyRef: keyRef.optional() })
      .refine(
        ({ secretKeyRef, configMapKeyRef }) =>
          (secretKeyRef === undefined) !== (configMapKeyRef === undefined),
        oneSource,
      )
      .meta(cel({ rule: "has(self.secretKeyRef) != has(self.configMapKeyRef)", message: oneSource }))
      .optional(),
  })
  .refine(({ value, valueFrom }) => !value || valueFrom === undefined, valueOrSource)
  .meta(
    cel({ rule: "!has(self.valueFrom) || !has(self.value) || self.value == ''", message: valueOrSource }),
  );

/** Environment variables of an application. */
export const env = z
  .array(variable)
  .superRefine(...uniqueNames)
  .meta(listMap("name"))
  .describe("Environment variables. PORT is always set.");

const ref = z.object({ name: objectName, optional: z.boolean().optional() });
const oneRef = "Choose either a Secret or a ConfigMap.";

export const envFrom = z
  .array(
    z
      .object({
        prefix: z.union([z.literal(""), name]).optional(),
        secretRef: ref.optional(),
        configMapRef: ref.optional(),
      })
      .refine(
        ({ secretRef, configMapRef }) => (secretRef === undefined) !== (configMapRef === undefined),
        oneRef,
      )
      .meta(cel({ rule: "has(self.secretRef) != has(self.configMapRef)", message: oneRef })),
  )
  .describe("Secrets and ConfigMaps whose keys all become environment variables.");

const buildVariable = z.object({ name: buildVariableName, value: z.string().optional() });

const uniqueInBuild = cel({
  rule: "self.all(a, self.exists_one(b, b.name == a.name))",
  message: "Each variable needs a name of its own.",
});

/** Environment variables of a build. kpack accepts no references to Secrets here. */
export const buildEnv = z
  .array(buildVariable)
  .max(mostBuildVariables)
  .superRefine(...uniqueNames)
  .meta(uniqueInBuild)
  .describe("Environment variables of the build, such as BP_NODE_VERSION.");

/** Environment variables of the builds of previews. */
export const previewBuildEnv = z
  .array(
    buildVariable.extend({
      forks: z
        .boolean()
        .optional()
        .describe(
          "Whether builds of forks get the variable too. Their code can send it anywhere. Default: false, also for approved commits.",
        ),
    }),
  )
  .max(mostBuildVariables)
  .superRefine(...uniqueNames)
  .meta(uniqueInBuild)
  .describe(
    "Environment variables of the builds, such as BP_NODE_VERSION. Builds of forks get only those with forks: true.",
  );
