/**
 * Simulates deployments and their statuses, which the package `emulate` does not have. A deployment creates no merge
 * commit and waits for no checks, as if `auto_merge` were false and `required_contexts` empty.
 * https://docs.github.com/en/rest/deployments
 */
import { json, problem } from "./call.ts";
import { newestFirst, type RepositoryCall, type RepositoryEndpoint } from "./repositoryapi.ts";

/** A deployment in GitHub's API. */
export interface ShownDeployment {
  readonly id: number;
  readonly sha: string;
  readonly ref: string;
  readonly environment: string;
  readonly description: string | null;
  readonly transient_environment: boolean;
  readonly production_environment: boolean;
  readonly creator: { readonly login: string };
}

/** The status of a deployment in GitHub's API. */
export interface ShownDeploymentStatus {
  readonly id: number;
  readonly state: string;
  readonly description: string;
  readonly environment_url: string;
  readonly log_url: string;
  readonly creator: { readonly login: string };
}

interface Deployed {
  readonly repository: string;
  readonly deployment: ShownDeployment;
  readonly statuses: ShownDeploymentStatus[];
}

const states = ["error", "failure", "inactive", "in_progress", "queued", "pending", "success"];

/** Endpoints to create deployments and set their statuses; `resolve` returns the commit of a branch or SHA. */
export function deployments(
  resolve: (repository: string, ref: string) => Promise<string | undefined>,
): readonly RepositoryEndpoint[] {
  const all: Deployed[] = [];
  let lastId = 0;

  const deployedIn = ({ repository, captures: [id] }: RepositoryCall): Deployed | undefined =>
    all.find((one) => one.repository === repository && String(one.deployment.id) === id);

  async function deploy({ repository, body, by, url }: RepositoryCall) {
    const { ref, environment = "production" } = body;
    const description = typeof body.description === "string" ? body.description : null;
    const sha = await resolve(repository, String(ref));
    if (sha === undefined) return problem(422, `No ref found for: ${ref}`);
    const id = ++lastId;
    const at = new Date().toISOString();
    const deployment: ShownDeployment & Record<string, unknown> = {
      ...{ id, sha, ref: String(ref), task: "deploy", environment: String(environment) },
      description,
      transient_environment: body.transient_environment === true,
      production_environment: body.production_environment === true || environment === "production",
      creator: { login: by },
      ...{ created_at: at, updated_at: at },
      ...{ url: `${url}/deployments/${id}`, statuses_url: `${url}/deployments/${id}/statuses` },
    };
    all.push({ repository, deployment, statuses: [] });
    return json(201, deployment);
  }

  async function createStatus(call: RepositoryCall) {
    const deployed = deployedIn(call);
    if (deployed === undefined) return problem(404, "Not Found");
    const { state, description = "", environment_url = "", log_url = "" } = call.body;
    if (!states.includes(String(state)))
      return problem(422, "Validation Failed: state is not included in the list");
    if ([...String(description)].length > 140)
      return problem(422, "Validation Failed: description is too long (maximum is 140 characters)");
    const at = new Date().toISOString();
    const status = {
      ...{ id: ++lastId, state, description, environment_url, log_url },
      creator: { login: call.by },
      ...{ created_at: at, updated_at: at },
    } as ShownDeploymentStatus;
    deployed.statuses.push(status);
    if (state === "success" && call.body.auto_inactive !== false)
      deactivateEarlier(all, deployed, status, () => ++lastId);
    return json(201, status);
  }

  async function list({ repository, query }: RepositoryCall) {
    const filters = ["sha", "ref", "environment"] as const;
    const shown = all
      .filter((one) => one.repository === repository)
      .map(({ deployment }) => deployment)
      .filter((one) => filters.every((name) => [null, one[name]].includes(query.get(name))));
    return newestFirst(shown, query);
  }

  const permission = "deployments";
  return [
    { method: "POST", path: /^deployments$/, permission, answer: deploy },
    { method: "GET", path: /^deployments$/, permission, answer: list },
    { method: "POST", path: /^deployments\/(\d+)\/statuses$/, permission, answer: createStatus },
    {
      method: "GET",
      path: /^deployments\/(\d+)\/statuses$/,
      permission,
      async answer(call) {
        const deployed = deployedIn(call);
        return deployed ? newestFirst(deployed.statuses, call.query) : problem(404, "Not Found");
      },
    },
  ];
}

/** Implements `auto_inactive`: earlier successful deployments of the environment become inactive. */
function deactivateEarlier(
  all: readonly Deployed[],
  { repository, deployment }: Deployed,
  status: ShownDeploymentStatus,
  nextId: () => number,
): void {
  for (const other of all) {
    const { statuses } = other;
    const { environment, transient_environment, production_environment, id } = other.deployment;
    if (other.repository !== repository || environment !== deployment.environment || id >= deployment.id)
      continue;
    if (transient_environment || production_environment || statuses.at(-1)?.state !== "success") continue;
    statuses.push({ ...status, id: nextId(), state: "inactive" });
  }
}
