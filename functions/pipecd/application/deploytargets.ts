/** Deployment by an agent of PipeCD v1, which uses plugins instead of a kind and a provider. */
import { BlockedError } from "denrei";
import type { ApplicationKindName } from "../api/model.ts";
import { retryMillis } from "../intervals.ts";
import { applicationKindOf } from "../kinds/application.ts";
import type { Plugin } from "../kinds/plugins.ts";
import type { Application, Piped } from "../kinds.ts";

/** How an agent deploys an application. */
export interface Deployed {
  readonly kind: ApplicationKindName;
  readonly provider: string;
  /** By plugin, sorted by its name. */
  readonly deployTargets: { plugin: string; names: string[] }[] | undefined;
  /** Labels that replace fields that the version does not have. */
  readonly labels: Readonly<Record<string, string>>;
}

/** A user error. It blocks the object until the spec changes. */
export const invalid = (message: string): BlockedError =>
  new BlockedError("ConfigInvalid", message, retryMillis);

/** Throws a `BlockedError` for fields that v1 does not have, and for plugins and deploy targets that the piped does not have. */
export function byPlugins(spec: Application["spec"], piped: Pick<Piped, "metadata" | "spec">): Deployed {
  const problems: string[] = [];
  for (const field of ["cloudProvider", "platformProvider"] as const) {
    if (spec[field])
      problems.push(`spec.${field} needs an agent of PipeCD v0: use spec.deployTargetsByPlugin`);
  }
  const known = new Map((piped.spec.plugins ?? []).map((plugin) => [plugin.name, targetsOf(plugin)]));
  for (const [plugin, targets] of Object.entries(spec.deployTargetsByPlugin ?? {})) {
    problems.push(...problemsOf(plugin, targets, known, piped.metadata.name));
  }
  if (problems.length > 0) throw invalid(problems.join("; "));
  const kind = spec.kind === undefined ? undefined : applicationKindOf(spec.kind);
  return {
    // PipeCD always stores a kind, but an agent of v1 does not read it.
    kind: kind === undefined || kind === "CROSSPLANE" ? "KUBERNETES" : kind,
    provider: "",
    deployTargets: Object.entries(spec.deployTargetsByPlugin ?? {})
      .map(([plugin, names]) => ({ plugin, names }))
      .sort((a, b) => (a.plugin < b.plugin ? -1 : 1)),
    labels: kind === undefined ? {} : { kind },
  };
}

function problemsOf(
  plugin: string,
  targets: readonly string[],
  known: ReadonlyMap<string, readonly string[]>,
  piped: string,
): readonly string[] {
  const path = `spec.deployTargetsByPlugin.${plugin}`;
  const found = known.get(plugin);
  if (found === undefined) {
    const names = [...known.keys()].join(", ") || "none";
    return [`${path}: expected a plugin of the Piped ${piped}, which has ${names}`];
  }
  return targets.flatMap((target, index) => {
    if (targets.indexOf(target) < index) return [`${path}[${index}]: ${target} is a duplicate`];
    if (found.includes(target)) return [];
    const names = found.join(", ") || "none";
    return [`${path}[${index}]: expected a deploy target of the plugin, which has ${names}, found ${target}`];
  });
}

const targetsOf = (plugin: Plugin): readonly string[] => {
  const { kubernetes, terraform, cloudRun, ecs, custom } = plugin;
  const { deployTargets = [] } = kubernetes ?? terraform ?? cloudRun ?? ecs ?? custom ?? {};
  return deployTargets.map(({ name }) => name);
};
