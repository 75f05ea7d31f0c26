/**
 * The event handlers of an application, from the source of PipeCD v0.57.0: how they change the files of a repository.
 * Supports YAML fields and regular expressions.
 */
import { type Application, type Event, EventStatus } from "@denrei/functions/pipecd/api/generated/c/model_pb";
import { parse, parseDocument } from "yaml";
import type { Repository } from "./repository.ts";

/** An entry of spec.eventWatcher. */
export interface Watch {
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

/** The status of an event after its handling. */
export interface EventOutcome {
  readonly status: EventStatus;
  readonly statusDescription: string;
}

const folderOf = (path: string): string => path.replace(/^(\.\/)+|\/+$/g, "");

/** Whether a path is in a folder. */
export const isIn = (folder: string, path: string): boolean =>
  folderOf(folder) === "" || path.startsWith(`${folderOf(folder)}/`);

const within = (folder: string, file: string): string => [folderOf(folder), file].filter(Boolean).join("/");

/** The entries of an application's configuration file; none if the file is missing. */
export function watchesIn({ files }: Repository, gitPath: Application["gitPath"]): readonly Watch[] {
  const text = files.get(within(gitPath?.path ?? "", gitPath?.configFilename || "app.pipecd.yaml"));
  return text === undefined ? [] : (parse(text)?.spec?.eventWatcher ?? []);
}

/** The new file contents by path, or an error message. */
export function changesOf(
  event: Event,
  { handler: { config } }: Watch,
  folder: string,
  { files }: Repository,
): ReadonlyMap<string, string> | string {
  const changes = new Map<string, string>();
  try {
    for (const replacement of config.replacements) {
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

/**
 * Commits the changes and returns the event's new status. Returns undefined when the push is rejected: pipeds then assume
 * an outdated branch and retry.
 */
export function commitOf(
  event: Event,
  { matcher: { name }, handler: { config } }: Watch,
  changes: ReadonlyMap<string, string>,
  repoID: string,
  repository: Repository,
): EventOutcome | undefined {
  const { commitMessage, replacements } = config;
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
