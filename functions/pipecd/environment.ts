/** Environment: registered with the control plane up to v0.9.0, and a label of applications from v0.37.1. */
import { isDeepStrictEqual } from "node:util";
import { BlockedError, type Context, defineFunction, type Result, type Stored } from "denrei";
import type { Environments } from "./api/services.ts";
import { profileOfPlane } from "./controlplane/blueprint.ts";
import { retryMillis, syncMillis } from "./intervals.ts";
import { Application, ControlPlane, Environment, Piped } from "./kinds.ts";
import { isNamespaceTerminating, waitForUsers } from "./kubernetes/finalizers.ts";
import {
  deletedNeighbor,
  namedSecret,
  namespaceIndex,
  neighbor,
  ownNamespace,
} from "./kubernetes/watches.ts";
import { group, objectNames } from "./names.ts";
import {
  assertReady,
  isSyncDue,
  planeFor,
  ready,
  reconcileOrWait,
  syncedStatus,
  untilSync,
} from "./server/dependent.ts";
import { openServer } from "./server/openserver.ts";
import { outbound } from "./server/serveraddress.ts";

type Env = Stored<Environment>;
type Registered = NonNullable<NonNullable<Environment["status"]>["registered"]>;

export default defineFunction({
  name: "pipecd-environment",
  for: Environment,
  outbound,
  indexes: { ...namespaceIndex, secret: ({ metadata }) => [`${metadata.namespace}/${objectNames.secret}`] },
  watches: [
    neighbor(ControlPlane),
    deletedNeighbor(Piped),
    deletedNeighbor(Application),
    namedSecret,
    ownNamespace,
  ],
  permissions: [{ apiGroups: [group], resources: [Piped.plural, Application.plural], verbs: ["list"] }],
  sweepMillis: syncMillis,
  reconcile: (environment, ctx) =>
    reconcileOrWait(Environment, environment, ctx, () => reconcileEnvironment(environment, ctx)),
  finalize: finalizeEnvironment,
});

async function reconcileEnvironment(environment: Env, ctx: Context): Promise<Result | undefined> {
  const { spec, status = {} } = environment;
  const plane = await planeFor(environment, ctx);
  if (profileOfPlane(plane) === "C") {
    await ctx.status(Environment, environment, { environmentID: spec.name }, [
      ready(
        "True",
        "RegisteredAsLabel",
        `applications have the label env=${spec.name}: PipeCD has no environments`,
      ),
    ]);
    return undefined;
  }
  const desired = { name: spec.name, projectID: spec.projectID };
  const now = ctx.now();
  const isKnown = status.environmentID !== undefined && isDeepStrictEqual(status.registered, desired);
  if (isKnown && !isSyncDue(status, plane, now)) {
    await writeStatus(environment, {}, ctx);
    return { requeueAfter: untilSync(status, now) };
  }
  assertReady(plane);
  const { environments } = await openServer(plane, spec, ctx);
  if (environments === undefined) throw new TypeError("expected a server with environments");
  const id = await idOf(environments, environment, ctx);
  if (status.environmentID !== undefined && status.environmentID !== id)
    reportFormer(environment, desired, ctx);
  await writeStatus(
    environment,
    { environmentID: id, registered: desired, ...syncedStatus(plane, now) },
    ctx,
  );
  return { requeueAfter: syncMillis };
}

/** Emits an Event about the former environment. If it had the current name, PipeCD has lost it: the list would include it. */
function reportFormer({ status }: Env, desired: Registered, ctx: Context): void {
  const { environmentID, registered } = status ?? {};
  if (registered === undefined) return;
  if (isDeepStrictEqual(registered, desired))
    ctx.event(
      "Warning",
      "RegistrationLost",
      `PipeCD no longer has the environment ${registered.name} (${environmentID}): registered it again`,
    );
  else
    ctx.event(
      "Warning",
      "EnvironmentRetained",
      `PipeCD still has the environment ${registered.name} (${environmentID}): this version cannot delete it`,
    );
}

const writeStatus = (
  environment: Env,
  status: Partial<NonNullable<Environment["status"]>>,
  ctx: Context,
): Promise<Env> =>
  ctx.status(Environment, environment, status, [ready("True", "Registered", "PipeCD has the environment")]);

/** The id of the environment with that name, created if missing. Names are not unique in PipeCD. */
async function idOf(environments: Environments, { spec, status }: Env, ctx: Context): Promise<string> {
  const find = async () => (await environments.list()).filter(({ name }) => name === spec.name);
  let found = await find();
  const [first] = found;
  if (first === undefined) {
    ctx.assertOwned();
    await environments.add({ name: spec.name, description: spec.description });
    ctx.event("Normal", "Registered", `registered the environment ${spec.name} with PipeCD`);
    found = await find();
  }
  const [id, ...others] = found.map(({ id }) => id);
  if (id === undefined)
    throw new BlockedError(
      "NotListed",
      `PipeCD does not list the environment ${spec.name}, which it has just created`,
    );
  if (others.length === 0) return id;
  const known = status?.environmentID;
  if (known !== undefined && [id, ...others].includes(known)) return known;
  throw new BlockedError(
    "Ambiguous",
    `expected one environment ${spec.name} in the project ${spec.projectID}, found ${others.length + 1}: ${[id, ...others].join(", ")}. Give this one another name.`,
    retryMillis,
  );
}

/** PipeCD cannot delete environments, so only Pipeds and Applications that use this one delay the deletion. */
async function finalizeEnvironment(environment: Env, ctx: Context): Promise<Result | undefined> {
  if (await isNamespaceTerminating(ctx)) return undefined;
  const users = [...(await ctx.live.list(Piped)), ...(await ctx.live.list(Application))].filter(
    ({ spec }) => spec.environmentRef?.objectName === environment.metadata.name,
  );
  const kept = await waitForUsers(Environment, environment, users, ctx);
  if (kept) return kept;
  if (environment.status?.registered)
    ctx.event(
      "Normal",
      "EnvironmentRetained",
      `PipeCD keeps the environment ${environment.spec.name}: this version cannot delete it`,
    );
  return undefined;
}
