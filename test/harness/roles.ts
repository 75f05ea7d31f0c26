/** Bus users for tests: the roles of the shipped functions and of test functions. */
import { busRoles, mergePermissions, type Role } from "../../bus/permissions.ts";
import { type ReconcileFunction, subscriptionsOf } from "../../bus/worker/function.ts";
import { functions } from "../../functions/index.ts";
import albums from "../fixtures/functions/albums.ts";
import branches from "../fixtures/functions/branches.ts";
import census from "../fixtures/functions/census.ts";
import gardeners from "../fixtures/functions/gardeners.ts";
import giants from "../fixtures/functions/giants.ts";
import grains from "../fixtures/functions/grains.ts";
import inspectors from "../fixtures/functions/inspectors.ts";
import letters from "../fixtures/functions/letters.ts";
import mirrors from "../fixtures/functions/mirrors.ts";
import notes from "../fixtures/functions/notes.ts";
import onlooker from "../fixtures/functions/onlooker.ts";
import planters from "../fixtures/functions/planters.ts";
import probe from "../fixtures/functions/probe.ts";
import shelves from "../fixtures/functions/shelves.ts";
import signposts from "../fixtures/functions/signposts.ts";
import stickers from "../fixtures/functions/stickers.ts";
import towns from "../fixtures/functions/towns.ts";

/** Every function that a test may run. */
export const testFunctions: readonly ReconcileFunction[] = [
  ...functions,
  albums,
  branches,
  census,
  letters,
  mirrors,
  notes,
  onlooker,
  gardeners,
  giants,
  grains,
  inspectors,
  signposts,
  stickers,
  planters,
  probe,
  shelves,
  towns,
];

/** Names of the clusters in tests, all on one bus. */
const clusters = ["default", "elsewhere", "late"];

/** The roles, each with its rights in all of the clusters. */
export function testRoles(): Role[] {
  const all = clusters.flatMap((cluster) => busRoles(subscriptionsOf(testFunctions, cluster), cluster));
  return [...Map.groupBy(all, ({ name }) => name)].map(([name, roles]) => ({
    name,
    account: roles.some(({ account }) => account === "bus") ? "bus" : "own",
    permissions: mergePermissions(...roles.flatMap(({ permissions }) => permissions ?? [])),
  }));
}
