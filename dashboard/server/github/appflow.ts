/** The steps of creating a GitHub App. The session on the bus remembers where it stopped, so any replica can continue. */
import { randomBytes, timingSafeEqual } from "node:crypto";
import { GitHubApp } from "@denrei/functions/ghapp/kinds";
import { platformNamespace } from "denrei";
import { GitHubError, GitHubUnreachableError } from "denrei/github";
import {
  type AppForm,
  type AppOutcome,
  type AppSettings,
  keySecretName,
  type NewApp,
} from "../../api/githubapp.ts";
import { type PendingApp, pendingAppMillis } from "../auth/pendingapp.ts";
import type { OpenSession, Session } from "../auth/sessions.ts";
import type { Parts } from "../env.ts";
import { errorBody } from "../errorbody.ts";
import type { Review } from "../kubernetes/accessreviews.ts";
import { pageErrorOf, RejectedError } from "../kubernetes/responses.ts";
import { changeSession } from "./changesession.ts";
import { type CreatedApp, convert, formOf } from "./manifestflow.ts";
import { appPath, type KubernetesUser, NameTakenError, read, secretPath, storeApp } from "./storeapp.ts";

type FlowParts = Pick<Parts, "url" | "githubUrls" | "sessions" | "apiServer" | "log">;

const onlyMetadata = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

const userOf = ({ apiServer }: Pick<Parts, "apiServer">, { session }: OpenSession): KubernetesUser => ({
  apiServer,
  token: session.idToken,
});

/** What the form needs to know. */
export function settingsOf({ githubUrls }: Pick<Parts, "githubUrls">, { githubApp }: Session): AppSettings {
  const settings = { urls: githubUrls, platformNamespace };
  if (githubApp?.rest === undefined || githubApp.endsAt <= Date.now()) return settings;
  const { url, namespace, name, rest, endsAt } = githubApp;
  const unstored = {
    ...{ namespace, name, endsAt: new Date(endsAt).toISOString() },
    ...("slug" in rest && { settings: `${url}${rest.ownerPath}/settings/apps/${rest.slug}` }),
  };
  return { ...settings, unstored };
}

/** A refusal with the field that it is about, in the shape of the API server. */
const fieldProblem = (reason: string, field: string, message: string) => ({
  ...errorBody(reason, message),
  details: { causes: [{ field, message }] },
});

/** Remembers the App in the session and returns the form for GitHub. Nothing was created if it returns a problem. */
export async function startApp(
  parts: FlowParts,
  open: OpenSession,
  app: NewApp,
  may: Review,
): Promise<{ readonly form: AppForm } | { readonly problem: ReturnType<typeof errorBody> }> {
  const problem = (await denialOf(open, app, may)) ?? (await takenName(userOf(parts, open), app));
  if (problem !== undefined) return { problem };
  const state = randomBytes(32).toString("base64url");
  const { url, namespace, name } = app;
  const pending = { state, url, namespace, name, endsAt: Date.now() + pendingAppMillis };
  const outcome = await changeSession(parts, open, (session) =>
    isUnstored(session) ? undefined : { ...session, githubApp: pending },
  );
  if (outcome === "changed") return { form: formOf(app, parts.url, state) };
  const message =
    "GitHub has created an App for you whose keys are not stored yet. Store or discard them first.";
  return { problem: errorBody("AppUnstored", message) };
}

const isUnstored = ({ githubApp }: Session): boolean =>
  githubApp?.rest !== undefined && githubApp.endsAt > Date.now();

/** The rights are checked before the user leaves, because GitHub gives the keys only once. */
async function denialOf(open: OpenSession, { namespace }: NewApp, may: Review) {
  const { group, plural } = GitHubApp;
  for (const [ofGroup, resource] of [
    ["", "secrets"],
    [group, plural],
  ] as const) {
    if (await may(open, { verb: "create", group: ofGroup, resource, namespace })) continue;
    const message = `Your roles in ${namespace} do not allow you to create ${resource}, so the App could not be stored. Ask an administrator for a role.`;
    return fieldProblem("NotAllowed", "namespace", message);
  }
  return undefined;
}

