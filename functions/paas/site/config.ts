/**
 * What an installation of the platform decides for all applications: the ConfigMap `modoki` in the platform's namespace. All
 * of it is optional, and a change of it needs no restart.
 */
import { parse } from "yaml";
import { z } from "zod";
import { hostPatterns } from "../apppipeline/names.ts";
import { siteSchema } from "../charts/site.ts";
import { canonicalHost, isHost } from "../hosts/names.ts";
import { builder } from "../kinds/fields.ts";
import { listedKinds } from "./kinds.ts";

export { siteKeys, siteName } from "./names.ts";

const expectedHost =
  "expected the name of a host, such as web.example.com, *.example.com for all of a domain, or *";
const host = z.string().transform(canonicalHost).refine(isHost, expectedHost);

const hostsSchema = z.strictObject({
  /** The platform's own, and others that no Application may have unless its namespace is allowed to. */
  reserved: z.array(host).default([]),
  /** By namespace: hosts for which it needs more than to be the first. */
  allowed: z.record(z.string().min(1), z.array(host)).default({}),
});

const githubUrl = z.url({ protocol: /^https?$/ });

const configSchema = z.strictObject({
  site: siteSchema.prefault({}),
  hosts: hostsSchema.prefault({}),
  /** Of which charts may make objects, beside those that they may make anyway. */
  kinds: listedKinds,
  /** How hosts of previews are made up. */
  previews: z.strictObject({ hosts: z.enum(hostPatterns).default("unique") }).prefault({}),
  builder: builder.default({ kind: "ClusterBuilder", name: "default" }),
  github: z
    .strictObject({
      url: githubUrl.default("https://github.com"),
      /** Others that Secrets may name. Requests of the platform go nowhere else. */
      allowed: z.array(githubUrl).default([]),
    })
    .prefault({}),
});

/** The settings of a site. */
export type Config = z.output<typeof configSchema>;

/** Which hosts need a permission, and which namespaces have one. */
export type HostsConfig = Config["hosts"];

/** The settings are not what they may be. */
export class SiteConfigError extends Error {
  override readonly name = "SiteConfigError";
}

/** Reads the settings. Throws {@link SiteConfigError}, with all that is wrong. */
export function parseConfig(text: string): Config {
  let value: unknown;
  try {
    value = parse(text) ?? {};
  } catch (error) {
    throw new SiteConfigError(`expected YAML, found ${(error as Error).message.split("\n", 1)[0]}`);
  }
  const result = configSchema.safeParse(withoutEmpty(value));
  if (result.success) return result.data;
  const problems = result.error.issues.map(
    ({ path, message }) => `${path.map(String).join(".") || "the document"}: ${message}`,
  );
  throw new SiteConfigError(problems.join("; "));
}

/** A section all of whose lines are commented out is none. */
const withoutEmpty = (value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).filter(([, section]) => section !== null))
    : value;
