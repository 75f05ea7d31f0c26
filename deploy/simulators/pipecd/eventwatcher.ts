/**
 * Simulates the event watcher of a piped of PipeCD v0.57.0, from its source: which events it handles, and which event
 * statuses it reports. Each commit creates a deployment at once, which nothing runs. Only the `eventWatcher` of
 * applications is supported, not the older files in .pipe.
 */
import { randomUUID } from "node:crypto";
import type { CallOptions, Client } from "@connectrpc/connect";
import { type Application, type Event, EventStatus } from "@denrei/functions/pipecd/api/generated/c/model_pb";
import { eventKeyOf } from "./c/events.ts";
import { changesOf, commitOf, type EventOutcome, isIn, type Watch, watchesIn } from "./eventhandlers.ts";
import { ListEventsRequest_Status, ListOrder, type PipedService } from "./generated/c/pipedservice_pb.ts";
import type { Repository, RepositoryCommit } from "./repository.ts";

/** Options of the event watcher. */
export interface WatcherOptions {
  readonly service: Client<typeof PipedService>;
  /** Options of each call. */
  readonly call: CallOptions;
  readonly projectID: string;
  readonly pipedID: string;
  /** Repositories by repoId. */
  readonly repositories: ReadonlyMap<string, Repository>;
  /** Called with a message for each commit and each deployment. */
  readonly report?: ((message: string) => void) | undefined;
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
}

interface Report extends EventOutcome {
  readonly id: string;
}

/** Results of a round for the events of a repository. */
interface Results {
  readonly outdated: Report[];
  readonly handled: Report[];
  /** Events whose files cannot be changed. They are reported only if another event is handled; otherwise they are retried. */
  readonly failed: Report[];
  /** Creation time of the newest handled event, whether or not its push was rejected. */
  newest: bigint | undefined;
}

const hourMillis = 3_600_000;
/** Maximum number of events per key that one round handles. */
const maxEventsPerKey = 10;

/** Creates a function that runs one round: list events, handle them, and create deployments for changed applications. */
export function openEventWatcher(options: WatcherOptions): () => Promise<void> {
  const watcher = new EventWatcher(options);
  return () => watcher.runRound();
}

class EventWatcher {
  readonly #options: WatcherOptions;
  readonly #report: (message: string) => void;
  readonly #clock: () => number;
  /** By repoId: the time of the newest handled event. Other events of the same second are never handled. */
  readonly #milestones = new Map<string, bigint>();
  /** By repoId: the number of known commits. */
  readonly #seen: Map<string, number>;

  constructor(options: WatcherOptions) {
    this.#options = options;
    this.#report = options.report ?? (() => undefined);
    this.#clock = options.clock ?? Date.now;
    this.#seen = new Map([...options.repositories].map(([id, { commits }]) => [id, commits.length]));
  }

  async runRound(): Promise<void> {
    const { service, call, repositories } = this.#options;
    const { applications } = await service.listApplications({}, call);
    for (const [id, repository] of repositories) {
      const here = applications.filter(({ gitPath }) => gitPath?.repo?.id === id);
      await this.#handleEvents(id, repository, here);
      await this.#deployNewCommits(id, repository, here);
    }
  }

