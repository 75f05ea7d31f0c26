/** What an application is to be at PipeCD, as far as what it depends on is there. */
import type { Stored } from "../../../bus/kube/object.ts";
import { BlockedError } from "../../../bus/worker/errors.ts";
import type { Context } from "../../../bus/worker/function.ts";
import { since } from "../api/errors.ts";
import type { ApplicationKindName } from "../api/model.ts";
import { profileOfPlane } from "../controlplane/blueprint.ts";
import { applicationKindOf } from "../kinds/application.ts";
import { type Application, type ControlPlane, Environment, Piped } from "../kinds.ts";
import { patience } from "../pace.ts";
import { firstOfC, type Profile } from "../profile.ts";
import { referenced } from "../server/references.ts";

/** What PipeCD is to know of an application. */
export interface Wanted {
  /** What is looked after. */
  readonly registered: Required<Omit<Registered, "environmentID">> & Pick<Registered, "environmentID">;
  readonly kind: ApplicationKindName;
  /** Since when its piped has been ready. Milliseconds since the epoch. */
  readonly pipedSince: number;
  /** What is said once: later the files in the repository say it. */
  readonly description: string;
  readonly labels: Readonly<Record<string, string>>;
}
type Registered = NonNullable<NonNullable<Application["status"]>["registered"]>;

const configFilenames: Readonly<Record<Profile, string>> = { L0: ".pipe.yaml", C: "app.pipecd.yaml" };

/** The name of its configuration file. */
export const configFilenameOf = (
  { configFilename }: Pick<Application["spec"], "configFilename">,
  profile: Profile,
): string => configFilename || configFilenames[profile];

const defaultProvider = "kubernetes-default";

/** Kinds that a version does not have. */
const missingKind: Readonly<Record<Profile, ApplicationKindName>> = { L0: "ECS", C: "CROSSPLANE" };

/** All of it. Throws when something that it depends on is not there, or the version can not have it. */
export async function wantedOf(
  { spec, status }: Stored<Application>,
  plane: Stored<ControlPlane>,
  ctx: Context,
): Promise<Wanted> {
  const profile = profileOfPlane(plane);
  const kind = kindOf(spec.kind, profile);
  if (profile === "L0" && (spec.labels || spec.description))
    throw invalid(`spec.labels and spec.description need PipeCD ${firstOfC} or later`);
  const of = { projectID: spec.projectID, isSettled: status?.applicationID !== undefined };
  const environment = await referenced(Environment, spec.environmentRef, of, ctx);
  const piped = await referenced(Piped, spec.pipedRef, of, ctx);
  const { environmentID = "" } = environment.status ?? {};
  return {
    registered: {
      name: spec.name,
      projectID: spec.projectID,
      ...(profile === "L0" && { environmentID }),
      pipedID: piped.status?.pipedID ?? "",
      repository: spec.repository,
      path: spec.path,
      kind,
      configFilename: configFilenameOf(spec, profile),
      provider: spec.platformProvider || spec.cloudProvider || defaultProvider,
    },
    kind,
    pipedSince: since(piped.status?.conditions, "Ready", "True") ?? 0,
    description: spec.description ?? "",
    // In place of an environment, which PipeCD does not have any more.
    labels: profile === "C" ? { ...spec.labels, env: environment.spec.name } : {},
  };
}

const invalid = (message: string): BlockedError => new BlockedError("ConfigInvalid", message, patience);

function kindOf(text: string, profile: Profile): ApplicationKindName {
  const kind = applicationKindOf(text);
  if (kind !== undefined && kind !== missingKind[profile]) return kind;
  throw invalid(
    profile === "L0"
      ? `expected spec.kind to be one that PipeCD v0.9.0 has, found ${text}: ECS needs ${firstOfC} or later`
      : `expected spec.kind to be one that PipeCD has, found ${text}: v0.24 was the last to have Crossplane`,
  );
}
