/** The statuses, comments, and deployments that GitHub shows for pull requests. */
import type { ShownDeployment, ShownDeploymentStatus } from "../../deploy/simulators/github/deployments.ts";
import type { ShownStatus } from "../../deploy/simulators/github/statuses.ts";
import type { Paas } from "./paas.ts";

interface ShownComment {
  readonly id: number;
  readonly body: string;
  readonly user: { readonly login: string };
}

/** Reports on the repository `acme/<name>`. */
export interface GitHubReports {
  /** Statuses of a commit, newest first. */
  statuses(sha: string): Promise<readonly ShownStatus[]>;
  /** Pipeline comments on a pull request, written by Apps. */
  comments(number: number): Promise<readonly ShownComment[]>;
  /** Deployments for a pull request, newest first, each with its state. */
  deployments(number: number): Promise<readonly (readonly [sha: string, state: string | undefined])[]>;
}

/** Reads the reports for a pipeline's repository, which has the pipeline's name. */
export function githubReports(
  { github }: Pick<Paas, "github">,
  name: string,
  namespace = "default",
): GitHubReports {
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