  async #handleEvents(
    id: string,
    repository: Repository,
    applications: readonly Application[],
  ): Promise<void> {
    const { service, call } = this.#options;
    const events = await this.#unhandledEvents();
    const results: Results = { outdated: [], handled: [], failed: [], newest: undefined };
    for (const { gitPath } of applications)
      for (const watch of watchesIn(repository, gitPath)) {
        const event = await this.#eventFor(watch.matcher, events, this.#milestones.get(id), results.outdated);
        if (event === undefined || watch.handler.type !== "GIT_UPDATE") continue;
        handleEvent(event, watch, gitPath?.path ?? "", id, repository, results);
      }
    const { outdated, handled, failed, newest } = results;
    if (outdated.length > 0) await service.reportEventStatuses({ events: outdated }, call);
    if (newest === undefined || handled.length + failed.length === 0) return;
    await service.reportEventStatuses({ events: [...handled, ...failed] }, call);
    this.#milestones.set(id, newest);
  }

  /** By event key. */
  async #unhandledEvents(): Promise<Map<string, Event[]>> {
    const { service, call } = this.#options;
    const { events } = await service.listEvents(
      {
        from: BigInt(Math.trunc((this.#clock() - 24 * hourMillis) / 1000)),
        order: ListOrder.DESC,
        status: ListEventsRequest_Status.NOT_HANDLED,
      },
      call,
    );
    return Map.groupBy(events, ({ eventKey }) => eventKey);
  }

  /** Returns the event to handle and adds the outdated ones to `outdated`. */
  async #eventFor(
    { name, labels = {} }: Watch["matcher"],
    events: Map<string, Event[]>,
    milestone: bigint | undefined,
    outdated: Report[],
  ): Promise<Event | undefined> {
    const { service, call } = this.#options;
    const least = (milestone ?? 0n) + 1n;
    const [latest, ...older] = (events.get(eventKeyOf(name, labels)) ?? [])
      .slice(0, maxEventsPerKey)
      .filter(({ createdAt }) => createdAt >= least);
    if (latest === undefined) return undefined;
    const outdate = (id: string, statusDescription: string) =>
      outdated.push({ id, status: EventStatus.EVENT_OUTDATED, statusDescription });
    const newer = (id: string) => `The new event "${id}" has been created`;
    for (const { id } of older) outdate(id, newer(latest.id));
    const { event } =
      milestone === undefined
        ? await service.getLatestEvent({ name, labels: { ...labels } }, call)
        : { event: undefined };
    if (event && event.createdAt > latest.createdAt) outdate(latest.id, newer(event.id));
    else if (this.#clock() - Number(latest.createdAt) * 1000 > hourMillis)
      outdate(latest.id, `Too much time has passed since the event "${latest.id}" was created`);
    else return latest;
    return undefined;
  }

  async #deployNewCommits(
    id: string,
    { commits }: Repository,
    applications: readonly Application[],
  ): Promise<void> {
    for (const commit of commits.slice(this.#seen.get(id))) {
      this.#report(`committed to ${id}: ${commit.message} (${commit.hash.slice(0, 7)})`);
      for (const application of applications)
        if (commit.paths.some((path) => isIn(application.gitPath?.path ?? "", path)))
          await this.#deploy(commit, application);
    }
    this.#seen.set(id, commits.length);
  }

  async #deploy(commit: RepositoryCommit, application: Application): Promise<void> {
    const { service, call, projectID, pipedID } = this.#options;
    const now = BigInt(Math.trunc(this.#clock() / 1000));
    const { name, gitPath } = application;
    const deployment = {
      id: randomUUID(),
      applicationId: application.id,
      applicationName: name,
      pipedId: pipedID,
      projectId: projectID,
      ...(gitPath && { gitPath }),
      trigger: {
        commit: {
          hash: commit.hash,
          message: commit.message,
          author: "piped",
          branch: "main",
          createdAt: now,
        },
        timestamp: now,
      },
      createdAt: now,
      updatedAt: now,
    };
    await service.createDeployment({ deployment }, call);
    this.#report(`created a deployment of ${name} at ${commit.hash.slice(0, 7)}`);
  }
}

/** Changes the files for an event and adds the result to `results`. */
function handleEvent(
  event: Event,
  watch: Watch,
  folder: string,
  repoID: string,
  repository: Repository,
  results: Results,
): void {
  const changes = changesOf(event, watch, folder, repository);
  if (typeof changes === "string") {
    results.failed.push({ id: event.id, status: EventStatus.EVENT_FAILURE, statusDescription: changes });
    return;
  }
  const outcome = commitOf(event, watch, changes, repoID, repository);
  if (outcome) results.handled.push({ id: event.id, ...outcome });
  if (results.newest === undefined || event.createdAt > results.newest) results.newest = event.createdAt;
}
