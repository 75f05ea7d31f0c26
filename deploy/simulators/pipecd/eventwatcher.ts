/**
 * Simulates the event watcher of a piped of PipeCD v0.57.0, after its source: how an event changes the files of a repository,
 * and which event statuses the piped reports. Each commit creates a deployment at once, which nothing runs. Supported are the
 * applications' `eventWatcher` with YAML fields and regular expressions, but not the older files in .pipe.
 */
import { randomUUID } from "node:crypto";
import type { CallOptions, Client } from "@connectrpc/connect";
import { parse, parseDocument } from "yaml";
import {
  type Application,
  type Event,
  EventStatus,
} from "../../../functions/pipecd/api/generated/c/model_pb.ts";
import { eventKeyOf } from "./c/events.ts";
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

/** An entry of spec.eventWatcher. */
interface Watch {
  readonly matcher: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly handler: {
    readonly type: string;
    readonly config: { readonly commitMessage?: string; readonly replacements: readonly Replacement[] };
  };
}

interface Replacement {
  readonly file: string;
  readonly yamlField?: string;
  readonly regex?: string;
}

interface Report {
  readonly id: string;
  readonly status: EventStatus;
  readonly statusDescription: string;
}

const hourMillis = 3_600_000;
/** Maximum number of events per key that one round handles. */
const maxEventsPerKey = 10;

/** Creates a function that runs one round: list events, handle them, and create deployments for changed applications. */
export function openEventWatcher({
  service,
  call,
  projectID,
  pipedID,
  repositories,
  report = () => undefined,
  clock = Date.now,
}: WatcherOptions): () => Promise<void> {
  /** By repoId: the time of the newest handled event. Other events of the same second are never handled. */
  const milestones = new Map<string, bigint>();
  /** By repoId: the number of known commits. */
  const seen = new Map([...repositories].map(([id, { commits }]) => [id, commits.length]));

  async function unhandled(): Promise<Map<string, Event[]>> {
    const { events } = await service.listEvents(
      {
        from: BigInt(Math.trunc((clock() - 24 * hourMillis) / 1000)),
        order: ListOrder.DESC,
        status: ListEventsRequest_Status.NOT_HANDLED,
      },
      call,
    );
    return Map.groupBy(events, ({ eventKey }) => eventKey);
  }

  /** Returns the event to handle and adds the outdated ones to `outdated`. */
  async function newest(
    { name, labels = {} }: Watch["matcher"],
    events: Map<string, Event[]>,
    milestone: bigint | undefined,
    outdated: Report[],
  ): Promise<Event | undefined> {
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
    else if (clock() - Number(latest.createdAt) * 1000 > hourMillis)
      outdate(latest.id, `Too much time has passed since the event "${latest.id}" was created`);
    else return latest;
    return undefined;
  }

  async function handle(id: string, repository: Repository, applications: readonly Application[]) {
    const events = await unhandled();
    const milestone = milestones.get(id);
    const outdated: Report[] = [];
    const reports: Report[] = [];
    /** Events whose files cannot be changed. They are reported only if another event is handled; otherwise they are retried. */
    const failed: Report[] = [];
    let isHandled = false;
    let last = 0n;
    for (const { gitPath } of applications)
      for (const { matcher, handler } of watchesIn(repository, gitPath)) {
        const event = await newest(matcher, events, milestone, outdated);
        if (event === undefined || handler.type !== "GIT_UPDATE") continue;
        const folder = gitPath?.path ?? "";
        const changes = changesOf(event, handler.config, folder, repository);
        if (typeof changes === "string") {
          failed.push({ id: event.id, status: EventStatus.EVENT_FAILURE, statusDescription: changes });
          continue;
        }
        isHandled = true;
        const done = commitOf(event, matcher.name, handler.config, changes, id, repository);
        if (done) reports.push({ id: event.id, ...done });
        if (event.createdAt > last) last = event.createdAt;
      }
    if (outdated.length > 0) await service.reportEventStatuses({ events: outdated }, call);
    const ended = isHandled ? [...reports, ...failed] : [];
    if (ended.length === 0) return;
    await service.reportEventStatuses({ events: ended }, call);
    milestones.set(id, last);
  }

  async function trigger(commit: RepositoryCommit, application: Application): Promise<void> {
    const now = BigInt(Math.trunc(clock() / 1000));
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
    report(`created a deployment of ${name} at ${commit.hash.slice(0, 7)}`);
  }

  return async () => {
    const { applications } = await service.listApplications({}, call);
    for (const [id, repository] of repositories) {
      const here = applications.filter(({ gitPath }) => gitPath?.repo?.id === id);
      await handle(id, repository, here);
      for (const commit of repository.commits.slice(seen.get(id))) {
        report(`committed to ${id}: ${commit.message} (${commit.hash.slice(0, 7)})`);
        for (const application of here)
          if (commit.paths.some((path) => isIn(application.gitPath?.path ?? "", path)))
            await trigger(commit, application);
      }
      seen.set(id, repository.commits.length);
    }
  };
}

