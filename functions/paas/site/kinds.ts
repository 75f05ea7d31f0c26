/** Kinds that a site lists, so that charts can make them without a new version of the platform. */
import { externalKind, type Kind, kindText, type ListedKinds, z } from "denrei";
import { parse } from "yaml";
import { childKinds } from "../charts/kinds.ts";
import { refusedKind } from "../charts/refusedkinds.ts";
import { siteKeys, siteName } from "../names.ts";

/** Prints the roles for listed kinds. */
export const rightsCommand = "denrei chart rbac";

const dns = "lower-case letters, digits, hyphens, and dots";
const entry = z.strictObject({
  group: z
    .string()
    .regex(
      /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$/,
      `expected an API group of ${dns}, or "" for the core group`,
    ),
  version: z.string().regex(/^v[a-z0-9]+$/, "expected a version such as v1 or v1beta1"),
  kind: z.string().regex(/^[A-Z][A-Za-z0-9]*$/, "expected a kind such as CronJob"),
  plural: z
    .string()
    .regex(/^[a-z0-9]+$/, "expected the plural in lower case such as cronjobs (kubectl api-resources)"),
  scope: z
    .literal("Namespaced", {
      error: "expected Namespaced: with cluster-scoped objects, one Application could take them from another",
    })
    .default("Namespaced"),
});

/** The list as kinds, without those that charts may always make. */
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
  if (refused !== undefined) return `charts may not make ${name}: ${refused}`;
  const known = builtIn(one);
  if (known && known.version !== one.version)
    return `charts may always make ${name}, in version ${known.version}: remove it from the list`;
  return seen.has(name) ? `${name} is listed twice: only one version can be watched` : undefined;
}

/** The line that lists a kind. */
export const listingOf = ({
  group,
  version,
  kind,
  plural,
}: Pick<Kind, "group" | "version" | "kind" | "plural">): string =>
  `- { group: ${group === "" ? '""' : group}, version: ${version}, kind: ${kind}, plural: ${plural} }`;

/** Parses only the list: the bridge does not need the other settings. */
const listSchema = z.object({ kinds: z.preprocess((value) => value ?? undefined, listedKinds) });

/** The ConfigMap with the list, for the bridge. */
export const siteKinds: ListedKinds = {
  configMap: siteName,
  kindsIn: (data) => listSchema.parse(parse(data[siteKeys.config] ?? "") ?? {}).kinds,
  rightsCommand,
};