async function takenName(user: KubernetesUser, { namespace, name }: NewApp) {
  const secret = keySecretName(name);
  for (const [path, kind, found] of [
    [secretPath(namespace, secret), "Secret", secret],
    [appPath(namespace, name), "GitHubApp", name],
  ] as const) {
    if (!(await exists(user, path))) continue;
    return fieldProblem(
      "NameTaken",
      "name",
      `The ${kind} ${found} exists in ${namespace}. Choose another name.`,
    );
  }
  return undefined;
}

/** False if the user may not read it: creating it then decides. */
async function exists(user: KubernetesUser, path: string): Promise<boolean> {
  try {
    await read(user, path, onlyMetadata);
    return true;
  } catch (error) {
    if (error instanceof RejectedError && [403, 404].includes(error.status)) return false;
    throw error;
  }
}

/**
 * Removes the App with this state from the session and returns it. A state is accepted once, by one replica: not again for an App
 * whose keys a retry can still store.
 */
export async function takeState(
  parts: Pick<Parts, "sessions">,
  open: OpenSession,
  state: string,
): Promise<PendingApp | undefined> {
  let taken: PendingApp | undefined;
  const outcome = await changeSession(parts, open, ({ githubApp, ...session }) => {
    taken = githubApp;
    const isAsked = githubApp !== undefined && githubApp.rest === undefined;
    return isAsked && isSame(githubApp.state, state) ? session : undefined;
  });
  return outcome === "changed" && taken !== undefined && taken.endsAt > Date.now() ? taken : undefined;
}

function isSame(expected: string, found: string): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(found)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** The stored App, or why it is not stored. */
export type FinishedApp =
  | { readonly namespace: string; readonly name: string }
  | { readonly outcome: AppOutcome; readonly message: string };

/** Fetches the keys and stores them. After a failure, the session keeps what a retry needs. */
export async function finishApp(
  parts: FlowParts,
  open: OpenSession,
  pending: PendingApp,
): Promise<FinishedApp> {
  const { log } = parts;
  const { url, namespace, name, rest } = pending;
  const about = { user: open.session.user, github: url, namespace, name };
  let app: CreatedApp;
  try {
    app = await keysOf(url, rest);
  } catch (error) {
    if (!(error instanceof GitHubError)) throw error;
    log.warn({ err: error, ...about }, "keys of a created GitHub App not fetched");
    return notFetched(parts, open, pending, error);
  }
  try {
    await storeApp(userOf(parts, open), { url, namespace, name }, app, platformNamespace);
  } catch (error) {
    log.warn({ err: error, ...about, app: app.id }, "keys of a created GitHub App not stored");
    await remember(parts, open, { ...pending, rest: app });
    return { outcome: "unstored", message: messageOf(error) };
  }
  await remember(parts, open, undefined);
  log.info({ ...about, app: app.id, slug: app.slug }, "GitHub App created");
  return { namespace, name };
}

const keysOf = async (url: string, rest: PendingApp["rest"]): Promise<CreatedApp> =>
  rest !== undefined && "privateKey" in rest ? rest : convert(url, rest?.code ?? "");

/** Only GitHub's own refusal is final: the code is valid for an hour. */
async function notFetched(
  parts: FlowParts,
  open: OpenSession,
  pending: PendingApp,
  error: GitHubError,
): Promise<FinishedApp> {
  const isTemporary = error instanceof GitHubUnreachableError || error.status === 403 || error.status === 429;
  await remember(parts, open, isTemporary ? pending : undefined);
  return isTemporary
    ? { outcome: "unavailable", message: "GitHub does not answer. Try again in a moment." }
    : {
        outcome: "code",
        message:
          "GitHub no longer accepts the code for the keys of the App. Generate a private key on the page of the App.",
      };
}

const messageOf = (error: unknown): string =>
  error instanceof NameTakenError ? error.message : pageErrorOf(error).message;

/** Forgets an App whose keys are not stored. */
export const discardApp = (parts: Pick<Parts, "sessions">, open: OpenSession): Promise<unknown> =>
  remember(parts, open, undefined);

/** Keys and codes exist only here, so the write waits for the bus. */
const remember = (
  parts: Pick<Parts, "sessions">,
  open: OpenSession,
  pending: PendingApp | undefined,
): Promise<unknown> =>
  changeSession(
    parts,
    open,
    ({ githubApp, ...session }) =>
      githubApp === pending ? undefined : { ...session, ...(pending && { githubApp: pending }) },
    pending && "endless",
  );
