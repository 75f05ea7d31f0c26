/** Pipelines and their previews on a {@link Paas}. Each pipeline has its own repository with the pipeline's name. */
import { expect } from "vitest";
import type { Kind } from "../../bus/kube/kind.ts";
import type { Stored } from "../../bus/kube/object.ts";
import type { OpenedPull } from "../../deploy/simulators/github/account.ts";
import type { ApiRequest } from "../../deploy/simulators/github/server.ts";
import { Application, AppPipeline, type Preview, RemoteSync } from "../../functions/paas/kinds.ts";
import { type Paas, secrets } from "./paas.ts";

/** For pipelines of which only the objects matter: nothing is built or run. */
export const idle = {
  builder: { kind: "ClusterBuilder" as const, name: "absent" },
  applicationTemplate: { spec: { replicas: 0 } },
};

/** The phase of each preview, by number. */
export type Phases = Readonly<Record<number, Preview["phase"]>>;

/** Helpers for the pipeline `name` of the repository `acme/<name>`. */
export interface Previews {
  /** Creates the pipeline; it reports nothing to GitHub unless `spec.report` enables it. */
  create(name: string, spec?: Partial<AppPipeline["spec"]>): Promise<Stored<AppPipeline>>;
  open(
    name: string,
    pull?: Omit<Parameters<Paas["github"]["openPullRequest"]>[0], "repository">,
  ): Promise<OpenedPull & { readonly repository: string }>;
  until(
    name: string,
    condition: (pipeline: Stored<AppPipeline>) => boolean,
    deadlineMillis?: number,
  ): Promise<Stored<AppPipeline>>;
  /** Resolves when exactly these previews exist. */
  phases(name: string, phases: Phases): Promise<readonly Preview[]>;
  /** Numbers of the pull requests with an Application, and of those with a RemoteSync. */
  numbers(name: string): Promise<{ readonly applications: number[]; readonly remoteSyncs: number[] }>;
  /** Requests about its repository, starting at index `from`. */
  requests(name: string, from?: number): readonly ApiRequest[];
}

/** Helpers for pipelines. */
export function previewsOn(paas: Paas): Previews {
  const { environment, github } = paas;
  const none = { commitStatus: false, comment: false };
  const until: Previews["until"] = (name, condition, deadlineMillis = 90_000) =>
    environment.until(AppPipeline, { name }, condition, deadlineMillis);

  return {
    until,
    create: (name, spec = {}) =>
      paas.pipeline(name, {
        base: { github: { owner: "acme", repo: name, secretName: secrets.git } },
        report: none,
        ...spec,
      }),
    async open(name, pull = {}) {
      const repository = `acme/${name}`;
      return { repository, ...(await github.openPullRequest({ repository, ...pull })) };
    },
    async phases(name, expected) {
      const text = JSON.stringify(expected);
      const { status } = await until(name, (pipeline) => JSON.stringify(phasesOf(pipeline)) === text);
      return status?.previews ?? [];
    },
    async numbers(name) {
      const [applications, remoteSyncs] = await Promise.all(
        ([Application, RemoteSync] as readonly Kind[]).map(async (kind) =>
          (await environment.list(kind))
            .filter(({ metadata }) => metadata.labels?.["modoki.tsuzu.dev/app-pipeline"] === name)
            .map(({ metadata }) => Number(metadata.labels?.["modoki.tsuzu.dev/pull-request-id"]))
            .sort((a, b) => a - b),
        ),
      );
      return { applications: applications ?? [], remoteSyncs: remoteSyncs ?? [] };
    },
    requests: (name, from = 0) =>
      github
        .requests()
        .slice(from)
        .filter(({ path }) => path.startsWith(`/repos/acme/${name}`)),
  };
}

/** The phases of a pipeline's previews, by number. */
export const phasesOf = ({ status }: AppPipeline): Phases =>
  Object.fromEntries(status?.previews?.map(({ number, phase }) => [number, phase]) ?? []);

/** The Application and the RemoteSync of a preview. */
export const previewAt = (name: string, number: number) => ({
  namespace: "default",
  name: `modoki-pipeline-${name}-pr-${number}`,
});

/** Resolves when the previews with these numbers have no objects anymore. */
export async function untilNoObjects(paas: Paas, name: string, ...numbers: readonly number[]): Promise<void> {
  for (const number of numbers)
    for (const kind of [Application, RemoteSync])
      await paas.environment.untilGone(kind, previewAt(name, number));
  expect((await previewsOn(paas).numbers(name)).applications).not.toEqual(
    expect.arrayContaining([...numbers]),
  );
}
