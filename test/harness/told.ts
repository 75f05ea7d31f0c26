/** What GitHub was told of pull requests, as their readers see it. */
import type { ShownDeployment, ShownDeploymentStatus } from "../../deploy/simulators/github/deployments.ts";
import type { ShownStatus } from "../../deploy/simulators/github/statuses.ts";
import type { Paas } from "./paas.ts";

interface ShownComment {
  readonly id: number;
  readonly body: string;
  readonly user: { readonly login: string };
}

/** What was told of the repository `acme/<name>`. */
export interface Told {
  /** Of a commit, the newest first. */
  statuses(sha: string): Promise<readonly ShownStatus[]>;
  /** Of pipelines, on a pull request: those of Apps. */
  comments(number: number): Promise<readonly ShownComment[]>;
  /** Commits that were deployed for a pull request, the newest first, and the state of each. */
  deployments(number: number): Promise<readonly (readonly [sha: string, state: string | undefined])[]>;
}

/** Looks at a repository of a pipeline that is called like it. */
export function toldOf({ github }: Pick<Paas, "github">, name: string, namespace = "default"): Told {
  const root = `/repos/acme/${name}`;
  return {
    statuses: (sha) => github.api("GET", `${root}/commits/${sha}/statuses`),
    async comments(number) {
      const all = await github.api<ShownComment[]>("GET", `${root}/issues/${number}/comments?per_page=100`);
      return all.filter(({ user: { login } }) => login.endsWith("[bot]"));
    },
    async deployments(number) {
      const all = await github.api<ShownDeployment[]>("GET", `${root}/deployments?per_page=100`);
      const own = all.filter(({ environment }) => environment.endsWith(`/${namespace}/${name}/pr-${number}`));
      return Promise.all(
        own.map(async ({ id, sha }) => {
          const path = `${root}/deployments/${id}/statuses`;
          const [last] = await github.api<ShownDeploymentStatus[]>("GET", path);
          return [sha, last?.state] as const;
        }),
      );
    },
  };
}
