/**
 * Settings of a platform installation for all applications, in the ConfigMap `modoki` of the platform's namespace. All are
 * optional, and a change needs no restart.
 */
import { parse } from "yaml";
import { z } from "zod";
import { hostPatterns } from "../apppipeline/names.ts";
import { siteSchema } from "../charts/site.ts";
import { canonicalHost, isHost } from "../hosts/names.ts";
import { builder } from "../kinds/fields.ts";
import { listedKinds } from "./kinds.ts";

export { siteKeys, siteName } from "./names.ts";

const expectedHost = "expected a host such as web.example.com, *.example.com for all hosts of a domain, or *";
const host = z.string().transform(canonicalHost).refine(isHost, expectedHost);

const hostsSchema = z.strictObject({
  /** Hosts of the platform, and others that no Application may have unless its namespace is allowed to. */
  reserved: z.array(host).default([]),
  /** By namespace: hosts that need a permission, not only the first claim. */
  allowed: z.record(z.string().min(1), z.array(host)).default({}),
});

const githubUrl = z.url({ protocol: /^https?$/ });

const configSchema = z.strictObject({
  site: siteSchema.prefault({}),
  hosts: hostsSchema.prefault({}),
  /** Kinds that charts may make in addition to the built-in ones. */
  kinds: listedKinds,
  /** Pattern of previews' hosts. */
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

/** Hosts that need a permission, and the namespaces that have one. */
export type HostsConfig = Config["hosts"];

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
