/**
 * Settings of a platform installation for all applications, in the ConfigMap `modoki` of the platform's namespace. All are
 * optional, and a change needs no restart.
 */
import { z } from "denrei";
import { parse } from "yaml";
import { siteSchema } from "../charts/site.ts";
import { hostsSchema } from "../hosts/policy.ts";
import { builder } from "../kinds/fields.ts";
import { listedKinds } from "./kinds.ts";

export { siteKeys, siteName } from "../names.ts";

/**
 * Patterns of previews' hosts. `unique` is `pr-<number>-<pipeline>-<digest>`. `modoki-operator` is
 * `<namespace>-<pipeline>-pr-<number>`, which two pipelines can share.
 */
const hostPatterns = ["unique", "modoki-operator"] as const;
export type HostPattern = (typeof hostPatterns)[number];

const githubUrl = z.url({ protocol: /^https?$/ });

const configSchema = z.strictObject({
  site: siteSchema.prefault({}),
  hosts: hostsSchema.prefault({}),
  /** Kinds that charts may make in addition to the built-in ones. */
  kinds: listedKinds,
  previews: z.strictObject({ hosts: z.enum(hostPatterns).default("unique") }).prefault({}),
  builder: builder.default({ kind: "ClusterBuilder", name: "default" }),
  github: z
    .strictObject({
      url: githubUrl.default("https://github.com"),
      /** Further servers that Secrets may name. The platform sends requests nowhere else. */
      allowed: z.array(githubUrl).default([]),
    })
    .prefault({}),
});

/** The settings of a site. */
export type Config = z.output<typeof configSchema>;

/** The settings are invalid. */
export class SiteConfigError extends Error {
  override readonly name = "SiteConfigError";
}

/** Parses the settings. Throws {@link SiteConfigError} with all problems. */
export function parseConfig(text: string): Config {
  let value: unknown;
  try {
    value = parse(text) ?? {};
  } catch (error) {
    throw new SiteConfigError(`not valid YAML: ${(error as Error).message.split("\n", 1)[0]}`);
  }
  const result = configSchema.safeParse(withoutEmpty(value));
  if (result.success) return result.data;
  const problems = result.error.issues.map(
    ({ path, message }) => `${path.map(String).join(".") || "the document"}: ${message}`,
  );
  throw new SiteConfigError(problems.join("; "));
}

/** Drops sections whose lines are all commented out. */
const withoutEmpty = (value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).filter(([, section]) => section !== null))
    : value;
