/**
 * Simulates deployments and their statuses, which the package `emulate` does not have. A deployment creates no merge
 * commit and waits for no checks, as if `auto_merge` were false and `required_contexts` empty.
 * https://docs.github.com/en/rest/deployments
 */
import { type ApiAnswer, json, problem } from "./call.ts";
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
export function deployments(resolve: Resolve): readonly RepositoryEndpoint[] {
  const all = new Deployments(resolve);
  const permission = "deployments";
  const statusesPath = /^deployments\/(\d+)\/statuses$/;
  return [
    { method: "POST", path: /^deployments$/, permission, answer: (call) => all.create(call) },
    { method: "GET", path: /^deployments$/, permission, answer: (call) => all.list(call) },
    { method: "POST", path: statusesPath, permission, answer: (call) => all.createStatus(call) },
    { method: "GET", path: statusesPath, permission, answer: (call) => all.listStatuses(call) },
  ];
}

type Resolve = (repository: string, ref: string) => Promise<string | undefined>;

class Deployments {
  readonly #resolve: Resolve;
  readonly #all: Deployed[] = [];
  #lastId = 0;

  constructor(resolve: Resolve) {
    this.#resolve = resolve;
  }

  async create({ repository, body, by, url }: RepositoryCall): Promise<ApiAnswer> {
    const { ref, environment = "production" } = body;
    const description = typeof body.description === "string" ? body.description : null;
    const sha = await this.#resolve(repository, String(ref));
    if (sha === undefined) return problem(422, `No ref found for: ${ref}`);
    const id = ++this.#lastId;
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
    this.#all.push({ repository, deployment, statuses: [] });
    return json(201, deployment);
  }

  async list({ repository, query }: RepositoryCall): Promise<ApiAnswer> {
    const filters = ["sha", "ref", "environment"] as const;
    const shown = this.#all
      .filter((one) => one.repository === repository)
      .map(({ deployment }) => deployment)
      .filter((one) => filters.every((name) => [null, one[name]].includes(query.get(name))));
    return newestFirst(shown, query);
  }

  async createStatus(call: RepositoryCall): Promise<ApiAnswer> {
    const deployed = this.#find(call);
    if (deployed === undefined) return problem(404, "Not Found");
    const { state, description = "", environment_url = "", log_url = "" } = call.body;
    if (!states.includes(String(state)))
      return problem(422, "Validation Failed: state is not included in the list");
    if ([...String(description)].length > 140)
      return problem(422, "Validation Failed: description is too long (maximum is 140 characters)");
    const at = new Date().toISOString();
    const status = {
      ...{ id: ++this.#lastId, state, description, environment_url, log_url },
      creator: { login: call.by },
      ...{ created_at: at, updated_at: at },
    } as ShownDeploymentStatus;
    deployed.statuses.push(status);
    if (state === "success" && call.body.auto_inactive !== false) this.#deactivateEarlier(deployed, status);
    return json(201, status);
  }

  async listStatuses(call: RepositoryCall): Promise<ApiAnswer> {
    const deployed = this.#find(call);
    return deployed ? newestFirst(deployed.statuses, call.query) : problem(404, "Not Found");
  }

  #find({ repository, captures: [id] }: RepositoryCall): Deployed | undefined {
    return this.#all.find((one) => one.repository === repository && String(one.deployment.id) === id);
  }

  /** Implements `auto_inactive`: earlier successful deployments of the environment become inactive. */
  #deactivateEarlier({ repository, deployment }: Deployed, status: ShownDeploymentStatus): void {
    for (const other of this.#all) {
      const { statuses } = other;
      const { environment, transient_environment, production_environment, id } = other.deployment;
      if (other.repository !== repository || environment !== deployment.environment) continue;
      if (id >= deployment.id || transient_environment || production_environment) continue;
      if (statuses.at(-1)?.state !== "success") continue;
      statuses.push({ ...status, id: ++this.#lastId, state: "inactive" });
    }
  }
}
