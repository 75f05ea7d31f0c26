/**
 * What an installation of the platform decides for all applications: the ConfigMap `modoki` in the platform's namespace. All
 * of it is optional, and a change of it needs no restart.
 */
import { parse } from "yaml";
import { z } from "zod";
import { siteSchema } from "../charts/site.ts";
import { builder } from "../kinds/fields.ts";

/** Name of the ConfigMap. */
export const siteName = "modoki";
/** Its keys: the settings, and a chart in one language or the other. */
export const siteKeys = { config: "config.yaml", typescript: "chart.ts", javascript: "chart.js" } as const;

const configSchema = z.strictObject({
  site: siteSchema.prefault({}),
  builder: builder.default({ kind: "ClusterBuilder", name: "default" }),
  github: z.strictObject({ url: z.url({ protocol: /^https?$/ }).default("https://github.com") }).prefault({}),
});

/** The settings of a site. */
export type Config = z.output<typeof configSchema>;

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
