/** Application: registered with the control plane once its piped has reported the application's repository. */
import { isDeepStrictEqual } from "node:util";
import {
  type ConditionUpdate,
  type Context,
  defineFunction,
  type Result,
  type StatusFields,
  type Stored,
} from "denrei";
import { finalizeApplication } from "./application/applicationdeletion.ts";
import { register } from "./application/applicationregistration.ts";
import { type Desired, desiredOf } from "./application/desiredapplication.ts";
import { formerOf, recordInterrupted, retire, yieldPlace } from "./application/formerapplications.ts";
import { describeRegistration } from "./application/place.ts";
import { isWaitingForPlace } from "./application/placeclaims.ts";
import { profileOfPlane } from "./controlplane/blueprint.ts";
import { syncMillis } from "./intervals.ts";
import { Application, ControlPlane, Environment, Piped } from "./kinds.ts";
import { namedSecret, namespaceIndex, neighbor, ownNamespace, within } from "./kubernetes/watches.ts";
import { group, objectNames } from "./names.ts";
import { formerRegistered } from "./server/announcement.ts";
import {
  assertReady,
  isSyncDue,
  planeFor,
  ready,
  reconcileOrWait,
  syncedStatus,
  untilSync,
} from "./server/dependent.ts";
import { deregisterPermissions } from "./server/deregistration.ts";
import { openServer } from "./server/openserver.ts";
import { outbound } from "./server/serveraddress.ts";

/** Limits the calls after a control plane outage, when every Application of a namespace asks PipeCD again. */
const perSecond = 50;

export default defineFunction({
  name: "pipecd-application",
  for: Application,
  outbound,
  indexes: {
    ...namespaceIndex,
    waitingForPlace: (application) =>
      isWaitingForPlace(application) ? [application.metadata.namespace ?? ""] : [],
    secret: (application) =>
      [objectNames.secret, application.spec.apiKeySecretRef?.name ?? []]
        .flat()
        .map((name) => within(application, name)),
  },
  watches: [
    neighbor(ControlPlane, perSecond),
    neighbor(Environment),
    neighbor(Piped),
    namedSecret,
    ownNamespace,
    // A changed Application may have freed the path that another one waits for.
    {
      kind: Application,
      keys: ({ metadata }, find) => find("waitingForPlace", metadata.namespace ?? ""),
    },
  ],
  permissions: [
    { apiGroups: [group], resources: [Application.plural, ControlPlane.plural], verbs: ["list"] },
    ...deregisterPermissions,
  ],
  sweepMillis: syncMillis,
  reconcile(application, ctx) {
    let desired: Desired | undefined;
    const onDesired = (found: Desired) => {
      desired = found;
    };
    return reconcileOrWait(
      Application,
      application,
      ctx,
      () => reconcileApplication(application, ctx, onDesired),
      (latest) => formerConditions(latest, desired),
    );
  },
  finalize: finalizeApplication,
});

async function reconcileApplication(
  application: Stored<Application>,
  ctx: Context,
  onDesired: (desired: Desired) => void,
): Promise<Result> {
  const plane = await planeFor(application, ctx);
  const desired = await desiredOf(application, plane, ctx);
  onDesired(desired);
  const { status = {} } = application;
  const now = ctx.now();
  const { applicationID, registering, registered: last } = status;
  const isAsDesired = registering === undefined && isDeepStrictEqual(last, desired.registered);
  if (applicationID !== undefined && isAsDesired && !isSyncDue(status, plane, now)) {
    const written = await writeStatus(application, desired, applicationID, {}, ctx);
    return finish(written, plane, untilSync(status, now), ctx);
  }
  assertReady(plane);
  const client = await openServer(plane, application.spec, ctx);
  const recovered = await recordInterrupted(application, desired.registered, client, plane, ctx);
  const unblocked = await yieldPlace(recovered, desired.registered, plane, ctx);
  const { id, application: latest } = await register(unblocked, desired, profileOfPlane(plane), client, ctx);
  const written = await writeStatus(latest, desired, id, syncedStatus(plane, now), ctx);
  return finish(written, plane, syncMillis, ctx);
}

/** Removes `deployTargets` when the agent is v0 again: a merge patch keeps fields that it does not name. */
const registeredPatch = (
  { status }: Stored<Application>,
  registered: Desired["registered"],
): StatusFields<Application>["registered"] =>
  status?.registered?.deployTargets && !registered.deployTargets
    ? { ...registered, deployTargets: null }
    : registered;

/** Deletes the registrations that this one replaces, then reports the application as ready. */
async function finish(
  application: Stored<Application>,
  plane: Stored<ControlPlane>,
  intervalMillis: number,
  ctx: Context,
): Promise<Result> {
  const { object, requeueAfter = intervalMillis } = await retire(application, plane, ctx);
  await ctx.status(Application, object, {}, [ready("True", "Registered", "PipeCD has the application")]);
  return { requeueAfter };
}

/** Writes the current registration and the ones that it replaces in one step. */
function writeStatus(
  application: Stored<Application>,
  { registered }: Desired,
  applicationID: string,
  synced: Partial<NonNullable<Application["status"]>>,
  ctx: Context,
): Promise<Stored<Application>> {
  const former = formerOf(application, applicationID);
  const { pipedID, repository, path } = registered;
  const message = `PipeCD has the application ${applicationID} at ${repository}/${path}`;
  const status = {
    ...synced,
    ...{ applicationID, pipedID, registered: registeredPatch(application, registered), registering: null },
    former: former.length > 0 ? former : null,
  };
  return ctx.status(Application, application, status, [
    { type: "Registered", status: "True", reason: "Registered", message },
    // Not ready until the former registrations are deleted.
    ...(former.length > 0 ? [] : [ready("True", "Registered", "PipeCD has the application")]),
  ]);
}

/** Reports that PipeCD still has the former registration. `desired` is undefined when a reference does not resolve. */
function formerConditions(
  application: Stored<Application>,
  desired: Desired | undefined,
): readonly ConditionUpdate[] {
  const { registered: last } = application.status ?? {};
  const { repository, path, projectID } = application.spec;
  const isFormer =
    desired === undefined
      ? !isDeepStrictEqual([last?.repository, last?.path, last?.projectID], [repository, path, projectID])
      : !isDeepStrictEqual(last, desired.registered);
  return isFormer ? formerRegistered(application, describeRegistration(application)) : [];
}
