/** A dashboard on a busy bus: bridge, worker, and gateway, with functions that behave as their objects specify. */
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { crdOf } from "../../bus/kube/crd.ts";
import type { Kind } from "../../bus/kube/kind.ts";
import { apiVersionOf } from "../../bus/kube/kind.ts";
import type { KubeObject, Stored } from "../../bus/kube/object.ts";
import { crdManifests } from "../../deploy/generate/crds.ts";
import { functions } from "../../functions/index.ts";
import { Album } from "../fixtures/functions/albums.ts";
import { Branch } from "../fixtures/functions/branches.ts";
import { Probe } from "../fixtures/functions/probe.ts";
import { Sticker } from "../fixtures/functions/stickers.ts";
import { type DashboardEnvironment, people, startDashboardEnvironment, team } from "./dashboard.ts";
import type { GatewayReplica, Replica } from "./environment.ts";
import { grantBus } from "./rights.ts";

const paths = ["probe", "branches", "stickers", "albums"].map((name) =>
  fileURLToPath(new URL(`../fixtures/functions/${name}.ts`, import.meta.url)),
);

/** The environment. */
export interface BusDashboardEnvironment extends Omit<DashboardEnvironment, "worker" | "gateway"> {
  readonly worker: Replica;
  readonly gateway: GatewayReplica;
  create<T extends KubeObject>(kind: Kind<T>, name: string, spec: T["spec"]): Promise<Stored<T>>;
}

/** Starts everything. `alice` may see the whole bus, `bob` only the team's namespace. */
export async function startBusDashboardEnvironment(): Promise<BusDashboardEnvironment> {
  const environment = await startDashboardEnvironment({
    crds: [...crdManifests(functions), ...[Probe, Branch, Sticker, Album].map((kind) => crdOf(kind))],
    functions: paths,
  });
  try {
    await grantBus(environment.client, people.alice.name);
    await environment.bridge("bridge-1", { args: paths });
    const worker = await environment.worker("worker-1", paths);
    const gateway = await environment.gateway("gateway-1");
    return {
      ...environment,
      worker,
      gateway,
      create: (kind, name, spec) =>
        environment.client.create(
          kind,
          {
            apiVersion: apiVersionOf(kind),
            kind: kind.kind,
            metadata: { namespace: team, name },
            spec,
          } as never,
          { fieldManager: "test" },
        ),
    };
  } catch (error) {
    await environment.stop();
    throw error;
  }
}

/** Content Security Policy violations and script errors on the page since the call. */
export function refusalsOn(page: Page): readonly string[] {
  const refusals: string[] = [];
  page.on("console", (message) => {
    const text = message.text();
    if (/Content Security Policy|Trusted ?(Type|HTML|Script)/i.test(text)) refusals.push(text);
  });
  page.on("pageerror", (error) => refusals.push(error.message));
  return refusals;
}
