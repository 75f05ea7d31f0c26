/** Kinds that a site lists: charts may make objects of them as well, without a new version of the program. */
import { parse } from "yaml";
import { z } from "zod";
import { externalKind, type Kind, kindText } from "../../../bus/kube/kind.ts";
import type { ListedKinds } from "../../../bus/kube/listedkinds.ts";
import { childKinds } from "../charts/kinds.ts";
import { refusedKind } from "../charts/refusedkinds.ts";
import { siteKeys, siteName } from "./names.ts";

/** Prints the roles for listed kinds. */
export const rightsCommand = "denrei chart rbac";

const dns = "lower-case letters, digits, hyphens and dots";
const entry = z.strictObject({
  group: z
    .string()
    .regex(/^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$/, `expected a group of ${dns}; "" is the core group`),
  version: z.string().regex(/^v[a-z0-9]+$/, "expected a version such as v1 or v1beta1"),
  kind: z.string().regex(/^[A-Z][A-Za-z0-9]*$/, "expected the name of a kind such as CronJob"),
  plural: z
    .string()
    .regex(/^[a-z0-9]+$/, "expected the plural in lower case such as cronjobs (kubectl api-resources)"),
  scope: z
    .literal("Namespaced", {
      error:
        "expected Namespaced: a chart makes objects in the namespace of its Application, and one in no namespace could be taken from another Application",
    })
    .default("Namespaced"),
});

/** The list, as kinds. Those that charts may make anyway are left out. */
export const listedKinds = z
  .array(entry)
  .default([])
  .superRefine((entries, context) => {
    const seen = new Set<string>();
    entries.forEach((one, at) => {
      const problem = problemOf(one, seen);
      seen.add(kindText(one));
      if (problem !== undefined) context.addIssue({ code: "custom", path: [at], message: problem });
    });
  })
  .transform((entries) =>
    entries.filter((one) => builtIn(one) === undefined).map((one) => externalKind(one)),
  );

const builtIn = ({ group, kind }: Pick<Kind, "group" | "kind">): Kind | undefined =>
  childKinds.find((one) => one.group === group && one.kind === kind);

function problemOf(one: z.output<typeof entry>, seen: ReadonlySet<string>): string | undefined {
  const name = kindText(one);
  const refused = refusedKind(one);
  if (refused !== undefined) return `charts may not make objects of ${name}: ${refused}`;
  const known = builtIn(one);
  if (known && known.version !== one.version)
    return `charts may make objects of ${name} anyway, in the version ${known.version}: take it out of the list`;
  return seen.has(name) ? `${name} is listed twice: one version of it can be watched` : undefined;
}

/** The line that lists a kind. */
export const listingOf = ({
  group,
  version,
  kind,
  plural,
}: Pick<Kind, "group" | "version" | "kind" | "plural">): string =>
  `- { group: ${group === "" ? '""' : group}, version: ${version}, kind: ${kind}, plural: ${plural} }`;

/** Reads the list alone: the rest of the settings does not matter to the bridge. */
const listSchema = z.object({ kinds: z.preprocess((value) => value ?? undefined, listedKinds) });

/** Where kinds are listed, for the bridge. */
export const siteKinds: ListedKinds = {
  configMap: siteName,
  kindsIn: (data) => listSchema.parse(parse(data[siteKeys.config] ?? "") ?? {}).kinds,
  rightsCommand,
};
