/** The objects of a preview. Pure. */
import type { Stored } from "../../../bus/kube/object.ts";
import type { NewChild } from "../../../bus/worker/function.ts";
import type { Application } from "../kinds/application.ts";
import type { AppPipeline } from "../kinds/apppipeline.ts";
import type { RemoteSync } from "../kinds/remotesync.ts";
import { annotations, labels } from "../names.ts";
import { type HostPattern, previewHost, previewName } from "./names.ts";
import type { Candidate } from "./select.ts";
import { filledTemplate } from "./variables.ts";

/** An Application and the RemoteSync that keeps its image built. */
export interface PreviewObjects {
  readonly application: NewChild<Application>;
  readonly remoteSync: NewChild<RemoteSync>;
}

/** To a stranger's code nothing is told that is a secret, and it acts as nobody: what it has, it can send anywhere. */
function withoutSecrets(spec: NonNullable<AppPipeline["spec"]["applicationTemplate"]["spec"]>): typeof spec {
  const { env, envFrom, serviceAccount: _, ...rest } = spec;
  return {
    ...rest,
    ...(env && { env: env.filter(({ valueFrom }) => valueFrom?.secretKeyRef === undefined) }),
    ...(envFrom && { envFrom: envFrom.filter(({ secretRef }) => secretRef === undefined) }),
  };
}

/** How a preview is built. A stranger's build gets variables that are marked for it: kpack takes none from Secrets, so others may be secret. */
function buildOf(
  { env = [], ...rest }: NonNullable<AppPipeline["spec"]["build"]>,
  fork: string | undefined,
): RemoteSync["spec"]["build"] {
  const given = env
    .filter(({ forks = false }) => fork === undefined || forks)
    .map(({ forks: _, ...variable }) => variable);
  return { ...rest, ...(given.length > 0 && { env: given }) };
}

/** Where a pull request's preview is reached. */
export const hostOf = (
  { metadata, spec }: Stored<AppPipeline>,
  number: number,
  pattern: HostPattern,
): string =>
  previewHost({ namespace: metadata.namespace ?? "", name: metadata.name }, number, spec.domainBase, pattern);

/** What a pull request's preview is made of. */
export function previewObjects(
  owner: Stored<AppPipeline>,
  candidate: Candidate,
  pattern: HostPattern,
): PreviewObjects {
  const { metadata, spec } = owner;
  const { name: pipeline } = metadata;
  const { number, fork, approvedSHA } = candidate;
  const { base, image, build, builder, revision } = spec;
  const name = previewName(pipeline, number);
  const host = hostOf(owner, number, pattern);
  const template = filledTemplate(spec.applicationTemplate, candidate, host);
  const own = { [labels.pipeline]: pipeline, [labels.pullRequest]: String(number) };
  const runtime = fork === undefined ? template.spec : template.spec && withoutSecrets(template.spec);
  return {
    application: {
      metadata: {
        name,
        labels: { ...template.metadata?.labels, ...own },
        ...(template.metadata?.annotations && { annotations: template.metadata.annotations }),
      },
      // The number of pods has a default.
      spec: { ...runtime, domains: [host] } as Application["spec"],
    },
    remoteSync: {
      metadata: {
        name,
        labels: own,
        // Should its own webhook be lost, it asks for the commit when the pipeline has heard of it.
        ...(approvedSHA === undefined && { annotations: { [annotations.headSHA]: candidate.headSHA } }),
      },
      spec: {
        applicationRef: { name },
        base: {
          github: {
            ...base.github,
            // What was approved is a commit.
            ...(approvedSHA === undefined ? { pullRequest: number } : { sha: approvedSHA }),
          },
          ...(base.subPath !== undefined && { subPath: base.subPath }),
        },
        image,
        ...(revision !== undefined && { revision }),
        ...(build !== undefined && { build: buildOf(build, fork) }),
        ...(builder !== undefined && { builder }),
      },
    },
  };
}
