/** AppPipelines in the team's namespace, with the statuses that functions would write. */
import { apiVersionOf } from "../../bus/kube/kind.ts";
import type { Stored } from "../../bus/kube/object.ts";
import { AppPipeline, type Preview } from "../../functions/paas/kinds.ts";
import { type DashboardEnvironment, team } from "./dashboard.ts";

const manager = { fieldManager: "test" };

/** An object's key. */
export const at = (name: string) => ({ namespace: team, name });

/** The spec for a repository of `acme`. */
export const specOf = (repo: string): AppPipeline["spec"] => ({
  domainBase: "preview.example.com",
  applicationTemplate: {},
  base: { github: { owner: "acme", repo, secretName: "acme-web" } },
  image: { name: "registry.example.com/acme/web" },
});

/** A preview whose branch and commit follow from its number. */
export const previewOf = (number: number, phase: Preview["phase"], more: Partial<Preview> = {}): Preview => ({
  number,
  headSHA: String(number).repeat(40),
  headRef: `feature/${number}`,
  since: "2026-01-02T03:04:05Z",
  phase,
  ...more,
});

/** Reads and writes AppPipelines. */
export interface Pipelines {
  create(name: string, status?: AppPipeline["status"]): Promise<void>;
  /** Changes the status. */
  say(name: string, status: AppPipeline["status"]): Promise<unknown>;
  get(name: string): Promise<Stored<AppPipeline>>;
}

/** AppPipelines of an environment. */
export function pipelinesOn({ client }: Pick<DashboardEnvironment, "client">): Pipelines {
  const say: Pipelines["say"] = (name, status) =>
    client.mergePatch(AppPipeline, at(name), { status }, { ...manager, subresource: "status" });
  return {
    say,
    async create(name, status) {
      const object = { apiVersion: apiVersionOf(AppPipeline), kind: AppPipeline.kind, spec: specOf(name) };
      await client.create(AppPipeline, { ...object, metadata: at(name) }, manager);
      if (status) await say(name, status);
    },
    get: (name) => client.get(AppPipeline, at(name)),
  };
}
