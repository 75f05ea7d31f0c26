/** Application: registered at the control plane once its piped has reported the application's repository. */
import { isDeepStrictEqual } from "node:util";
import type { ConditionUpdate } from "../../bus/kube/conditions.ts";
import type { Stored } from "../../bus/kube/object.ts";
import { type Context, defineFunction, type Result, type Watch } from "../../bus/worker/function.ts";
import { formerOf, giveWay, rememberBegun, retire } from "./application/former.ts";
import { leave } from "./application/leave.ts";
import { soFarOf } from "./application/place.ts";
import { register } from "./application/registration.ts";
import { isWaitingForPlace } from "./application/turn.ts";
import { type Wanted, wantedOf } from "./application/wanted.ts";
import { profileOfPlane } from "./controlplane/blueprint.ts";
import { Application, ControlPlane, Environment, Piped } from "./kinds.ts";
import { namedSecret, namespaceIndex, neighbour, ownNamespace, within } from "./kubernetes/watches.ts";
import { group, objectNames } from "./names.ts";
import { driftMillis } from "./pace.ts";
import { outbound } from "./server/address.ts";
import { assertReady, isSyncDue, orWait, planeFor, ready, syncedNow, untilSync } from "./server/dependent.ts";
import { farewellPermissions } from "./server/farewell.ts";
import { openServer } from "./server/open.ts";
import { formerRegistered } from "./server/registering.ts";

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
    neighbour(ControlPlane, perSecond),
    neighbour(Environment),
    neighbour(Piped),
    namedSecret,
    ownNamespace,
    // A changed Application may have freed the path that another one waits for.
    {
      kind: Application,
      keys: ({ metadata }, find) => find("waitingForPlace", metadata.namespace ?? ""),
    } satisfies Watch<Application> as unknown as Watch,
  ],
  permissions: [
    { apiGroups: [group], resources: [Application.plural, ControlPlane.plural], verbs: ["list"] },
    ...farewellPermissions,
  ],
  sweepMillis: driftMillis,
  reconcile(application, ctx) {
    let wanted: Wanted | undefined;
    const note = (found: Wanted) => {
      wanted = found;
    };
    return orWait(
      Application,
      application,
      ctx,
      () => keepApplication(application, ctx, note),
      (latest) => claimsOf(latest, wanted),
    );
  },
  finalize: leave,
});

async function keepApplication(
  application: Stored<Application>,
  ctx: Context,
  note: (wanted: Wanted) => void,
): Promise<Result> {
  const plane = await planeFor(application, ctx);
  const wanted = await wantedOf(application, plane, ctx);
  note(wanted);
  const { status = {} } = application;
  const now = ctx.now();
  const { applicationID, registering, registered: last } = status;
  const isAsWanted = registering === undefined && isDeepStrictEqual(last, wanted.registered);
  if (applicationID !== undefined && isAsWanted && !isSyncDue(status, plane, now)) {
    const said = await say(application, wanted, applicationID, {}, ctx);
    return finish(said, plane, untilSync(status, now), ctx);
  }
  assertReady(plane);
  const client = await openServer(plane, application.spec, ctx);
  const begun = await rememberBegun(application, wanted.registered, client, plane, ctx);
  const before = await giveWay(begun, wanted.registered, plane, ctx);
  const { id, application: latest } = await register(before, wanted, profileOfPlane(plane), client, ctx);
  const said = await say(latest, wanted, id, syncedNow(plane, now), ctx);
  return finish(said, plane, driftMillis, ctx);
}

/** Removes `deployTargets` when the agent is v0 again: a merge patch keeps fields that it does not name. */
const whole = ({ status }: Stored<Application>, registered: Wanted["registered"]): Wanted["registered"] =>
  status?.registered?.deployTargets && !registered.deployTargets
    ? ({ ...registered, deployTargets: null } as object as Wanted["registered"])
    : registered;

/** Deletes the registrations that this one replaces, then reports the application as ready. */
async function finish(
  application: Stored<Application>,
  plane: Stored<ControlPlane>,
  againMillis: number,
  ctx: Context,
): Promise<Result> {
  const { object, requeueAfter = againMillis } = await retire(application, plane, ctx);
  await ctx.status(Application, object, {}, [ready("True", "Registered", "PipeCD has the application")]);
  return { requeueAfter };
}

/** Writes the current registration and the ones that it replaces in one step. */
function say(
  application: Stored<Application>,
  { registered }: Wanted,
  applicationID: string,
  synced: Partial<NonNullable<Application["status"]>>,
  ctx: Context,
): Promise<Stored<Application>> {
  const former = formerOf(application, applicationID);
  const { pipedID, repository, path } = registered;
  const message = `PipeCD has the application ${applicationID} at ${repository}/${path}`;
  // In a merge patch, null removes a field.
  const status = {
    ...synced,
    ...{ applicationID, pipedID, registered: whole(application, registered), registering: null },
    former: former.length > 0 ? former : null,
  };
  return ctx.status(Application, application, status as object, [
    { type: "Registered", status: "True", reason: "Registered", message },
    // Not ready until the former registrations are deleted.
    ...(former.length > 0 ? [] : [ready("True", "Registered", "PipeCD has the application")]),
  ]);
}

/** Reports that PipeCD still has the former registration. `wanted` is undefined when a reference does not resolve. */
function claimsOf(application: Stored<Application>, wanted: Wanted | undefined): readonly ConditionUpdate[] {
  const { registered: last } = application.status ?? {};
  const { repository, path, projectID } = application.spec;
  const isFormer =
    wanted === undefined
      ? !isDeepStrictEqual([last?.repository, last?.path, last?.projectID], [repository, path, projectID])
      : !isDeepStrictEqual(last, wanted.registered);
  return isFormer ? formerRegistered(application, soFarOf(application)) : [];
}
