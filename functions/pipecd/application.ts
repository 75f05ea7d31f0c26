/** Application: known to the control plane as soon as its piped has reported the repository that it is in. */
import { isDeepStrictEqual } from "node:util";
import type { Stored } from "../../bus/kube/object.ts";
import { type Context, defineFunction, type Result } from "../../bus/worker/function.ts";
import { leave } from "./application/leave.ts";
import { register } from "./application/registration.ts";
import { type Wanted, wantedOf } from "./application/wanted.ts";
import { Application, ControlPlane, Environment, Piped } from "./kinds.ts";
import { namedSecret, namespaceIndex, neighbour, ownNamespace, within } from "./kubernetes/watches.ts";
import { group, objectNames } from "./names.ts";
import { driftMillis } from "./pace.ts";
import { outbound } from "./server/address.ts";
import { assertReady, isSyncDue, orWait, planeFor, ready, syncedNow, untilSync } from "./server/dependent.ts";
import { farewellPermissions } from "./server/farewell.ts";
import { openServer } from "./server/open.ts";

/** There may be many, and each asks PipeCD when it has been away: not all at once. */
const perSecond = 50;

export default defineFunction({
  name: "pipecd-application",
  for: Application,
  outbound,
  indexes: {
    ...namespaceIndex,
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
  ],
  permissions: [
    { apiGroups: [group], resources: [ControlPlane.plural], verbs: ["list"] },
    ...farewellPermissions,
  ],
  sweepMillis: driftMillis,
  reconcile: (application, ctx) =>
    orWait(Application, application, ctx, () => keepApplication(application, ctx)),
  finalize: leave,
});

async function keepApplication(application: Stored<Application>, ctx: Context): Promise<Result> {
  const plane = await planeFor(application, ctx);
  const wanted = await wantedOf(application, plane, ctx);
  const { status = {} } = application;
  const now = ctx.now();
  const isAsWanted =
    status.applicationID !== undefined && isDeepStrictEqual(status.registered, wanted.registered);
  if (isAsWanted && !isSyncDue(status, plane, now)) {
    await say(application, wanted, {}, ctx);
    return { requeueAfter: untilSync(status, now) };
  }
  assertReady(plane);
  const client = await openServer(plane, application.spec, ctx);
  const { id, application: latest } = await register(application, wanted, client, plane, ctx);
  await say(latest, wanted, { applicationID: id, ...syncedNow(plane, now) }, ctx);
  return { requeueAfter: driftMillis };
}

const say = (
  application: Stored<Application>,
  { registered }: Wanted,
  status: Partial<NonNullable<Application["status"]>>,
  ctx: Context,
): Promise<Stored<Application>> =>
  ctx.status(Application, application, { ...status, pipedID: registered.pipedID, registered }, [
    { type: "Registered", status: "True", reason: "Registered", message: "PipeCD has the application" },
    ready("True", "Registered", "PipeCD has the application"),
  ]);