const folderOf = (path: string): string => path.replace(/^(\.\/)+|\/+$/g, "");
const isIn = (folder: string, path: string): boolean =>
  folderOf(folder) === "" || path.startsWith(`${folderOf(folder)}/`);
const within = (folder: string, file: string): string => [folderOf(folder), file].filter(Boolean).join("/");

function watchesIn({ files }: Repository, gitPath: Application["gitPath"]): readonly Watch[] {
  const text = files.get(within(gitPath?.path ?? "", gitPath?.configFilename || "app.pipecd.yaml"));
  return text === undefined ? [] : (parse(text)?.spec?.eventWatcher ?? []);
}

/** The new file contents by path, or an error message. */
function changesOf(
  event: Event,
  { replacements }: Watch["handler"]["config"],
  folder: string,
  { files }: Repository,
): ReadonlyMap<string, string> | string {
  const changes = new Map<string, string>();
  try {
    for (const replacement of replacements) {
      const path = within(folder, replacement.file);
      const text = changes.get(path) ?? files.get(path);
      if (text === undefined) throw new Error(`failed to read file: open ${path}: no such file or directory`);
      const changed = replaced(text, replacement, event.data);
      if (changed !== text) changes.set(path, changed);
    }
  } catch (error) {
    return `Failed to change files: ${(error as Error).message}`;
  }
  return changes;
}

/** Git's message when a server rejects a push because of other pushes or a protected branch. */
const pushRejected = "failed to push some refs to";

/** Commits the changes. Returns undefined when the push is rejected: pipeds then assume an outdated branch and retry. */
function commitOf(
  event: Event,
  name: string,
  { commitMessage, replacements }: Watch["handler"]["config"],
  changes: ReadonlyMap<string, string>,
  repoID: string,
  repository: Repository,
): Omit<Report, "id"> | undefined {
  const done = { status: EventStatus.EVENT_SUCCESS };
  if (changes.size === 0) return { ...done, statusDescription: "Nothing to commit" };
  const message = (commitMessage ?? `Replace values with "{{ .Value }}" set by Event "{{ .EventName }}"`)
    .replace(/\{\{\s*\.Value\s*\}\}/g, () => event.data)
    .replace(/\{\{\s*\.EventName\s*\}\}/g, () => name);
  const trace = event.triggerCommitHash && {
    "Pipecd-Dev-Trace-Trigger-Commit-Hash": event.triggerCommitHash,
  };
  try {
    repository.commit(message, changes, { ...event.contexts, ...(trace || {}) });
  } catch (error) {
    const { message: reason } = error as Error;
    if (reason.includes(pushRejected)) return undefined;
    const statusDescription = `Failed to push changed files: ${reason}`;
    return { status: EventStatus.EVENT_FAILURE, statusDescription };
  }
  const statusDescription = `Successfully updated ${replacements.length} files in the "${repoID}" repository`;
  return { ...done, statusDescription };
}

function replaced(text: string, { yamlField, regex }: Replacement, data: string): string {
  if (yamlField !== undefined) {
    const document = parseDocument(text);
    const path = [...yamlField.matchAll(/\.([^.[\]]+)|\[(\d+)\]/g)].map(
      ([, field, at]) => field ?? Number(at),
    );
    if (document.getIn(path) === undefined) throw new Error(`failed to get value at ${yamlField}`);
    if (String(document.getIn(path)) === data) return text;
    document.setIn(path, data);
    return document.toString();
  }
  const pattern = new RegExp(regex ?? "", "gd");
  const found = [...text.matchAll(pattern)];
  if (found.length === 0) throw new Error("the content of file doesn't match the regex");
  return found.reduceRight((changed, { indices }) => {
    const [start, end] = indices?.[1] ?? [0, 0];
    return changed.slice(0, start) + data + changed.slice(end);
  }, text);
}
