/** The objects of a preview. Pure. */

import type { NewChild, Stored } from "denrei";
import type { Application } from "../kinds/application.ts";
import type { AppPipeline } from "../kinds/apppipeline.ts";
import type { RemoteSync } from "../kinds/remotesync.ts";
import { annotations, labels } from "../names.ts";
import type { HostPattern } from "../site/config.ts";
import { previewHost, previewName } from "./names.ts";
import type { Candidate } from "./select.ts";
import { filledTemplate } from "./variables.ts";

/** An Application and the RemoteSync that keeps its image built. */
export interface PreviewObjects {
  readonly application: NewChild<Application>;
  readonly remoteSync: NewChild<RemoteSync>;
}

/** A fork's code gets no secrets and no ServiceAccount, because it could send them anywhere. */
function withoutSecrets(spec: NonNullable<AppPipeline["spec"]["applicationTemplate"]["spec"]>): typeof spec {
  const { env, envFrom, serviceAccount: _, ...rest } = spec;
  return {
    ...rest,
    ...(env && { env: env.filter(({ valueFrom }) => valueFrom?.secretKeyRef === undefined) }),
    ...(envFrom && { envFrom: envFrom.filter(({ secretRef }) => secretRef === undefined) }),
  };
}

/** Build settings of a preview. A fork's build gets only variables marked for forks: users write secrets in the others, because kpack cannot read Secrets. */
function buildOf(
  { env = [], ...rest }: NonNullable<AppPipeline["spec"]["build"]>,
  fork: string | undefined,
): RemoteSync["spec"]["build"] {
  const given = env
    .filter(({ forks = false }) => fork === undefined || forks)
    .map(({ forks: _, ...variable }) => variable);
  return { ...rest, ...(given.length > 0 && { env: given }) };
}

/** Host of a pull request's preview. */
export const hostOf = (
  { metadata, spec }: Stored<AppPipeline>,
  number: number,
  pattern: HostPattern,
): string =>
  previewHost({ namespace: metadata.namespace ?? "", name: metadata.name }, number, spec.domainBase, pattern);

/** The Application and the RemoteSync of a pull request's preview. */
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
      // The number of pods has a default, which the type does not know.
      spec: { ...runtime, domains: [host] } as Application["spec"],
    },
    remoteSync: {
      metadata: {
        name,
        labels: own,
        // If the RemoteSync misses its own webhook, this annotation triggers it when the pipeline sees the commit.
        ...(approvedSHA === undefined && { annotations: { [annotations.headSHA]: candidate.headSHA } }),
      },
      spec: {
        applicationRef: { name },
        base: {
          github: {
            ...base.github,
            // Approvals are for commits.
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
