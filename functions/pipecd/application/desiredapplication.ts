/** The desired registration of an application in PipeCD. */
import type { Context, Stored } from "denrei";
import { since } from "../api/errors.ts";
import type { ApplicationKindName } from "../api/model.ts";
import { profileOfPlane } from "../controlplane/blueprint.ts";
import { applicationKindOf } from "../kinds/application.ts";
import { type Application, type ControlPlane, Environment, Piped } from "../kinds.ts";
import { firstOfC, isV1, type Profile } from "../profile.ts";
import { referenced } from "../server/references.ts";
import { byPlugins, type Deployed, invalid } from "./deploytargets.ts";

/** The desired registration. */
export interface Desired {
  /** Fields that Denrei keeps in sync. */
  readonly registered: Required<Omit<Registered, Absent>> & Pick<Registered, Absent>;
  readonly kind: ApplicationKindName;
  /** When its piped became ready. Milliseconds since the epoch. */
  readonly pipedSince: number;
  /** Sent only at registration, like the labels: later a piped overwrites both with those in the repository. */
  readonly description: string;
  readonly labels: Readonly<Record<string, string>>;
}
/** Fields that not every version has. */
type Absent = "environmentID" | "deployTargets";
type Registered = NonNullable<NonNullable<Application["status"]>["registered"]>;

const configFilenames: Readonly<Record<Profile, string>> = { L0: ".pipe.yaml", C: "app.pipecd.yaml" };

/** The name of an application's configuration file in the repository. */
export const configFilenameOf = (
  { configFilename }: Pick<Application["spec"], "configFilename">,
  profile: Profile,
): string => configFilename || configFilenames[profile];

const defaultProvider = "kubernetes-default";

/** Deployment by an agent of PipeCD v0. */
function byProvider(spec: Application["spec"], profile: Profile): Deployed {
  if (spec.kind === undefined) throw invalid("spec.kind is required with an agent of PipeCD v0");
  if (spec.deployTargetsByPlugin)
    throw invalid(
      "spec.deployTargetsByPlugin needs an agent of PipeCD v1: use spec.cloudProvider for an agent of v0",
    );
  return {
    kind: kindOf(spec.kind, profile),
    provider: spec.platformProvider || spec.cloudProvider || defaultProvider,
    deployTargets: undefined,
    labels: {},
  };
}

/** The kind that a profile does not have. */
const missingKind: Readonly<Record<Profile, ApplicationKindName>> = { L0: "ECS", C: "CROSSPLANE" };

/** Throws a `WaitingError` while a reference does not resolve, and a `BlockedError` if the version does not support the spec. */
export async function desiredOf(
  { spec, status }: Stored<Application>,
  plane: Stored<ControlPlane>,
  ctx: Context,
): Promise<Desired> {
  const profile = profileOfPlane(plane);
  if (profile === "L0" && (spec.labels || spec.description))
    throw invalid(`spec.labels and spec.description need PipeCD ${firstOfC} or later`);
  const of = { projectID: spec.projectID, isSettled: status?.applicationID !== undefined };
  const environment = await referenced(Environment, spec.environmentRef, of, ctx);
  const piped = await referenced(Piped, spec.pipedRef, of, ctx);
  const { environmentID = "" } = environment.status ?? {};
  const deployed = isV1(piped.spec.version) ? byPlugins(spec, piped) : byProvider(spec, profile);
  const { kind, provider, deployTargets } = deployed;
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
      provider,
      ...(deployTargets && { deployTargets }),
    },
    kind,
    pipedSince: since(piped.status?.conditions, "Ready", "True") ?? 0,
    description: spec.description ?? "",
    // The label `env` replaces environments, which PipeCD no longer has.
    labels: profile === "C" ? { ...spec.labels, ...deployed.labels, env: environment.spec.name } : {},
  };
}

function kindOf(text: string, profile: Profile): ApplicationKindName {
  const kind = applicationKindOf(text);
  if (kind !== undefined && kind !== missingKind[profile]) return kind;
  throw invalid(
    profile === "L0"
      ? `PipeCD v0.9.0 does not support the kind ${text}: ECS needs ${firstOfC} or later`
      : `PipeCD does not support the kind ${text}: v0.24 was the last version with Crossplane`,
  );
}
