/** All mutations, by the part of the product that they break. */
import { bridge } from "./areas/bridge.ts";
import { cli } from "./areas/cli.ts";
import { dashboard } from "./areas/dashboard.ts";
import { functions } from "./areas/functions.ts";
import { gateway } from "./areas/gateway.ts";
import { manifests } from "./areas/manifests.ts";
import { page } from "./areas/page.ts";
import { queue } from "./areas/queue.ts";
import { worker } from "./areas/worker.ts";
import type { Area, Mutation } from "./mutation.ts";

/** The areas, in the order in which they run. */
export const areas: readonly Area[] = [
  { name: "bridge", mutations: bridge },
  { name: "queue", mutations: queue },
  { name: "worker", mutations: worker },
  { name: "gateway", mutations: gateway },
  { name: "functions", mutations: functions },
  { name: "dashboard", mutations: dashboard },
  { name: "page", mutations: page },
  { name: "cli", mutations: cli },
  { name: "manifests", mutations: manifests },
];

/** Which mutations to run; without a choice, all of them. */
export interface Choice {
  readonly only?: readonly string[] | undefined;
  readonly name?: string | undefined;
}

/** The chosen mutations, without empty areas. */
export const chosen = ({ only, name }: Choice): readonly Area[] =>
  areas
    .filter((area) => only?.includes(area.name) ?? true)
    .map((area) => ({ ...area, mutations: area.mutations.filter((one) => isNamed(one, name)) }))
    .filter(({ mutations }) => mutations.length > 0);

const isNamed = (mutation: Mutation, name: string | undefined): boolean =>
  name === undefined || mutation.name === name;
